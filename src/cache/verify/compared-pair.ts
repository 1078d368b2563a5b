/** A pair of questions whose words are aligned, and the list of its numbers. */
import type { Question, QuestionWord } from './question-words.ts'
import type { Alignment } from './word-alignment.ts'

export interface Pair {
  readonly questions: readonly [Question, Question]
  readonly alignment: Alignment
  /** The words of the rest, in each question. */
  readonly rest: readonly [readonly QuestionWord[], readonly QuestionWord[]]
}

/** The name of the cosine of the normalized texts, the last number of the pairs that have one. */
export const COSINE = 'cosine'

/** Names in the order of the numbers, which is the same for every pair. Filled by the first pair, and the cosine by the first that has one. */
const names: string[] = []
const positions = new Map<string, number>()

/** The numbers of a pair. Names are kept once for all pairs. */
export class Features {
  readonly #values: number[] = []

  set(name: string, value: number | boolean): void {
    const at = this.#values.push(Number(value)) - 1
    if (at < names.length) return
    names.push(name)
    positions.set(name, at)
  }

  /** Sets the lesser and the greater of two values, one from each question. */
  both(name: string, value: number, more: number): void {
    const isNew = this.#values.length >= names.length
    this.set(isNew ? `${name}, less` : name, Math.min(value, more))
    this.set(isNew ? `${name}, more` : name, Math.max(value, more))
  }

  get names(): readonly string[] {
    return names
  }

  /** In single precision, to which the trees are fitted. */
  get values(): Float32Array {
    return Float32Array.from(this.#values)
  }

  has(name: string): boolean {
    return this.#values[positions.get(name) ?? -1] !== undefined
  }

  /** Throws for a name that no number has. */
  get(name: string): number {
    const value = this.#values[positions.get(name) ?? -1]
    if (value === undefined) throw new Error(`no number of a pair is called ${name}`)
    return value
  }
}

/** Pairs each key with the name of its number, so that no pair has to write the names again. */
export const named = <Key extends string>(prefix: string, keys: readonly Key[]) =>
  keys.map(key => ({ key, name: `${prefix}${key}` }))

export const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
export const share = (part: number, whole: number) => part / Math.max(1, whole)
