/** Byte-pair encoding: a text's words, each as the tokens that its bytes merge into. */
import type { Vocabulary } from './vocabulary.ts'

const NONE = 0xffff_ffff
const encoder = new TextEncoder()

export class BytePairs {
  readonly #vocabulary: Vocabulary
  readonly #word: RegExp
  /** The bytes of the word at hand. */
  #bytes = new Uint8Array(512)
  /** Where each of its parts begins, and the last one's end. */
  #starts = new Uint32Array(513)
  /** The token that each part and the next would make; the lowest comes first. */
  #merged = new Uint32Array(512)

  /** `word`: what is a word, all of the text being one or another. */
  constructor(vocabulary: Vocabulary, word: RegExp) {
    this.#vocabulary = vocabulary
    this.#word = word
  }

  count(text: string): number {
    let tokens = 0
    for (const [word] of text.matchAll(this.#word)) {
      const length = this.#write(word)
      tokens += this.#vocabulary.find(this.#bytes, 0, length) < 0 ? this.#merge(length) : 1
    }
    return tokens
  }

  encode(text: string): number[] {
    const tokens: number[] = []
    for (const [word] of text.matchAll(this.#word)) {
      const length = this.#write(word)
      const whole = this.#vocabulary.find(this.#bytes, 0, length)
      if (whole >= 0) tokens.push(whole)
      else this.#pushParts(tokens, this.#merge(length))
    }
    return tokens
  }

  #pushParts(tokens: number[], parts: number): void {
    const starts = this.#starts
    for (let part = 0; part < parts; part++)
      tokens.push(this.#vocabulary.find(this.#bytes, starts[part] as number, starts[part + 1] as number))
  }

  /** Lone surrogates become replacement characters. How many bytes the word has. */
  #write(word: string): number {
    const most = word.length * 3
    if (this.#bytes.length < most) {
      this.#bytes = new Uint8Array(most)
      this.#starts = new Uint32Array(most + 1)
      this.#merged = new Uint32Array(most)
    }
    return encoder.encodeInto(word, this.#bytes).written
  }

  /** Merges the two neighbours that make the lowest token, the first of equals, until none make one. How many parts are left. */
  #merge(length: number): number {
    const starts = this.#starts
    const merged = this.#merged
    for (let at = 0; at <= length; at++) starts[at] = at
    let parts = length
    for (let part = 0; part + 1 < parts; part++) merged[part] = this.#tokenOfTwo(part)
    for (;;) {
      let lowest = NONE
      let first = -1
      for (let part = 0; part + 1 < parts; part++) {
        if ((merged[part] as number) >= lowest) continue
        lowest = merged[part] as number
        first = part
      }
      if (first < 0) return parts
      starts.copyWithin(first + 1, first + 2, parts + 1)
      merged.copyWithin(first, first + 1, parts - 1)
      parts--
      if (first + 1 < parts) merged[first] = this.#tokenOfTwo(first)
      if (first > 0) merged[first - 1] = this.#tokenOfTwo(first - 1)
    }
  }

  #tokenOfTwo(part: number): number {
    const token = this.#vocabulary.find(this.#bytes, this.#starts[part] as number, this.#starts[part + 2] as number)
    return token < 0 ? NONE : token
  }
}
