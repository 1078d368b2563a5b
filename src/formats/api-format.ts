/** What the pipeline needs to know about an operation's responses: how they stream, when they are complete, what usage they report. */

import type { ProxyError } from '../errors/errors.ts'
import type { Completeness } from './chat/completeness.ts'
import type { ExpectedOutput } from './expected-output.ts'
import type { JsonObject } from './json/canonical.ts'
import type { TextMeter } from './text-meter.ts'
import type { TokenUsage } from './token-usage.ts'

export interface AssembledStream {
  /** The body of the plain response. If the stream was cut: what had arrived. */
  body: JsonObject
  /** As the upstream reported it; null when it did not. */
  usage: unknown
  completeness: Completeness
  /** The error that the stream reported, in the provider's words; null when it reported none. */
  error: unknown
}

export interface StreamAssembler {
  /**
   * Takes one event's data, and its name if it has one. Returns what clients are to get in its place, if they could not read it as it came: an
   * object, or null for nothing. Never throws.
   */
  push(data: string, event?: string | null): JsonObject | null | undefined
  readonly meter: TextMeter
  /** Whether anything to show or to run has come: text, reasoning, a call. Until then a failure can still be answered by another model. */
  readonly hasOutput: boolean
  /** Whether the stream has reported an error. */
  readonly hasFailed: boolean
  /** Drops the text, all but a sample of it: the response will not be whole. How the stream ends, and its usage, are still noted. */
  discardText(): void
  /** May be called once. */
  finish(): AssembledStream
}

export interface ApiFormat {
  /** `request` is the request's body. */
  readExpectedOutput(request: JsonObject): ExpectedOutput
  createAssembler(wanted: ExpectedOutput): StreamAssembler
  /** Whether these bytes, one whole event, are the last that clients read. */
  isLastEvent(event: Uint8Array): boolean
  /** The event that ends a stream whose provider did not send one; null where nothing can stand for it. */
  readonly lastEvent: Uint8Array | null
  /** Gives a plain response the form that clients expect. Returns whether anything changed. */
  normalize?(answer: JsonObject): boolean
  /** Returns the events that report a broken stream. `last` is the last event that was sent, if any was. */
  writeFailure(error: ProxyError, requestId: string, last: Uint8Array | null): Uint8Array
  /** Returns a stored body as the stream it would have been. */
  replay(body: JsonObject, includeUsage: boolean): Uint8Array
  /** Whether a plain response may be stored and shared. */
  completenessOf(answer: JsonObject, wanted: ExpectedOutput): Completeness
  /** Responses that call tools are never served from a semantic match. */
  hasToolCalls(answer: JsonObject): boolean
  /** Whether the answer holds any part of a response: text, reasoning, a call. */
  hasOutput(answer: JsonObject): boolean
  /** Whether the model had finished, however: only then is a usage, which some providers report as they go, that of all. */
  isFinished(answer: JsonObject): boolean
  /** Reads a response's `usage`; null when it has none. */
  readUsage(usage: unknown, answer: JsonObject): TokenUsage | null
  /** All that the model wrote, for responses that report no usage. */
  extractText(answer: JsonObject): string
}
