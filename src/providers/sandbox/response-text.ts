/** Writes the texts of sandbox responses: a digest of the request, a quotation of the client's text, and what the request's limits leave of a text. */

import { sha256 } from '../../formats/json/canonical.ts'
import { countTextTokens } from '../../formats/tokens/count-tokens.ts'
import type { SandboxRequest } from './fields.ts'

export interface TruncatedText {
  text: string
  tokens: number
  finishReason: 'stop' | 'length'
}

export interface TextLimits {
  stopSequences: string[]
  /** The token limit; undefined for no limit. */
  maxTokens: number | undefined
  model: string
}

export function truncateText(whole: string, { stopSequences, maxTokens = Infinity, model }: TextLimits): TruncatedText {
  const ends = stopSequences.map(stop => whole.indexOf(stop)).filter(end => end >= 0)
  const text = whole.slice(0, Math.min(whole.length, ...ends))
  const tokens = countTextTokens(text, model)
  if (tokens <= maxTokens) return { text, tokens, finishReason: 'stop' }
  const beginning = (chars: number) =>
    text
      .slice(0, chars)
      .toWellFormed()
      .replace(/\ufffd$/, '')
  let [fitting, exceeding] = [0, text.length]
  while (exceeding - fitting > 1) {
    const middle = Math.floor((fitting + exceeding) / 2)
    if (countTextTokens(beginning(middle), model) <= maxTokens) fitting = middle
    else exceeding = middle
  }
  const cut = beginning(fitting)
  return { text: cut, tokens: countTextTokens(cut, model), finishReason: 'length' }
}

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
