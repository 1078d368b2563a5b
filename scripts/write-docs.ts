/** Writes the pages of docs/ that are generated from tables in the code. A test fails when a page is stale. */
import { ADMIN_ERRORS } from '../src/errors/admin-errors.ts'
import type { CatalogueEntry } from '../src/errors/catalogue-entry.ts'
import { CLIENT_ERRORS } from '../src/errors/client-errors.ts'
import { PATH_ERRORS } from '../src/errors/path-errors.ts'
import { SERVER_ERRORS } from '../src/errors/server-errors.ts'
import { MESSAGE_FIELDS } from '../src/formats/messages/message-fields.ts'
import { RESPONSE_FIELDS } from '../src/formats/responses/response-fields.ts'
import { FIELD_RULES } from '../src/providers/anthropic/field-rules.ts'
import { GROQ_PASSES, OPERATIONS } from '../src/providers/operations.ts'
import { SANDBOX_PASSES } from '../src/providers/sandbox/pass-through.ts'
import { writeClientTable } from '../test/clients/tried-clients.ts'
import { listProblems } from './list-problems.ts'

/** Path from the root to text. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/errors.md': writeErrors,
  'docs/request-fields.md': writeRequestFields,
}

function writeErrors(): string {
  const proxys: Entries = { ...CLIENT_ERRORS, ...PATH_ERRORS, ...SERVER_ERRORS }
  return page([
    '# Errors',
    'Errors carry OpenAI’s envelope, so its clients raise their own typed errors:',
    '```json\n{ "error": { "message": "Invalid API key", "type": "authentication_error", "param": null, "code": "invalid_api_key" } }\n```',
    'Under `/v1/messages` they carry Anthropic’s, with the same status and message:',
    '```json\n{ "type": "error", "error": { "type": "authentication_error", "message": "Invalid API key" }, "request_id": "…" }\n```',
    'Words in braces are filled in. `param` names the field or header at fault. Every response, errors included, has `X-Request-Id`: with it, the operator finds the request in the log.',
    'An upstream’s own error keeps its status, body and `Retry-After`; where the request was translated on its way, the error is translated back. The exception is a refused operator’s key, which is reported as a 502.',
    '## What the client can change',
    writeErrorTable(ofStatus(proxys, status => status < 500)),
    '## What the operator, a store or a provider must fix',
    writeErrorTable(ofStatus(proxys, status => status >= 500)),
    '`x-should-retry: false` keeps OpenAI’s clients from trying again by themselves: trying again soon would not help, or the first attempt may still cost money.',
    '## What the admin API and the dashboard add',
    writeErrorTable(ADMIN_ERRORS),
    '## What an `invalid_request_error` says',
    'A 400 about a field names it in `param`. These are its messages; a few more are put together from a schema or a table, such as those of [request fields](request-fields.md).',
    ...listProblems().flatMap(({ subject, problems }) => [
      `### ${subject}`,
      problems.map(problem => `- ${asCode(problem)}`).join('\n'),
    ]),
  ])
}

type Entries = Readonly<Record<string, CatalogueEntry>>

function ofStatus(entries: Entries, belongs: (status: number) => boolean): Entries {
  return Object.fromEntries(Object.entries(entries).filter(([, { status }]) => belongs(status)))
}

export function writeErrorTable(entries: Entries): string {
  const rows = Object.values(entries)
    .sort((a, b) => a.status - b.status)
    .map(({ status, code, when, message, param, headers = {} }) => {
      const shown = message === '{problem}' ? 'says what is wrong and what to change' : asCode(message)
      const also = [
        ...(param === undefined
          ? []
          : [param === '{param}' ? '`param`: the field or header' : `\`param\`: \`${param}\``]),
        ...Object.entries(headers).map(([name, value]) => `\`${name}: ${value}\``),
      ]
      return `| ${status} | \`${code}\` | ${when} | ${shown} | ${also.join('<br>')} |`
    })
  return ['| status | code | when | message | also |', '|---|---|---|---|---|', ...rows].join('\n')
}

/** Fields that providers with OpenAI's format do not get unchanged. */
const COMPATIBLE: Partial<Record<string, string>> = {
  stream_options: 'sent with `include_usage` on; clients that did not ask for usage do not see it',
}

function writeRequestFields(): string {
  return page([
    '# Request fields',
    'A provider that has the endpoint itself gets the body unchanged. For other providers the request is translated, and the response is translated back. What cannot be translated is refused with a 400 that names the field, or dropped where that does not change the answer. [Clients](clients.md) lists which endpoint is translated for which provider.',
    '## `/v1/chat/completions`',
    writeFieldTable(),
    '## `/v1/responses`, where it is translated',
    'To chat completions first; for Anthropic’s models, the table above then applies.',
    writeTranslatedTable(RESPONSE_FIELDS),
    '## `/v1/messages`, where it is translated',
    writeTranslatedTable(MESSAGE_FIELDS),
  ])
}

/** The fields of chat requests, by provider. */
export function writeFieldTable(): string {
  const rows = Object.entries(FIELD_RULES).map(([field, { treatment, reason }]) => {
    return `| \`${field}\` | ${COMPATIBLE[field] ?? 'as sent'} | ${treatment} | ${reason} |`
  })
  return [
    '| request field | OpenAI, Groq, aggregator | Anthropic | how, or why |',
    '|---|---|---|---|',
    ...rows,
    '| any other | as sent | as sent | Anthropic’s own fields are sent, any other is refused by name. |',
  ].join('\n')
}

/** The pass-through endpoints; part of docs/pass-through.md. */
export function writeOperationTable(): string {
  const rows = Object.entries(OPERATIONS).map(([operation, { takesForms, defaultModel, isCached }]) => {
    const path = `/${operation}`
    return [
      `\`POST /v1${path}\``,
      takesForms ? 'form or JSON' : 'JSON',
      defaultModel === null ? 'needed' : `\`${defaultModel}\``,
      isCached ? 'exactly' : 'no',
      GROQ_PASSES.some(known => path.startsWith(known)) ? 'yes' : '–',
      SANDBOX_PASSES.includes(path) ? 'sandbox' : 'refused',
    ]
  })
  const head = ['endpoint', 'body', 'default model', 'cached', 'with Groq’s key', 'test keys']
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

/** The fields of requests that are translated to chat. */
export function writeTranslatedTable(rules: Readonly<Record<string, { treatment: string; reason: string }>>): string {
  return [
    '| request field | where it is translated | how, or why |',
    '|---|---|---|',
    ...Object.entries(rules).map(([field, { treatment, reason }]) => `| \`${field}\` | ${treatment} | ${reason} |`),
    '| any other | as sent | Providers name fields that they do not know in their 400. |',
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
  process.stdout.write(`${writeOperationTable()}\n\n${writeClientTable()}\n`)
}
