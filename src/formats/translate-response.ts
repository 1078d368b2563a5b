/** Translates a chat response, streamed or plain, into another format: the chat response is read and judged here, and its parts are written. */

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
  /** Kinds of parts that the client's format has no place for. */
  omitted: readonly string[]
}

export class ChatStreamTranslator {
  readonly #writer: TranslationWriter
  readonly #reader: PartReader
  readonly #assembler: ReturnType<typeof createChatAssembler>
  #source: SourceResponse | null = null
  #isDone = false

  constructor(create: TranslationWriterFactory, wanted: ExpectedOutput) {
    this.#writer = create(() => this.#reader)
    this.#reader = new PartReader(this.#writer)
    this.#assembler = createChatAssembler(wanted, chunk => this.#reader.read(chunk))
  }

  /** Whether the closing event has been read. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Of memory, for the text of the chat response. */
  get bufferedChars(): number {
    return this.#assembler.meter.bufferedChars
  }

  /** Takes one event of the chat stream. Throws a ProxyError for an error in it. */
  push({ data, event }: SseEvent): TypedEvent[] {
    const { meter } = this.#assembler
    this.#isDone = data.trim() === '[DONE]'
    this.#assembler.push(data, event)
    meter.measure()
    if (meter.isTooLargeToStore) this.#assembler.discardText()
    if (this.#assembler.hasFailed) throw toResponseError(this.finishSource())
    return this.#writer.drainEvents()
  }

  /** Call after the last event. Throws a ProxyError for a response that is a failure of its provider. */
  end(): TypedEvent[] {
    this.#isDone = true
    const source = this.finishSource()
    if (isUpstreamFailure(source.completeness)) throw toResponseError(source)
    this.#reader.end()
    this.#writer.end(endingOf(source), usageOf(source))
    this.#source = { ...source, ...judgeParts(source.completeness, this.#reader) }
    return this.#writer.drainEvents()
  }

  /** The events that end a response which broke off. */
  fail(error: ProxyError): TypedEvent[] {
    this.#writer.fail(error, usageOf(this.finishSource()))
    return this.#writer.drainEvents()
  }

  /** The chat response as far as it has been read. Reading goes no further then. */
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

/** Translates a plain chat response. Throws a ProxyError for a failure of its provider. */
export function translatePlainResponse(
  answer: JsonObject,
  create: TranslationWriterFactory,
  wanted: ExpectedOutput,
): TranslatedPlainResponse {
  const completeness = completenessOf(answer, wanted)
  const source = { body: answer, usage: answer.usage ?? null, completeness }
  if (isUpstreamFailure(completeness)) throw toResponseError(source)
  const writer = create(() => reader)
  const reader: PartReader = new PartReader(writer)
  for (const chunk of toChunks(answer)) reader.read(chunk)
  reader.end()
  writer.end(endingOf(source), usageOf(source))
  return { events: writer.drainEvents(), source: judgeParts(completeness, reader) }
}

/** A response of which a part was omitted is not complete in the client's format. Its provider's extras are no part, but are named, too. */
function judgeParts(
  completeness: Completeness,
  { omitted, extras }: PartReader,
): Pick<SourceResponse, 'completeness' | 'omitted'> {
  const isOmitted = omitted.size > 0 && completeness === 'whole'
  const names = new Set([...omitted, ...extras.names].map(nameKind))
  return { omitted: [...names], completeness: isOmitted ? 'omitted_parts' : completeness }
}

/** A provider's own name of a kind, as far as a header can hold it. */
function nameKind(kind: string): string {
  return /^[\w.:-]{1,64}$/.test(kind) ? kind : 'other'
}

function endingOf({ body, completeness }: Pick<AssembledStream, 'body' | 'completeness'>): FinishKind {
  return completeness === 'content_filter'
    ? 'filtered'
    : classifyFinishReason(asString(firstChoiceOf(body)?.finish_reason))
}

function usageOf({ usage }: Pick<AssembledStream, 'usage'>): JsonObject | null {
  return isJsonObject(usage) ? usage : null
}
