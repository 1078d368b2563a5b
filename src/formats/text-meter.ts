/** Measures the text that the assembly of a stream buffers, and counts the text that it discards. */
import { isJsonObject } from './json/canonical.ts'

/** Larger responses are not stored: writing one would delay other requests, and such a request is rarely repeated. */
export const MAX_STORED_BYTES = 2 * 1024 * 1024

/** The text is measured again after the events have grown by this many characters and by a quarter. So the total work is a few times its length. */
const STEP_CHARS = 8_192
const STEP_SHARE = 1 / 4
const SAMPLE_CHARS = 16_384

export class TextMeter {
  readonly #measure: () => number
  #pushedChars = 0
  #measuredAtChars = 0
  #textChars = 0
  isDiscarded = false
  /** Number of characters of text that were discarded. */
  discardedChars = 0

  /** `measure` returns the number of buffered characters of text. */
  constructor(measure: () => number) {
    this.#measure = measure
  }

  /** Estimated number of buffered characters: the text at the last measurement, and the events since. */
  get bufferedChars(): number {
    return this.isDiscarded ? 0 : this.#textChars + this.#pushedChars - this.#measuredAtChars
  }

  get pushedChars(): number {
    return this.#pushedChars
  }

  /** Whether the text is longer than MAX_STORED_BYTES. */
  get isTooLargeToStore(): boolean {
    return this.#textChars > MAX_STORED_BYTES
  }

  /** Measures the text if it has grown enough. Call after an event was added to the text. */
  measure(): void {
    const grownChars = this.#pushedChars - this.#measuredAtChars
    if (this.isDiscarded || grownChars < STEP_CHARS + this.#measuredAtChars * STEP_SHARE) return
    this.#measuredAtChars = this.#pushedChars
    this.#textChars = this.#measure()
  }

  countEvent(data: string): void {
    this.#pushedChars += data.length
  }

  /** Returns the beginning of a discarded text, from which its tokens can be estimated. Counts the rest as discarded. */
  sampleText(text: string): string {
    if (text.length <= SAMPLE_CHARS) return text
    this.discardedChars += text.length - SAMPLE_CHARS
    // The copy frees the rest: a slice of a string would retain the whole string.
    return Buffer.from(text.slice(0, SAMPLE_CHARS)).toString()
  }

  countDiscarded(text: unknown): void {
    this.discardedChars += textLengthOf(text)
  }
}

/** Returns the number of characters of all strings in the value. */
export function textLengthOf(value: unknown): number {
  if (typeof value === 'string') {
    // Reading a concatenated string frees its pieces, which take many times its length.
    value.charCodeAt(0)
    return value.length
  }
  const parts = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : []
  return parts.reduce<number>((length, part) => length + textLengthOf(part), 0)
}
