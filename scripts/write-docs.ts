/** Writes the pages of docs/ that are made from tables in the code. A test fails where a page is stale. */
import { ERRORS } from '../src/errors/catalogue.ts'
import type { CatalogueEntry } from '../src/errors/catalogue-entry.ts'
import { FIELD_RULES } from '../src/providers/anthropic/field-rules.ts'

/** Path from the root to text. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/errors.md': writeErrors,
  'docs/request-fields.md': writeRequestFields,
}

function writeErrors(): string {
  return page([
    '# Errors',
    'Errors carry OpenAI’s envelope, so its clients raise their own typed errors:',
    '```json\n{ "error": { "message": "Invalid API key", "type": "authentication_error", "param": null, "code": "invalid_api_key" } }\n```',
    'Words in braces are filled in. `param` names the field or header at fault. Every response, errors included, has `X-Request-Id`: with it, the operator finds the request in the log.',
    'An upstream’s own error keeps its status, body and `Retry-After`; Anthropic’s are translated into the envelope. A refused operator’s key is the exception: it is told as a 502.',
    '## What the client can change',
    writeErrorTable(status => status < 500),
    '## What the operator, a store or a provider must mend',
    writeErrorTable(status => status >= 500),
    '`x-should-retry: false` keeps OpenAI’s clients from trying again by themselves: a moment later nothing would be different, or the first try may still cost money.',
  ])
}

export function writeErrorTable(belongs: (status: number) => boolean): string {
  const entries: CatalogueEntry[] = Object.values(ERRORS)
  const rows = entries
    .filter(({ status }) => belongs(status))
    .sort((a, b) => a.status - b.status)
    .map(({ status, code, when, message, param, headers = {} }) => {
      const told = message === '{problem}' ? 'says what is wrong and what to change' : asCode(message)
      const also = [
        ...(param === undefined
          ? []
          : [param === '{param}' ? '`param`: the field or header' : `\`param\`: \`${param}\``]),
        ...Object.entries(headers).map(([name, value]) => `\`${name}: ${value}\``),
      ]
      return `| ${status} | \`${code}\` | ${when} | ${told} | ${also.join('<br>')} |`
    })
  return ['| status | code | when | message | also |', '|---|---|---|---|---|', ...rows].join('\n')
}

/** What the providers that speak OpenAI's format do not get as it was sent. */
const COMPATIBLE: Partial<Record<string, string>> = {
  stream_options: 'sent with `include_usage` on; who did not ask for usage does not see it',
}

function writeRequestFields(): string {
  return page([
    '# Request fields',
    'OpenAI, Groq and the aggregator get a body as it was sent. For Anthropic it is translated into the Messages API and back. What cannot be translated is refused with a 400 that names the field, or dropped where that does not change the answer.',
    writeFieldTable(),
  ])
}

export function writeFieldTable(): string {
  const rows = Object.entries(FIELD_RULES).map(([field, { treatment, reason }]) => {
    return `| \`${field}\` | ${COMPATIBLE[field] ?? 'as sent'} | ${treatment} | ${reason} |`
  })
  return [
    '| request field | OpenAI, Groq, aggregator | Anthropic | how, or why |',
    '|---|---|---|---|',
    ...rows,
    '| any other | as sent | as sent | Anthropic takes its own, and names the others in its 400. |',
  ].join('\n')
}

function page(parts: readonly string[]): string {
  const [title, ...rest] = parts
  return `${[title, '<!-- Written by `bun scripts/write-docs.ts`: change the table in the code. -->', ...rest].join('\n\n')}\n`
}

function asCode(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

if (import.meta.main) {
  for (const [path, write] of Object.entries(PAGES)) await Bun.write(new URL(`../${path}`, import.meta.url), write())
}
