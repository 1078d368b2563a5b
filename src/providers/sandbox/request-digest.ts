/** Creates the parts of a sandbox response that depend on the request: a digest of the request, and a quotation of the client's text. */
import { sha256 } from '../../formats/json/canonical.ts'
import type { SandboxRequest } from './fields.ts'

const MAX_QUOTE_CHARS = 160

/** Returns the hex SHA-256 of the request. Streamed and plain requests have the same digest. */
export function digestRequest(endpoint: string, request: SandboxRequest): string {
  const { stream: _, stream_options: __, ...rest } = request
  return sha256(`${endpoint}\n${JSON.stringify(rest)}`)
}

/** Quotes a text. A long text is cut between characters. */
export function quoteText(text: string): string {
  const characters = [...text.slice(0, 2 * MAX_QUOTE_CHARS)]
  const isWhole = characters.length <= MAX_QUOTE_CHARS && text.length <= 2 * MAX_QUOTE_CHARS
  const shown = characters.slice(0, MAX_QUOTE_CHARS).join('').toWellFormed()
  return `“${shown}${isWhole ? '' : '…'}”`
}
