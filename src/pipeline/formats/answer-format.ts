/** What the pipeline has to know of an operation's answers: how they stream, when they are whole, what they say they used. */

import type { TokenUsage } from '../../catalogue/cost.ts'
import type { ProxyError } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import type { Completeness } from '../../openai-format/completeness.ts'

export interface AssembledStream {
  /** As the plain answer would have been. Where the stream was cut: what had arrived. */
  body: JsonObject
  /** As upstream reported it; null where it did not. */
  usage: unknown
  completeness: Completeness
}

export interface StreamAssembler {
  /** One event's data, and its name where it has one. Never throws. */
  push(data: string, event?: string | null): void
  /** To be called once. */
  finish(): AssembledStream
}

export interface AnswerFormat {
  /** `request`: its body. */
  createAssembler(request: JsonObject): StreamAssembler
  /** Whether these bytes, one whole event, are the last that clients read. */
  isLastEvent(event: Uint8Array): boolean
  /** The events by which a stream is told to have broken off. */
  writeFailure(error: ProxyError, requestId: string): Uint8Array
  /** A stored body as the stream it would have been. */
  replay(body: JsonObject, includeUsage: boolean): Uint8Array
  /** Whether a plain answer may be stored and shared. */
  judge(answer: JsonObject, request: JsonObject): Completeness
  /** Such answers are never served from a semantic match. */
  callsTools(answer: JsonObject): boolean
  /** An answer's `usage`; null where it has none. */
  readUsage(usage: unknown): TokenUsage | null
  /** What the model wrote, for answers that do not say what they used. */
  textOf(answer: JsonObject): string
}
