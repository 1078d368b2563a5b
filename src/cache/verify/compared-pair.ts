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
/** The name of what the pair's edits say. They are not named themselves: they are words of the questions. */
export const EDITS = 'changed words'

/** Names in the order of the numbers, which is the same for every pair. Filled by the first pair, and the cosine by the first that has one. */
const names: string[] = []
const positions = new Map<string, number>()

const MAX_NUMBERS = 512

/** The numbers of a pair, in single precision, to which the trees are fitted. Names are kept once for all pairs. */
export class Features {
  readonly #values = new Float32Array(MAX_NUMBERS)
  #count = 0

  set(name: string, value: number | boolean): void {
    const at = this.#count
    this.#values[at] = Number(value)
    this.#count += 1
    if (at < names.length) return
    names.push(name)
    positions.set(name, at)
  }

  /** Sets the lesser and the greater of two values, one from each question. */
  both(name: string, value: number, more: number): void {
    const isNew = this.#count >= names.length
    this.set(isNew ? `${name}, less` : name, Math.min(value, more))
    this.set(isNew ? `${name}, more` : name, Math.max(value, more))
  }

  get names(): readonly string[] {
    return names
  }

  get values(): Float32Array {
    return this.#values.subarray(0, this.#count)
  }

  has(name: string): boolean {
    return (positions.get(name) ?? this.#count) < this.#count
  }

  /** Throws for a name that no number has. */
  get(name: string): number {
    if (!this.has(name)) throw new Error(`no number of a pair is called ${name}`)
    return this.#values[positions.get(name) ?? 0] ?? 0
  }
}

/** Pairs each key with the name of its number, so that no pair has to write the names again. */
export const named = <Key extends string>(prefix: string, keys: readonly Key[]) =>
  keys.map(key => ({ key, name: `${prefix}${key}` }))

export const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
export const share = (part: number, whole: number) => part / Math.max(1, whole)

/** Returns how many elements two sets have in common. `intersection` takes twice as long, because it makes a set. */
export function countCommon(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [less, more] = one.size < other.size ? [one, other] : [other, one]
  let count = 0
  for (const each of less) if (more.has(each)) count += 1
  return count
}
