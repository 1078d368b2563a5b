/** A provider's event stream as the pipeline reads it: whole events, each assembled on the way. */

import type { ApiFormat, AssembledStream, StreamAssembler } from '../formats/api-format.ts'
import { apiFormatOf } from '../formats/endpoint-formats.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { concatBytes, createEventSplitter } from '../formats/sse/split-events.ts'
import { createSseParser, type SseEvent } from '../formats/sse/sse.ts'
import type { ChatStreamTranslator, SourceResponse } from '../formats/translate-response.ts'
import { type AnalysisInput, analyzeAssembled, type ResponseAnalysis } from './analyze-response.ts'

export interface StreamAnalysis extends ResponseAnalysis {
  /** The response that was judged, as far as it has come. */
  body: JsonObject
}

export interface ChatResponseSource extends Pick<ChatStreamTranslator, 'bufferedChars'> {
  finishSource(): SourceResponse
}

const encoder = new TextEncoder()
const EMPTY = new Uint8Array(0)
/** The first events of OpenAI's Responses API repeat the request's instructions and tools. */
const MAX_HELD_BYTES = 4 * 1024 * 1024

function openReader(body: ReadableStream<Uint8Array>) {
  return body.getReader()
}

export class ResponseStream {
  readonly assembler: StreamAssembler
  readonly #format: ApiFormat
  readonly #reader: ReturnType<typeof openReader>
  readonly #source: ChatResponseSource | null
  readonly #splitter = createEventSplitter()
  readonly #parser: ReturnType<typeof createSseParser>
  /** Events that were read to find the first part. */
  #held: Uint8Array[] = []
  #hasEnded = false
  #hasStray = false
  #isFirst = true
  #isPlain = false
  /** The first event as it came; of a body that is no event stream, all of it. */
  readonly #raw: Uint8Array[] = []
  #assembled: AssembledStream | null = null
  /** What clients get in place of the event that is being read. */
  #rewritten: JsonObject | null | undefined = undefined

  /** `source`: the chat response that the stream is translated from; it alone is judged then. */
  constructor(
    body: ReadableStream<Uint8Array>,
    { endpoint, expected }: AnalysisInput,
    source: ChatResponseSource | null,
  ) {
    this.#format = apiFormatOf(endpoint)
    this.#reader = openReader(body)
    this.#source = source
    this.assembler = this.#format.createAssembler(expected)
    const push = ({ data, event }: SseEvent) => {
      this.#rewritten = this.assembler.push(data, event)
    }
    this.#parser = createSseParser(push, event => {
      this.#hasStray = true
      // An object comes first: one behind an event belongs to the stream.
      this.#isPlain ||= event.event === null && this.#isFirst
      push(event)
    })
  }

  /** Whether the body is no event stream but an object: some providers label it as one. */
  get isPlain(): boolean {
    return this.#isPlain
  }

  /** Reads all of a body that is no event stream. Call in place of `read`, before the first. */
  async readPlain(): Promise<Uint8Array> {
    const parts = this.#raw
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) return concatBytes([...parts, this.#splitter.end()])
      parts.push(...this.#splitter.push(value))
    }
  }

  /**
   * Reads on until something to show or to run has come, which nothing needs to be sent before. Returns false where the stream is over without
   * any. A stream whose beginning is too long to be held goes on.
   */
  async readToFirstPart(): Promise<boolean> {
    for (let heldBytes = 0; heldBytes <= MAX_HELD_BYTES; ) {
      if (this.assembler.hasOutput) return true
      if (this.#isPlain || this.assembler.hasFailed) return false
      const events = await this.#readOn()
      if (events === null) return false
      this.#held.push(...events)
      if (!this.assembler.hasOutput && events.some(this.#format.isLastEvent)) return false
      for (const { length } of events) heldBytes += length
    }
    return true
  }

  /** Returns the next events, as they came; null at the end. Throws a ProxyError when the stream breaks off. */
  async read(): Promise<Uint8Array[] | null> {
    if (this.#held.length === 0) return this.#readOn()
    const held = this.#held
    this.#held = []
    return held
  }

  async #readOn(): Promise<Uint8Array[] | null> {
    if (this.#hasEnded) return null
    const { done, value } = await this.#reader.read()
    this.#hasEnded = done
    const events = done ? [this.#splitter.end()].filter(rest => rest.length > 0) : this.#splitter.push(value)
    const read: Uint8Array[] = []
    for (const event of events) {
      const given = this.#readEvent(event)
      if (given.length > 0) read.push(given)
    }
    return read
  }

  /** Returns the event as clients get it; empty for one that carries nothing. */
  #readEvent(event: Uint8Array): Uint8Array {
    this.#rewritten = undefined
    this.#isFirst = this.#raw.length === 0
    if (this.#isFirst || this.#isPlain) this.#raw.push(event)
    this.#parser.push(event)
    if (this.#hasEnded) this.#parser.end()
    const rewritten = this.#rewritten as JsonObject | null | undefined
    if (rewritten === undefined) return event
    return rewritten === null ? EMPTY : encoder.encode(`data: ${JSON.stringify(rewritten)}\n\n`)
  }

  /** Whether clients learn of a failure by an event of the stream's own. */
  get hasReportedFailure(): boolean {
    return this.assembler.hasFailed && !this.#hasStray
  }

  /** Of memory, for the text that was read. */
  get bufferedChars(): number {
    return this.assembler.meter.bufferedChars + (this.#source?.bufferedChars ?? 0)
  }

  /** The body in the client's format, as far as it has come. Reading goes no further then. */
  finish(): AssembledStream {
    this.#assembled ??= this.assembler.finish()
    return this.#assembled
  }

  /** What was read of the response, in the format that its provider sent. */
  analyze(): StreamAnalysis {
    const assembled = this.finish()
    const source = this.#source?.finishSource()
    if (!source) return { ...analyzeAssembled(this.#format, assembled), body: assembled.body }
    const reading = analyzeAssembled(apiFormatOf('chat'), source)
    // The whole of what the client gets may have been given up for want of memory.
    const isGivenUp = reading.completeness === 'whole' && assembled.completeness === 'too_large'
    const completeness = isGivenUp ? assembled.completeness : reading.completeness
    return { ...reading, completeness, id: assembled.body.id ?? null, omitted: source.omitted, body: source.body }
  }

  /** Reads past the closing event, so that the connection can be reused. */
  async drain(): Promise<void> {
    try {
      while (!(await this.#reader.read()).done);
    } catch {
      // The response is already complete.
    }
  }

  cancel(reason: unknown): void {
    void this.#reader.cancel(reason).catch(() => {})
  }
}
