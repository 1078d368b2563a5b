/** Prints the tables of the README and of docs: what becomes of each request field, and what is passed on. A test holds both to them. */
import { FIELD_RULES as MESSAGES_RULES } from '../src/messages-format/field-rules.ts'
import { FIELD_RULES } from '../src/providers/anthropic/field-rules.ts'
import { GROQ_PASSES, OPERATIONS } from '../src/providers/operations.ts'
import { SANDBOX_PASSES } from '../src/providers/sandbox/passed/answer-passed.ts'
import { FIELD_RULES as RESPONSES_RULES } from '../src/responses-format/field-rules.ts'

/** What the providers that speak OpenAI's format do not get as it was sent. */
const COMPATIBLE: Partial<Record<string, string>> = {
  stream_options: 'sent with `include_usage` on; who did not ask for usage does not see it',
}

/** Of chat requests, by provider. Markdown, without a closing line feed. */
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

const writeDoorTable = (rules: Record<string, { treatment: string; reason: string }>) =>
  [
    '| request field | where it is translated | how, or why |',
    '|---|---|---|',
    ...Object.entries(rules).map(([field, { treatment, reason }]) => `| \`${field}\` | ${treatment} | ${reason} |`),
    '| any other | as sent | Providers name what they do not know in their 400. |',
  ].join('\n')

/** Of requests for responses, on their way to chat. */
export const writeResponsesTable = () => writeDoorTable(RESPONSES_RULES)

/** Of requests for messages, on their way to chat. */
export const writeMessagesTable = () => writeDoorTable(MESSAGES_RULES)

/** Of what is passed on. */
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
  const head = ['endpoint', 'body', 'model, where none is named', 'cached', 'with Groq’s key', 'test keys']
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

if (import.meta.main) {
  process.stdout.write(
    [writeResponsesTable(), writeMessagesTable(), writeFieldTable(), writeOperationTable()]
      .map(table => `${table}\n\n`)
      .join(''),
  )
}
