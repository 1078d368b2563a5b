/** Defines how the pipeline handles an operation's responses: how they stream, when they are complete, and what usage they report. */

import type { ProxyError } from '../errors/errors.ts'
import type { Completeness } from './chat/completeness.ts'
import type { ExpectedOutput } from './expected-output.ts'
import type { JsonObject } from './json/canonical.ts'
import type { TextMeter } from './text-meter.ts'
import type { TokenUsage } from './token-usage.ts'

export interface AssembledStream {
  /** The body of the plain response. If the stream was cut, it contains what had arrived. */
  body: JsonObject
  /** The usage in the upstream's format; null when the upstream reported none. */
  usage: unknown
  completeness: Completeness
  /** The error that the stream reported, in the provider's format; null when it reported none. */
  error: unknown
}

export interface StreamAssembler {
  /**
   * Accepts one event's data, and its name if it has one. Returns a replacement if clients could not read the event as it came: an object, or
   * null to send nothing. Never throws.
   */
  push(data: string, event?: string | null): JsonObject | null | undefined
  readonly meter: TextMeter
  /** Whether text, reasoning or a tool call has arrived. Until then, another model can still respond after a failure. */
  readonly hasOutput: boolean
  /** The number of events with text, reasoning, a part of a tool call, or the progress of a hosted tool. */
  readonly tokens: number
  /** Whether the stream has reported an error. */
  readonly hasFailed: boolean
  /** Discards the text except for a sample, so that the response will not be complete. The end of the stream and its usage are still recorded. */
  discardText(): void
  /** May be called once. */
  finish(): AssembledStream
}

export interface ApiFormat {
  /** `request` is the request's body. */
  readExpectedOutput(request: JsonObject): ExpectedOutput
  createAssembler(expected: ExpectedOutput): StreamAssembler
  /** Whether this event is the last that clients read. */
  isLastEvent(event: Uint8Array): boolean
  /** The event that ends a stream whose provider sent no last event; null if the format has no such event. */
  readonly lastEvent: Uint8Array | null
  /** Sent to a client that waits for the first event; a comment by default. */
  readonly keepAlive?: Uint8Array
  /** Changes a plain response in place to the form that clients expect. Returns whether anything changed. */
  normalize?(response: JsonObject): boolean
  /** Returns the events that report a broken stream. `last` is the last event that was sent, if any was. */
  writeFailure(error: ProxyError, requestId: string, last: Uint8Array | null): Uint8Array
  /** Returns a cached response body as an event stream. */
  replay(body: JsonObject, includeUsage: boolean): Uint8Array
  /** Judges whether a plain response is complete, and so may be cached and shared. */
  completenessOf(response: JsonObject, expected: ExpectedOutput): Completeness
  /** Whether the response calls tools. Such responses are never served from a semantic match. */
  hasToolCalls(response: JsonObject): boolean
  /** Whether the response contains text, reasoning or a tool call. */
  hasOutput(response: JsonObject): boolean
  /** Whether the model has finished, for any reason. Some providers report usage repeatedly, and it covers the whole response only then. */
  isFinished(response: JsonObject): boolean
  /** Reads a response's `usage`; null when it has none. */
  readUsage(usage: unknown, response: JsonObject): TokenUsage | null
  /** Returns all text that the model wrote, to estimate the usage of responses that report none. */
  extractText(response: JsonObject): string
}
