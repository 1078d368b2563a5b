/** What makes a sandbox response: a digest of the request, and a quotation of the client's own text. */
import { sha256 } from '../../formats/json/canonical.ts'
import type { SandboxRequest } from './fields.ts'

const LONGEST_QUOTE_CHARS = 160

/** Hex SHA-256 of the request. Delivery does not count: streamed and plain requests share a digest. */
export function digestRequest(endpoint: string, request: SandboxRequest): string {
  const { stream: _, stream_options: __, ...rest } = request
  return sha256(`${endpoint}\n${JSON.stringify(rest)}`)
}

/** Quotes a text, cut between characters. */
export function quoteText(text: string): string {
  const characters = [...text.slice(0, 2 * LONGEST_QUOTE_CHARS)]
  const isWhole = characters.length <= LONGEST_QUOTE_CHARS && text.length <= 2 * LONGEST_QUOTE_CHARS
  const shown = characters.slice(0, LONGEST_QUOTE_CHARS).join('').toWellFormed()
  return `“${shown}${isWhole ? '' : '…'}”`
}
