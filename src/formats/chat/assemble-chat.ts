/** Assembles the chunks of a streamed chat response into the plain response, and judges whether that is complete. */

import type { AssembledStream, StreamAssembler } from '../api-format.ts'
import type { ExpectedOutput } from '../expected-output.ts'
import { asObjects, isEmpty, isJsonObject, isPresent, type JsonObject, readField } from '../json/canonical.ts'
import { ChunkAssembler } from '../sse/chunk-reader.ts'
import type { TextMeter } from '../text-meter.ts'
import { findUsage, mergeUsage } from '../usage/merge-usage.ts'
import { ChoicesAssembler } from './choices-assembler.ts'
import { completenessOf } from './completeness.ts'
import { mergeLatestValue } from './merge-delta.ts'

/** Limit on the data of all events together, which bounds memory. No provider's response is longer. */
const MAX_DATA_CHARS = 64 * 1024 * 1024

/** `body.object` is `chat.completion` or `text_completion`. */
export interface AssembledChat extends AssembledStream {
  sawDone: boolean
}

/**
 * Accepts chat and legacy completion chunks. An event named `error` is an error, even without an `error` key. Unknown fields are merged by their
 * type. A malformed chunk is skipped and makes the response incomplete; `push` never throws.
 */
class ChatAssembler extends ChunkAssembler implements StreamAssembler {
  readonly #onChunk: ((chunk: JsonObject) => void) | undefined
  readonly #choices = new ChoicesAssembler(error => this.reader.addError(error, false))
  readonly #top: JsonObject = {}
  #usage: unknown = null

  constructor(expected: ExpectedOutput, onChunk?: (chunk: JsonObject) => void) {
    super(expected)
    this.#onChunk = onChunk
  }

  get meter(): TextMeter {
    return this.#choices.meter
  }

  discardText(): void {
    this.#choices.discardText()
    this.reader.markIncomplete('too_large')
  }

  push(data: string, event?: string | null): JsonObject | null | undefined {
    if (this.reader.isDone) return undefined
    this.meter.countEvent(data)
    if (this.meter.pushedChars > MAX_DATA_CHARS) this.discardText()
    const chunk = this.reader.read(data, event)
    if (chunk !== null) return this.#add(chunk, event)
    if (event === 'error' && this.reader.isErrorVisible) return { error: this.reader.error }
    return this.reader.isDone ? undefined : null
  }

  #add(chunk: JsonObject, event: string | null | undefined): JsonObject | null | undefined {
    // The event is a named keep-alive.
    if (isPresent(event) && event !== 'message' && !Object.hasOwn(chunk, 'choices')) return null
    if (chunk.object === 'error') {
      this.reader.addError(chunk)
      return { error: chunk }
    }
    this.#onChunk?.(chunk)
    return this.#merge(chunk)
  }

  /** Merges a chunk. Returns the chunk if it was normalized, null if it has no fields, else undefined. */
  #merge(chunk: JsonObject): JsonObject | null | undefined {
    const usage = findUsage(chunk)
    if (usage !== null) this.#usage = mergeUsage(this.#usage, usage)
    let isNormalized = false
    let isEmpty = true
    for (const key in chunk) {
      const value = chunk[key]
      isEmpty = false
      if (key === 'choices') isNormalized = this.#mergeChoices(value)
      else if (key === 'error') this.reader.addError(value)
      // `obfuscation` is random padding against traffic analysis, which belongs only to this chunk.
      else if (key !== 'obfuscation' && key !== 'usage') mergeLatestValue(this.#top, key, value)
    }
    if (isJsonObject(chunk.x_groq)) this.reader.addError(readField(chunk.x_groq, 'error'), false)
    if (isEmpty) return null
    return isNormalized ? chunk : undefined
  }

  #mergeChoices(chunks: unknown): boolean {
    if (asObjects(chunks).some(hasPart)) this.tokens++
    const isNormalized = this.#choices.merge(chunks)
    if (this.#choices.isInconsistent) this.reader.markIncomplete('inconsistent_chunks')
    return isNormalized
  }

  finish(): AssembledChat {
    const { isDone: sawDone, error } = this.reader
    dropGroqUsage(this.#top)
    const body = buildBody(this.#top, this.#choices, this.#usage)
    const judged = sawDone || !this.#choices.isEmpty ? completenessOf(body, this.expected) : 'missing_end'
    // After its text was discarded, a response cannot be judged to have no output.
    const isUncertain = this.meter.isDiscarded && judged === 'no_output'
    const completeness = this.reader.resolveCompleteness(isUncertain ? 'too_large' : judged)
    return { body, usage: this.#usage, sawDone, error, completeness }
  }
}

/**
 * Creates an assembler. By default, a response that ends at a length limit is incomplete. `onChunk` gets each chunk before it is merged.
 */
export function createChatAssembler(
  expected: ExpectedOutput = { clientSetOutputLimit: false },
  onChunk?: (chunk: JsonObject) => void,
): ChatAssembler {
  return new ChatAssembler(expected, onChunk)
}

/** Whether a choice of a chunk contains text, reasoning or a call, and not only a role or a finish reason. */
function hasPart(choice: JsonObject): boolean {
  const { delta, message, text } = choice
  const content = isJsonObject(delta) ? delta : message
  if (!isJsonObject(content)) return typeof text === 'string' && text !== ''
  for (const key in content) {
    if (key !== 'role' && !isEmpty(content[key])) return true
  }
  return false
}

/** Removes the usage from `x_groq`. Groq's plain responses have it only in `usage`. */
function dropGroqUsage({ x_groq: groq }: JsonObject): void {
  if (isJsonObject(groq)) delete groq.usage
}

function buildBody(top: JsonObject, assembled: ChoicesAssembler, usage: unknown): JsonObject {
  const { isLegacy, choices } = assembled.finish()
  const isText = assembled.isEmpty ? top.object === 'text_completion' : isLegacy
  const body: JsonObject = { ...top, object: isText ? 'text_completion' : 'chat.completion', choices }
  if (isPresent(usage)) body.usage = usage
  return body
}
