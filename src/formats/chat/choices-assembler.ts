/** Assembles the choices of a streamed chat response. After `discardText`, only a sample of their text and their finish reasons remain. */
import { asObjects, isJsonObject, type JsonObject, readField } from '../json/canonical.ts'
import { TextMeter, textLengthOf } from '../text-meter.ts'
import { type AssembledChoice, createChoice, finishChoice, mergeChoiceChunk } from './assemble-choice.ts'
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
