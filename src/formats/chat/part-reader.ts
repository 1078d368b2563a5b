/** Reads a chat response part by part, streamed or plain, and defines what a translation into another format needs of any format of a provider. */
import { nowSeconds } from '../../event-loop/clock.ts'
import type { StreamAssembler } from '../api-format.ts'
import type { ExpectedOutput } from '../expected-output.ts'
import { asNumber, asObjects, asString, isJsonObject, type JsonObject, readField } from '../json/canonical.ts'
import type { Completeness, FinishKind } from './completeness.ts'
import { type ContentPart, readContentParts, readReasoningText } from './content-parts.ts'
import { BufferedProviderExtras } from './provider-extras.ts'
import { ToolCallReader, type ToolCallWriter } from './tool-call-reader.ts'
import { parseIndex } from './tool-calls.ts'

export interface ResponseMetadata {
  /** '' when the provider sent none. */
  id: string
  model: string
  createdSeconds: number
}

/** Writes the parts of a response in another format. Called in the order of the response. */
export interface PartWriter extends ToolCallWriter {
  /** Called once, before the first part or at the end of a response without any. */
  begin(metadata: ResponseMetadata): void
  /** Called before the text of a message, if the response has several. Chat has only one. */
  beginMessage?(): void
  addReasoning(text: string): void
  /** `logprobs` belong to the tokens of this text; empty when they were not requested. */
  addText(text: string, logprobs: unknown[]): void
  addRefusal(text: string): void
  /** Adds the sources of the text. Returns false, like `addImage`, when the format does not support them. */
  addAnnotations(annotations: JsonObject[]): boolean
  /** Adds an image. `url` is an address or a data URL. */
  addImage(url: string): boolean
}

/** Reads a provider's response, whole or in pieces, and passes its parts to a writer. */
export interface PartSource {
  /** Provider extras that arrived and were not taken yet. */
  readonly extras: BufferedProviderExtras
  /** Kinds of parts that the target format does not support. */
  readonly omitted: ReadonlySet<string>
  /** Reads a chunk or event and writes its parts. */
  read(chunk: JsonObject): void
  /** Call after the last chunk. */
  end(): void
}

/** The format of a provider's responses that are translated. */
export interface SourceFormat {
  readonly endpoint: 'chat' | 'responses'
  createReader(writer: PartWriter): PartSource
  /** `onChunk` gets each chunk or event before it is added. */
  createAssembler(expected: ExpectedOutput, onChunk: (chunk: JsonObject) => void): StreamAssembler
  /** Whether an event ends the stream. `chunk` is its object; null if it has none. */
  isLast(data: string, chunk: JsonObject | null): boolean
  /** Returns a plain response as chunks for the reader. */
  toChunks(response: JsonObject): JsonObject[]
  completenessOf(response: JsonObject, expected: ExpectedOutput): Completeness
  finishKindOf(response: JsonObject): FinishKind
}

/** Reads only the first choice, because the target formats have no others. */
export class PartReader implements PartSource {
  readonly #writer: PartWriter
  readonly #calls: ToolCallReader
  /** Parts that arrived between the fragments of a call. They are written after the call. */
  readonly #pendingWrites: (() => void)[] = []
  readonly #audio: JsonObject = {}
  #metadata: ResponseMetadata = { id: '', model: '', createdSeconds: nowSeconds() }
  #hasBegun = false
  #hasToolCalls = false
  #hasText = false
  readonly extras = new BufferedProviderExtras()
  readonly omitted = new Set<string>()

  constructor(writer: PartWriter) {
    this.#writer = writer
    this.#calls = new ToolCallReader(writer, this.extras)
  }

  read(chunk: JsonObject): void {
    if (!this.#hasBegun) this.#metadata = mergeMetadata(this.#metadata, chunk)
    const choice = firstChoiceOf(chunk)
    const delta = choice?.delta ?? choice?.message
    if (choice && isJsonObject(delta)) this.#readDelta(delta, readLogprobs(choice.logprobs))
  }

  end(): void {
    this.#begin()
    this.#endCalls()
    if (Object.keys(this.#audio).length > 0) this.#writeAudio(this.#audio)
    if (this.#calls.hasOmittedFragments) this.omitted.add('tool_calls')
  }

  #begin(): PartWriter {
    if (!this.#hasBegun) this.#writer.begin(this.#metadata)
    this.#hasBegun = true
    return this.#writer
  }

  #readDelta(delta: JsonObject, logprobs: unknown[]): void {
    this.extras.addMessage(delta)
    const thought = readReasoningText(delta)
    if (thought !== '') this.#afterCalls(() => this.#writer.addReasoning(thought))
    for (const part of readContentParts(delta.content)) this.#readPart(part, logprobs)
    const { refusal, annotations, images, audio } = delta
    if (typeof refusal === 'string' && refusal !== '') this.#afterCalls(() => this.#writer.addRefusal(refusal))
    for (const part of readContentParts(images)) this.#readPart(part, [])
    this.#readCalls(delta)
    if (isJsonObject(audio)) this.#collectAudio(audio)
    const sources = asObjects(annotations)
    if (sources.length > 0 && !this.#begin().addAnnotations(sources)) this.omitted.add('annotations')
  }

  /** Reads calls. A call that a server also sends in the legacy form counts once. */
  #readCalls(delta: JsonObject): void {
    const calls = asObjects(delta.tool_calls)
    const { function_call: called } = delta
    if (calls.length > 0) this.#hasToolCalls = true
    else if (isJsonObject(called) && !this.#hasToolCalls) calls.push({ index: 0, function: called })
    if (calls.length > 0) this.#begin()
    for (const fragment of calls) this.#calls.read(fragment)
  }

  #readPart(part: ContentPart, logprobs: unknown[]): void {
    if (part.kind === 'text') {
      this.#hasText = true
      this.#afterCalls(() => this.#writer.addText(part.text, logprobs))
    }
    if (part.kind === 'reasoning') this.#afterCalls(() => this.#writer.addReasoning(part.text))
    else if (part.kind === 'audio') this.#collectAudio(part.audio)
    else if (part.kind === 'image')
      this.#afterCalls(() => this.#writer.addImage(part.url) || this.omitted.add('images'))
    else if (part.kind === 'other') this.omitted.add(part.type)
  }

  /** Writes a part after all calls so far. The part waits while a call is incomplete. */
  #afterCalls(write: () => void): void {
    this.#begin()
    this.#pendingWrites.push(write)
    if (!this.#calls.isOpen) this.#endCalls()
  }

  #endCalls(): void {
    this.#calls.end()
    for (const write of this.#pendingWrites.splice(0)) write()
  }

  /** Collects the pieces of audio data and transcript. The audio is written once it is complete. */
  #collectAudio(audio: JsonObject): void {
    this.#begin()
    for (const [field, value] of Object.entries(audio)) {
      const known = this.#audio[field]
      const isPiece =
        (field === 'data' || field === 'transcript') && typeof known === 'string' && typeof value === 'string'
      this.#audio[field] = isPiece ? known + value : value
    }
  }

  /** Writes the transcript as text, unless the response has other text. No format that is translated to supports audio. */
  #writeAudio(audio: JsonObject): void {
    const transcript = asString(audio.transcript)
    if (transcript !== '' && !this.#hasText) this.#writer.addText(transcript, [])
    this.omitted.add('audio')
  }
}

/** The field with the chunks of a plain response that was translated to chat. No provider has a field of this name. */
export const CHUNKS_FIELD = 'model_proxy.chunks'

/** Returns a plain response as one chunk, or the chunks in its CHUNKS_FIELD, which preserve the order of its parts. */
export function toChunks(response: JsonObject): JsonObject[] {
  const { [CHUNKS_FIELD]: chunks } = response
  if (Array.isArray(chunks)) return chunks.filter(isJsonObject)
  const choice = firstChoiceOf(response)
  const message = isJsonObject(choice?.message) ? choice.message : {}
  const numbered = asObjects(message.tool_calls).map((call, index) => ({ ...call, index }))
  return [{ ...response, choices: choice ? [{ ...choice, delta: { ...message, tool_calls: numbered } }] : [] }]
}

export function firstChoiceOf({ choices }: JsonObject): JsonObject | undefined {
  return asObjects(choices).find(({ index }) => (parseIndex(index) ?? 0) === 0)
}

function mergeMetadata(known: ResponseMetadata, chunk: JsonObject): ResponseMetadata {
  return {
    id: known.id || asString(readField(chunk, 'id')),
    model: known.model || asString(readField(chunk, 'model')),
    createdSeconds: asNumber(chunk.created, known.createdSeconds),
  }
}

function readLogprobs(logprobs: unknown): unknown[] {
  return isJsonObject(logprobs) && Array.isArray(logprobs.content) ? logprobs.content : []
}
