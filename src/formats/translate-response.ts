/** Translates a provider's response, streamed or plain, into another format. Reads and judges it in its own format, and passes its parts to a writer. */

import type { ProxyError } from '../errors/errors.ts'
import type { AssembledStream, StreamAssembler } from './api-format.ts'
import type { FinishKind } from './chat/completeness.ts'
import { type Completeness, isUpstreamFailure } from './chat/completeness.ts'
import type { PartSource, PartWriter, SourceFormat } from './chat/part-reader.ts'
import { toResponseError } from './errors/client-error.ts'
import type { ExpectedOutput } from './expected-output.ts'
import { isJsonObject, type JsonObject } from './json/canonical.ts'
import type { SseEvent } from './sse/sse.ts'

/** Writes a response in another format, as the events of its stream. */
export interface TranslationWriter extends PartWriter {
  /** `usage` is the provider's; null if it had none. Call after the last part. */
  end(ending: FinishKind, usage: JsonObject | null): void
  /** Ends a response that failed after its first part. */
  fail(error: ProxyError, usage: JsonObject | null): void
  /** Returns the events written since the last call. */
  drainEvents(): JsonObject[]
}

/** Creates a writer. `reader` returns the reader of the response that it writes. */
export type TranslationWriterFactory = (reader: () => PartSource) => TranslationWriter

/** The provider's response that was translated, and its completeness for the client's format. */
export interface SourceResponse extends AssembledStream {
  /** Kinds of parts that the client's format does not support. */
  omitted: readonly string[]
}

export class StreamTranslator {
  readonly #format: SourceFormat
  readonly #writer: TranslationWriter
  readonly #reader: PartSource
  readonly #assembler: StreamAssembler
  #source: SourceResponse | null = null
  #isDone = false
  #chunk: JsonObject | null = null

  constructor(format: SourceFormat, create: TranslationWriterFactory, expected: ExpectedOutput) {
    this.#format = format
    this.#writer = create(() => this.#reader)
    this.#reader = format.createReader(this.#writer)
    this.#assembler = format.createAssembler(expected, chunk => {
      this.#chunk = chunk
      this.#reader.read(chunk)
    })
  }

  /** The endpoint in whose format the provider responds. */
  get sourceEndpoint(): SourceFormat['endpoint'] {
    return this.#format.endpoint
  }

  /** Whether the closing event has been read. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Number of characters of the provider's response in memory. */
  get bufferedChars(): number {
    return this.#assembler.meter.bufferedChars
  }

  /** Translates one event of the provider's stream. Throws a ProxyError for an error in it. */
  push({ data, event }: SseEvent): JsonObject[] {
    const { meter } = this.#assembler
    this.#chunk = null
    this.#assembler.push(data, event)
    this.#isDone = this.#format.isLast(data, this.#chunk)
    meter.measure()
    if (meter.isTooLargeToStore) this.#assembler.discardText()
    if (this.#assembler.hasFailed) throw toResponseError(this.finishSource())
    return this.#writer.drainEvents()
  }

  /** Returns the last events. Call after the last event. Throws a ProxyError if the response is a failure of its provider. */
  end(): JsonObject[] {
    this.#isDone = true
    const source = this.finishSource()
    if (isUpstreamFailure(source.completeness)) throw toResponseError(source)
    this.#reader.end()
    this.#writer.end(finishKindOf(this.#format, source), usageOf(source))
    this.#source = { ...source, ...judgeParts(source.completeness, this.#reader) }
    return this.#writer.drainEvents()
  }

  /** Returns the events that end an incomplete response. */
  fail(error: ProxyError): JsonObject[] {
    this.#writer.fail(error, usageOf(this.finishSource()))
    return this.#writer.drainEvents()
  }

  /** Returns the provider's response as far as it has been read. No event may be pushed afterwards. */
  finishSource(): SourceResponse {
    this.#source ??= { ...this.#assembler.finish(), omitted: [] }
    return this.#source
  }
}

export interface TranslatedPlainResponse {
  /** The events of the response. */
  events: JsonObject[]
  source: Pick<SourceResponse, 'completeness' | 'omitted'>
}

/** Translates a plain response. Throws a ProxyError if the response is a failure of its provider. */
export function translatePlainResponse(
  format: SourceFormat,
  response: JsonObject,
  create: TranslationWriterFactory,
  expected: ExpectedOutput,
): TranslatedPlainResponse {
  const completeness = format.completenessOf(response, expected)
  const source = { body: response, usage: response.usage ?? null, completeness }
  if (isUpstreamFailure(completeness)) throw toResponseError(source)
  const writer = create(() => reader)
  const reader: PartSource = format.createReader(writer)
  for (const chunk of format.toChunks(response)) reader.read(chunk)
  reader.end()
  writer.end(finishKindOf(format, source), usageOf(source))
  return { events: writer.drainEvents(), source: judgeParts(completeness, reader) }
}

/** Judges a response with an omitted part as incomplete in the client's format. Omitted provider extras are listed but do not matter for that. */
function judgeParts(
  completeness: Completeness,
  { omitted, extras }: PartSource,
): Pick<SourceResponse, 'completeness' | 'omitted'> {
  const isOmitted = omitted.size > 0 && completeness === 'whole'
  const names = new Set([...omitted, ...extras.names].map(headerNameOf))
  return { omitted: [...names], completeness: isOmitted ? 'omitted_parts' : completeness }
}

/** Returns the provider's name of a kind if it fits into a header, else `other`. */
function headerNameOf(kind: string): string {
  return /^[\w.:-]{1,64}$/.test(kind) ? kind : 'other'
}

function finishKindOf(
  format: SourceFormat,
  { body, completeness }: Pick<AssembledStream, 'body' | 'completeness'>,
): FinishKind {
  return completeness === 'content_filter' ? 'filtered' : format.finishKindOf(body)
}

function usageOf({ usage }: Pick<AssembledStream, 'usage'>): JsonObject | null {
  return isJsonObject(usage) ? usage : null
}
