/** Translates a chat response, streamed or plain, into another format. Reads and judges the chat response, and passes its parts to a writer. */

import type { ProxyError } from '../errors/errors.ts'
import type { AssembledStream } from './api-format.ts'
import { createChatAssembler } from './chat/assemble-chat.ts'
import { type Completeness, completenessOf, isUpstreamFailure } from './chat/completeness.ts'
import { classifyFinishReason, type FinishKind } from './chat/finish-reason.ts'
import { firstChoiceOf, PartReader, type PartWriter, toChunks } from './chat/part-reader.ts'
import type { ExpectedOutput } from './expected-output.ts'
import { asString, isJsonObject, type JsonObject } from './json/canonical.ts'
import { toResponseError } from './response-failure.ts'
import type { SseEvent, TypedEvent } from './sse/sse.ts'

/** Writes a response in another format, as the events of its stream. */
export interface TranslationWriter extends PartWriter {
  /** `usage` is the chat response's; null if it had none. Call after the last part. */
  end(ending: FinishKind, usage: JsonObject | null): void
  /** Ends a response that failed after its first part. */
  fail(error: ProxyError, usage: JsonObject | null): void
  /** Returns the events written since the last call. */
  drainEvents(): TypedEvent[]
}

/** Creates a writer. `reader` returns the reader of the response that it writes. */
export type TranslationWriterFactory = (reader: () => PartReader) => TranslationWriter

/** The chat response that was translated, and its completeness for the client's format. */
export interface SourceResponse extends AssembledStream {
  /** Kinds of parts that the client's format does not support. */
  omitted: readonly string[]
}

export class ChatStreamTranslator {
  readonly #writer: TranslationWriter
  readonly #reader: PartReader
  readonly #assembler: ReturnType<typeof createChatAssembler>
  #source: SourceResponse | null = null
  #isDone = false

  constructor(create: TranslationWriterFactory, expected: ExpectedOutput) {
    this.#writer = create(() => this.#reader)
    this.#reader = new PartReader(this.#writer)
    this.#assembler = createChatAssembler(expected, chunk => this.#reader.read(chunk))
  }

  /** Whether the closing event has been read. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Number of characters of the chat response's text in memory. */
  get bufferedChars(): number {
    return this.#assembler.meter.bufferedChars
  }

  /** Translates one event of the chat stream. Throws a ProxyError for an error in it. */
  push({ data, event }: SseEvent): TypedEvent[] {
    const { meter } = this.#assembler
    this.#isDone = data.trim() === '[DONE]'
    this.#assembler.push(data, event)
    meter.measure()
    if (meter.isTooLargeToStore) this.#assembler.discardText()
    if (this.#assembler.hasFailed) throw toResponseError(this.finishSource())
    return this.#writer.drainEvents()
  }

  /** Returns the last events. Call after the last event. Throws a ProxyError if the response is a failure of its provider. */
  end(): TypedEvent[] {
    this.#isDone = true
    const source = this.finishSource()
    if (isUpstreamFailure(source.completeness)) throw toResponseError(source)
    this.#reader.end()
    this.#writer.end(finishKindOf(source), usageOf(source))
    this.#source = { ...source, ...judgeParts(source.completeness, this.#reader) }
    return this.#writer.drainEvents()
  }

  /** Returns the events that end an incomplete response. */
  fail(error: ProxyError): TypedEvent[] {
    this.#writer.fail(error, usageOf(this.finishSource()))
    return this.#writer.drainEvents()
  }

  /** Returns the chat response as far as it has been read. No event may be pushed afterwards. */
  finishSource(): SourceResponse {
    this.#source ??= { ...this.#assembler.finish(), omitted: [] }
    return this.#source
  }
}

export interface TranslatedPlainResponse {
  /** The events of the response. */
  events: TypedEvent[]
  source: Pick<SourceResponse, 'completeness' | 'omitted'>
}

/** Translates a plain chat response. Throws a ProxyError if the response is a failure of its provider. */
export function translatePlainResponse(
  response: JsonObject,
  create: TranslationWriterFactory,
  expected: ExpectedOutput,
): TranslatedPlainResponse {
  const completeness = completenessOf(response, expected)
  const source = { body: response, usage: response.usage ?? null, completeness }
  if (isUpstreamFailure(completeness)) throw toResponseError(source)
  const writer = create(() => reader)
  const reader: PartReader = new PartReader(writer)
  for (const chunk of toChunks(response)) reader.read(chunk)
  reader.end()
  writer.end(finishKindOf(source), usageOf(source))
  return { events: writer.drainEvents(), source: judgeParts(completeness, reader) }
}

/** Judges a response with an omitted part as incomplete in the client's format. Omitted provider extras are listed but do not matter for that. */
function judgeParts(
  completeness: Completeness,
  { omitted, extras }: PartReader,
): Pick<SourceResponse, 'completeness' | 'omitted'> {
  const isOmitted = omitted.size > 0 && completeness === 'whole'
  const names = new Set([...omitted, ...extras.names].map(headerNameOf))
  return { omitted: [...names], completeness: isOmitted ? 'omitted_parts' : completeness }
}

/** Returns the provider's name of a kind if it fits into a header, else `other`. */
function headerNameOf(kind: string): string {
  return /^[\w.:-]{1,64}$/.test(kind) ? kind : 'other'
}

function finishKindOf({ body, completeness }: Pick<AssembledStream, 'body' | 'completeness'>): FinishKind {
  return completeness === 'content_filter'
    ? 'filtered'
    : classifyFinishReason(asString(firstChoiceOf(body)?.finish_reason))
}

function usageOf({ usage }: Pick<AssembledStream, 'usage'>): JsonObject | null {
  return isJsonObject(usage) ? usage : null
}
