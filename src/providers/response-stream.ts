/** Reads a provider's event stream for the pipeline: it returns whole events, and assembles the response from them. */

import type { ApiFormat, AssembledStream, StreamAssembler } from '../formats/api-format.ts'
import { apiFormatOf } from '../formats/endpoint-formats.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { concatBytes, createEventSplitter } from '../formats/sse/split-events.ts'
import { createSseParser, type SseEvent } from '../formats/sse/sse.ts'
import type { SourceResponse, StreamTranslator } from '../formats/translate-response.ts'
import { type AnalysisInput, analyzeAssembled, type ResponseAnalysis } from './analyze-response.ts'
import type { BreakerOutcome } from './circuit-breaker.ts'
import { type ByteReader, openReader, readToEnd } from './read-bytes.ts'
import type { TokenTimer } from './token-timer.ts'
import { UpstreamFailure } from './upstream-failure.ts'

export interface StreamAnalysis extends ResponseAnalysis {
  /** The response that was analyzed, as far as it has arrived. */
  body: JsonObject
}

/** The provider's response from which a stream is translated. */
export interface StreamSource extends Pick<StreamTranslator, 'bufferedChars' | 'sourceEndpoint'> {
  finishSource(): SourceResponse
}

const encoder = new TextEncoder()
const EMPTY = new Uint8Array(0)
/** The first events of OpenAI's Responses API repeat the request's instructions and tools. */
const MAX_HELD_BYTES = 4 * 1024 * 1024

export class ResponseStream {
  readonly assembler: StreamAssembler
  readonly #format: ApiFormat
  readonly #reader: ByteReader
  readonly #source: StreamSource | null
  readonly #timer: TokenTimer | null
  readonly #splitter = createEventSplitter()
  readonly #parser: ReturnType<typeof createSseParser>
  /** Events that `readToFirstPart` read, and `read` has not returned yet. */
  #held: Uint8Array[] = []
  #hasEnded = false
  #hasStray = false
  #isFirst = true
  #isPlain = false
  /** The first event as it was received; the whole body when it is not an event stream. */
  readonly #raw: Uint8Array[] = []
  #assembled: AssembledStream | null = null
  /** Called with the outcome when the stream has ended, at least once. */
  onEnd: (outcome: BreakerOutcome) => void = () => {}
  /** The event that clients get in place of the one that is being read: null for none, undefined for the event as it is. */
  #rewritten: JsonObject | null | undefined = undefined

  /**
   * `source` is the response that the stream is translated from. When it is set, it is analyzed in place of the stream. `timer` limits the time
   * between tokens.
   */
  constructor(
    body: ReadableStream<Uint8Array>,
    { endpoint, expected }: AnalysisInput,
    source: StreamSource | null,
    timer: TokenTimer | null = null,
  ) {
    this.#format = apiFormatOf(endpoint)
    this.#reader = openReader(body)
    this.#source = source
    this.#timer = timer
    this.assembler = this.#format.createAssembler(expected)
    const push = ({ data, event }: SseEvent) => {
      this.#rewritten = this.assembler.push(data, event)
    }
    this.#parser = createSseParser(push, event => {
      this.#hasStray = true
      // A body that is a plain object begins with it. An object after an event belongs to the stream.
      this.#isPlain ||= event.event === null && this.#isFirst
      push(event)
    })
  }

  /** Whether the body is a plain object. Some providers label such a body as an event stream. */
  get isPlain(): boolean {
    return this.#isPlain
  }

  /** Reads a body that is not an event stream to its end. Call it instead of `read`. */
  async readPlain(): Promise<Uint8Array> {
    this.#timer?.close()
    const parts = this.#raw
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) return concatBytes([...parts, this.#splitter.end()])
      parts.push(...this.#splitter.push(value))
    }
  }

  /**
   * Reads and holds events until text to show or a tool call to run has arrived. Returns false when the stream ends without any. Returns true
   * early when the held events exceed MAX_HELD_BYTES.
   */
  async readToFirstPart(): Promise<boolean> {
    for (let heldBytes = 0; heldBytes <= MAX_HELD_BYTES; ) {
      if (this.assembler.hasOutput) return true
      if (this.#isPlain || this.assembler.hasFailed) return false
      const events = await this.#readNext()
      if (events === null) return false
      this.#held.push(...events)
      if (!this.assembler.hasOutput && events.some(this.#format.isLastEvent)) return false
      for (const { length } of events) heldBytes += length
    }
    return true
  }

  /** Returns the next events for the client; null at the end. Throws a ProxyError when the stream breaks off. */
  async read(): Promise<Uint8Array[] | null> {
    if (this.#held.length === 0) return this.#readNext()
    const held = this.#held
    this.#held = []
    return held
  }

  async #readNext(): Promise<Uint8Array[] | null> {
    if (this.#hasEnded) return null
    const { tokens } = this.assembler
    const reading = this.#reader.read()
    const { done, value } = await (this.#timer?.wait(reading) ?? reading).catch(error => {
      this.onEnd(error instanceof UpstreamFailure ? 'failed' : 'unknown')
      throw error
    })
    this.#hasEnded = done
    if (done) this.#timer?.close()
    const events = done ? [this.#splitter.end()].filter(rest => rest.length > 0) : this.#splitter.push(value)
    const forClient: Uint8Array[] = []
    for (const event of events) {
      const bytes = this.#readEvent(event)
      if (bytes.length > 0) forClient.push(bytes)
    }
    if (this.assembler.tokens > tokens) this.#timer?.recordToken()
    return forClient
  }

  /** Returns the event as clients get it; empty when it is omitted. */
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

  /** Whether an event of the stream itself reports the failure to the client. */
  get hasReportedFailure(): boolean {
    return this.assembler.hasFailed && !this.#hasStray
  }

  /** Whether the provider exceeded a time limit. A translated stream then ends with an event of this failure. */
  get hasTimedOut(): boolean {
    return this.#timer?.hasExpired ?? false
  }

  /** The characters of the response that are held in memory. */
  get bufferedChars(): number {
    return this.assembler.meter.bufferedChars + (this.#source?.bufferedChars ?? 0)
  }

  /** Returns the body in the client's format, as far as it has arrived. Do not read further afterwards. */
  finish(): AssembledStream {
    this.#assembled ??= this.assembler.finish()
    return this.#assembled
  }

  /** Analyzes the response as far as it was read, in the format that its provider sent. */
  analyze(): StreamAnalysis {
    const analysis = this.#analyze()
    // A stream that was abandoned is neither.
    const isCut = this.#hasEnded && !analysis.isFinished
    if (analysis.failure || isCut) this.onEnd('failed')
    else this.onEnd(analysis.isFinished ? 'well' : 'unknown')
    return analysis
  }

  #analyze(): StreamAnalysis {
    const assembled = this.finish()
    const source = this.#source?.finishSource()
    if (!this.#source || !source) return { ...analyzeAssembled(this.#format, assembled), body: assembled.body }
    const analysis = analyzeAssembled(apiFormatOf(this.#source.sourceEndpoint), source)
    // The translated response may be too large to assemble although its source was complete.
    const isTooLarge = analysis.completeness === 'whole' && assembled.completeness === 'too_large'
    const completeness = isTooLarge ? assembled.completeness : analysis.completeness
    return { ...analysis, completeness, id: assembled.body.id ?? null, omitted: source.omitted, body: source.body }
  }

  /** Reads the stream to its end after the last event, so that the connection can be reused. */
  async drain(): Promise<void> {
    this.#timer?.close()
    await readToEnd(this.#reader)
  }

  cancel(reason: unknown): void {
    this.onEnd('unknown')
    this.#timer?.close()
    void this.#reader.cancel(reason).catch(() => {})
  }
}
