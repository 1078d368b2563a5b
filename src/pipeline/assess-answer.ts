/** What the pipeline needs to know about a plain response: whether it may be stored, whether it calls tools, and its usage. */
import { isUtf8 } from 'node:buffer'
import type { Completeness } from '../formats/chat/completeness.ts'
import { formatOf } from '../formats/format-of.ts'
import { parseJsonObject } from '../formats/json/canonical.ts'
import type { TokenUsage } from '../formats/token-usage.ts'
import type { Wanted } from '../formats/wanted.ts'
import type { Endpoint } from '../providers/upstream.ts'

export interface AnswerInput {
  endpoint: Endpoint
  wanted: Wanted
}

export interface ReadAnswer {
  bytes: Uint8Array
  /** Null when the bytes are no JSON object; the other fields then mean nothing. */
  completeness: Completeness | null
  callsTools: boolean
  /** As reported; null when it was not. */
  usage: TokenUsage | null
  /** Null for an error in its place. */
  id: unknown
  /** The model that it names. */
  model: unknown
  /** The model's text, when its tokens have to be counted. */
  text: string
}

export function assessAnswer(bytes: Uint8Array, { endpoint, wanted }: AnswerInput): ReadAnswer {
  const answer = parseJsonObject(new TextDecoder().decode(bytes))
  if (!answer) return { bytes, completeness: null, callsTools: false, usage: null, id: null, model: null, text: '' }
  const format = formatOf(endpoint)
  const usage = format.readUsage(answer.usage, answer)
  return {
    bytes,
    // Entries are stored as text, so they must be valid UTF-8.
    completeness: isUtf8(bytes) ? format.completenessOf(answer, wanted) : 'not_an_answer',
    callsTools: format.callsTools(answer),
    usage,
    id: answer.id ?? null,
    model: answer.model,
    text: usage ? '' : format.textOf(answer),
  }
}
