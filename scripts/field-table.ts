/** Prints the README's table of request fields: what becomes of each, by provider. A test holds the README to it. */
import { FIELD_RULES } from '../src/providers/anthropic/field-rules.ts'

/** What the providers that speak OpenAI's format do not get as it was sent. */
const COMPATIBLE: Partial<Record<string, string>> = {
  stream_options: 'sent with `include_usage` on; who did not ask for usage does not see it',
}

/** Markdown, without a closing line feed. */
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

if (import.meta.main) process.stdout.write(`${writeFieldTable()}\n`)
