/** Translates a chat response, streamed or plain, into another format: the chat response is read and judged here, and its parts are written. */

import type { ProxyError } from '../errors/errors.ts'
import type { AssembledStream } from './answer-format.ts'
import { createAssembler } from './chat/assemble-chat.ts'
import { type Completeness, completenessOf, isUpstreamFailure } from './chat/completeness.ts'
import { type Ending, readEnding } from './chat/finish-reason.ts'
import { asChunks, firstChoice, PartReader, type PartWriter } from './chat/read-parts.ts'
import { isJsonObject, type JsonObject, textOf } from './json/canonical.ts'
import { describeFailure } from './response-failure.ts'
import type { SseEvent, TypedEvent } from './sse/sse.ts'
import type { Wanted } from './wanted.ts'

/** Writes a response in another format, as the events of its stream. */
export interface FormatWriter extends PartWriter {
  /** `usage` is the chat response's; null if it had none. Call after the last part. */
  end(ending: Ending, usage: JsonObject | null): void
  /** Ends a response that failed after its first part. */
  breakOff(error: ProxyError, usage: JsonObject | null): void
  /** Returns the events written since the last call. */
  take(): TypedEvent[]
}

/** Creates a writer. `reader` returns the reader of the response that it writes. */
export type CreateWriter = (reader: () => PartReader) => FormatWriter

/** The chat response that was translated, and its completeness for the client's format. */
export interface SourceReading extends AssembledStream {
  /** Kinds of parts that the client's format has no place for. */
  omitted: readonly string[]
}

export class StreamTranslation {
  readonly #writer: FormatWriter
  readonly #reader: PartReader
  readonly #assembler: ReturnType<typeof createAssembler>
  #source: SourceReading | null = null
  #isDone = false

  constructor(create: CreateWriter, wanted: Wanted) {
    this.#writer = create(() => this.#reader)
    this.#reader = new PartReader(this.#writer)
    this.#assembler = createAssembler(wanted, chunk => this.#reader.read(chunk))
  }

  /** Whether the closing event has been read. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Of memory, for the text of the chat response. */
  get keptChars(): number {
    return this.#assembler.meter.keptChars
  }

  /** Takes one event of the chat stream. Throws a ProxyError for an error in it. */
  push({ data, event }: SseEvent): TypedEvent[] {
    const { meter } = this.#assembler
    this.#isDone = data.trim() === '[DONE]'
    this.#assembler.push(data, event)
    meter.measure()
    if (meter.isUnstorable) this.#assembler.giveUp()
    if (this.#assembler.hasFailed) throw describeFailure(this.read())
    return this.#writer.take()
  }

  /** Call after the last event. Throws a ProxyError for a response that is a failure of its provider. */
  end(): TypedEvent[] {
    this.#isDone = true
    const source = this.read()
    if (isUpstreamFailure(source.completeness)) throw describeFailure(source)
    this.#reader.end()
    this.#writer.end(endingOf(source), usageOf(source))
    this.#source = { ...source, ...judgeParts(source.completeness, this.#reader) }
    return this.#writer.take()
  }

  /** The events that end a response which broke off. */
  breakOff(error: ProxyError): TypedEvent[] {
    this.#writer.breakOff(error, usageOf(this.read()))
    return this.#writer.take()
  }

  /** The chat response as far as it has been read. Reading goes no further then. */
  read(): SourceReading {
    this.#source ??= { ...this.#assembler.finish(), omitted: [] }
    return this.#source
  }
}

export interface TranslatedPlain {
  /** The events of the response. */
  events: TypedEvent[]
  source: Pick<SourceReading, 'completeness' | 'omitted'>
}

/** Translates a plain chat response. Throws a ProxyError for a failure of its provider. */
export function translatePlainResponse(answer: JsonObject, create: CreateWriter, wanted: Wanted): TranslatedPlain {
  const completeness = completenessOf(answer, wanted)
  const source = { body: answer, usage: answer.usage ?? null, completeness }
  if (isUpstreamFailure(completeness)) throw describeFailure(source)
  const writer = create(() => reader)
  const reader: PartReader = new PartReader(writer)
  for (const chunk of asChunks(answer)) reader.read(chunk)
  reader.end()
  writer.end(endingOf(source), usageOf(source))
  return { events: writer.take(), source: judgeParts(completeness, reader) }
}

/** A response of which a part was omitted is not complete in the client's format. Its provider's extras are no part, but are named, too. */
function judgeParts(
  completeness: Completeness,
  { omitted, carried }: PartReader,
): Pick<SourceReading, 'completeness' | 'omitted'> {
  const isOmitted = omitted.size > 0 && completeness === 'whole'
  const names = new Set([...omitted, ...carried.names].map(nameKind))
  return { omitted: [...names], completeness: isOmitted ? 'omitted_parts' : completeness }
}

/** A provider's own name of a kind, as far as a header can hold it. */
function nameKind(kind: string): string {
  return /^[\w.:-]{1,64}$/.test(kind) ? kind : 'other'
}

function endingOf({ body, completeness }: Pick<AssembledStream, 'body' | 'completeness'>): Ending {
  return completeness === 'content_filter' ? 'filtered' : readEnding(textOf(firstChoice(body)?.finish_reason))
}

function usageOf({ usage }: Pick<AssembledStream, 'usage'>): JsonObject | null {
  return isJsonObject(usage) ? usage : null
}
