/** Assembles the choices of a streamed chat response. After `discardText`, only a sample of their text and their finish reasons remain. */
import { asNumber, asObjects, isJsonObject, type JsonObject, readField } from '../json/canonical.ts'
import { TextMeter, textLengthOf } from '../text-meter.ts'
import { mergeDelta, mergeLatestValue, mergeLogprobs } from './merge-delta.ts'
import { hasParsedArguments, parseIndex } from './tool-calls.ts'

export class ChoicesAssembler {
  readonly meter = new TextMeter(() => textLengthOf(this.#choices))
  readonly #onError: (error: unknown) => void
  #choices: AssembledChoice[] = []
  /** Whether a field changed its type within the stream. */
  isInconsistent = false

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Merges the choices of a chunk. Returns whether tool calls were normalized to the index and form that clients expect. */
  merge(chunks: unknown): boolean {
    if (!Array.isArray(chunks)) return false
    let isNormalized = false
    for (let position = 0; position < chunks.length; position++) {
      const chunk: unknown = chunks[position]
      if (!isJsonObject(chunk)) continue
      const choice = this.#find(parseIndex(chunk.index) ?? position)
      const calls = readCalls(chunk)
      if (this.meter.isDiscarded) this.#mergeDiscarded(choice, chunk)
      else if (!mergeChoiceChunk(choice, chunk)) this.isInconsistent = true
      isNormalized ||= calls !== null && !calls.isAsExpected()
      this.#onError(readField(chunk, 'error'))
    }
    return isNormalized
  }

  discardText(): void {
    if (this.meter.isDiscarded) return
    this.meter.isDiscarded = true
    this.#choices = this.#choices.map(({ index, message, fields, isLegacy }) => {
      const text = message ? message.content : fields.text
      const content = this.meter.sampleText(typeof text === 'string' ? text : '')
      // The rest of the message, such as tool calls, counts as discarded.
      this.meter.countDiscarded({ ...message, content: undefined })
      const { finish_reason } = fields
      return {
        ...createChoice(index),
        isLegacy,
        ...(isLegacy
          ? { fields: { text: content, finish_reason } }
          : { message: { content }, fields: { finish_reason } }),
      }
    })
  }

  /** Returns the choices in the form of a plain response. */
  finish(): { isLegacy: boolean; choices: JsonObject[] } {
    const ordered = this.#choices.toSorted((a, b) => a.index - b.index)
    return {
      isLegacy: ordered.length > 0 && ordered.every(choice => choice.isLegacy),
      choices: ordered.map(finishChoice),
    }
  }

  get isEmpty(): boolean {
    return this.#choices.length === 0
  }

  #find(index: number): AssembledChoice {
    for (const choice of this.#choices) if (choice.index === index) return choice
    const added = createChoice(index)
    this.#choices.push(added)
    return added
  }

  #mergeDiscarded({ fields }: AssembledChoice, { delta, text, finish_reason }: JsonObject): void {
    this.meter.countDiscarded(isJsonObject(delta) ? delta : text)
    if (typeof finish_reason === 'string') fields.finish_reason = finish_reason
    if (finish_reason === 'error') this.#onError(finish_reason)
  }
}

/** Records the calls of a chunk as they arrived; null if it has none. `isAsExpected` tells whether they needed no normalization. */
function readCalls({ delta }: JsonObject): { isAsExpected(): boolean } | null {
  const fragments = isJsonObject(delta) ? asObjects(delta.tool_calls) : []
  if (fragments.length === 0) return null
  const indexes = fragments.map(({ index }) => index)
  const isText = !fragments.some(fragment => isJsonObject(fragment.function) && hasParsedArguments(fragment.function))
  return { isAsExpected: () => isText && fragments.every(({ index }, at) => index === indexes[at]) }
}

interface AssembledChoice {
  index: number
  /** The chat message so far; null in legacy completions, which have their text in `fields`. */
  message: JsonObject | null
  /** All other fields of the choice, such as `finish_reason` and `logprobs`. */
  fields: JsonObject
  isLegacy: boolean
}

function createChoice(index: number): AssembledChoice {
  return { index, message: null, fields: {}, isLegacy: false }
}

/** Merges a chunk's choice. Returns false when a field changes its type within the stream. */
function mergeChoiceChunk(choice: AssembledChoice, chunk: JsonObject): boolean {
  if (typeof chunk.text === 'string' && !isJsonObject(chunk.delta)) choice.isLegacy = true
  return choice.isLegacy ? mergeLegacyChunk(choice, chunk) : mergeChatChunk(choice, chunk)
}

function mergeChatChunk(choice: AssembledChoice, chunk: JsonObject): boolean {
  let isConsistent = true
  for (const key in chunk) {
    const value = chunk[key]
    if (key === 'delta') isConsistent = mergeMessage(choice, value)
    else if (key === 'logprobs') mergeLogprobs(choice.fields, value)
    else if (key === 'message') replaceMessage(choice, chunk)
    else if (key !== 'index') mergeLatestValue(choice.fields, key, value)
  }
  return isConsistent
}

function mergeMessage(choice: AssembledChoice, delta: unknown): boolean {
  if (!isJsonObject(delta)) return true
  choice.message ??= {}
  return mergeDelta(choice.message, delta)
}

/** Sets a message that a server streams whole. If the chunk also has a delta, the message repeats the text so far and is ignored. */
function replaceMessage(choice: AssembledChoice, chunk: JsonObject): void {
  const message = readField(chunk, 'message')
  if (isJsonObject(message) && !isJsonObject(readField(chunk, 'delta'))) choice.message = message
}

/** In legacy completions the choice itself is the delta, except for its log probabilities. */
function mergeLegacyChunk(choice: AssembledChoice, chunk: JsonObject): boolean {
  const { index: _index, logprobs, ...delta } = chunk
  if (logprobs !== undefined) mergeLogprobs(choice.fields, logprobs)
  return mergeDelta(choice.fields, delta)
}

/** Returns the choice in the form of a plain response. */
function finishChoice(choice: AssembledChoice): JsonObject {
  if (choice.message === null) return { index: choice.index, ...choice.fields }
  const finished: JsonObject = { index: choice.index, message: choice.message, ...choice.fields }
  finishToolCalls(choice.message, Object.hasOwn(choice.fields, 'native_finish_reason'))
  if (hasWholeAudio(choice.message)) finished.finish_reason ??= 'stop'
  return finished
}

/** Orders the tool calls and removes `index`, which streamed calls have. In plain responses, only aggregators' calls keep it. */
function finishToolCalls(message: JsonObject, keepsIndexes: boolean): void {
  const calls = readField(message, 'tool_calls')
  if (!Array.isArray(calls)) return
  const ordered = calls.filter(isJsonObject).sort((a, b) => asNumber(a.index) - asNumber(b.index))
  for (const [position, call] of ordered.entries()) {
    if (keepsIndexes) call.index = position
    else delete call.index
  }
  message.tool_calls = ordered
}

/** OpenAI ends streamed audio with its expiry time and no `finish_reason`. A plain response has `stop` there. */
function hasWholeAudio(message: JsonObject): boolean {
  const audio = readField(message, 'audio')
  return isJsonObject(audio) && ['id', 'data', 'transcript', 'expires_at'].every(key => readField(audio, key) != null)
}
