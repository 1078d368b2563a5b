/** What the pipeline has to know of a plain answer: whether it may be stored and for whom, and what it used. */
import { isUtf8 } from 'node:buffer'
import type { TokenUsage } from '../catalogue/cost.ts'
import { type JsonObject, parseJsonObject } from '../json/json-object.ts'
import type { Completeness } from '../openai-format/completeness.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { formatOf } from './formats/format-of.ts'

export interface AnswerInput {
  endpoint: Endpoint
  /** The request's fields, as far as they say what a whole answer is: numbers, names and switches. */
  request: JsonObject
}

export interface ReadAnswer {
  bytes: Uint8Array
  /** Null where the bytes are no JSON object: then the rest says nothing. */
  completeness: Completeness | null
  callsTools: boolean
  /** As reported; null where it was not. */
  usage: TokenUsage | null
  /** What the model wrote, where that has to be counted. */
  text: string
}

export function judgeAnswer(bytes: Uint8Array, { endpoint, request }: AnswerInput): ReadAnswer {
  const answer = parseJsonObject(new TextDecoder().decode(bytes))
  if (!answer) return { bytes, completeness: null, callsTools: false, usage: null, text: '' }
  const format = formatOf(endpoint)
  const usage = format.readUsage(answer.usage)
  return {
    bytes,
    // What is stored is stored as text.
    completeness: isUtf8(bytes) ? format.judge(answer, request) : 'not_an_answer',
    callsTools: format.callsTools(answer),
    usage,
    text: usage ? '' : format.textOf(answer),
  }
}
