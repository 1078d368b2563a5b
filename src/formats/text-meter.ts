/** How much text the assembly of a stream keeps, whether that can still be stored, and how much was lost when it was given up. */
import { isJsonObject } from './json/canonical.ts'

/** Larger responses are not stored: writing one would delay other requests, and such a request is rarely repeated. */
export const MAX_STORED_BYTES = 2 * 1024 * 1024

/** The text is measured when the events have grown by this, and by a quarter: often enough, and in all no more than a few times its length. */
const STEP_CHARS = 8_192
const STEP_SHARE = 1 / 4
const SAMPLE_CHARS = 16_384

export class TextMeter {
  readonly #measure: () => number
  #pushedChars = 0
  #measuredAtChars = 0
  #textChars = 0
  isDiscarded = false
  /** Characters of the text that are not kept. */
  discardedChars = 0

  /** `measure` returns the characters of text that are kept. */
  constructor(measure: () => number) {
    this.#measure = measure
  }

  /** About the memory that the text takes: what was measured, and the events since. */
  get bufferedChars(): number {
    return this.isDiscarded ? 0 : this.#textChars + this.#pushedChars - this.#measuredAtChars
  }

  get pushedChars(): number {
    return this.#pushedChars
  }

  /** Whether the text is more than can be stored. */
  get isTooLargeToStore(): boolean {
    return this.#textChars > MAX_STORED_BYTES
  }

  /** After an event became part of the text. */
  measure(): void {
    const grownChars = this.#pushedChars - this.#measuredAtChars
    if (this.isDiscarded || grownChars < STEP_CHARS + this.#measuredAtChars * STEP_SHARE) return
    this.#measuredAtChars = this.#pushedChars
    this.#textChars = this.#measure()
  }

  countEvent(data: string): void {
    this.#pushedChars += data.length
  }

  /** Returns the beginning of a text that is given up, from which its tokens can be estimated; the rest is counted as lost. */
  sampleText(text: string): string {
    if (text.length <= SAMPLE_CHARS) return text
    this.discardedChars += text.length - SAMPLE_CHARS
    // A copy: a part of a string would keep the whole.
    return Buffer.from(text.slice(0, SAMPLE_CHARS)).toString()
  }

  countDiscarded(text: unknown): void {
    this.discardedChars += textLengthOf(text)
  }
}

/** Characters of all strings in the value. */
export function textLengthOf(value: unknown): number {
  if (typeof value === 'string') {
    // A string that was put together piece by piece keeps its pieces, many times its length, until it is read.
    value.charCodeAt(0)
    return value.length
  }
  const parts = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : []
  return parts.reduce<number>((length, part) => length + textLengthOf(part), 0)
}
