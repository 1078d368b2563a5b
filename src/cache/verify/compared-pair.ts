/** A pair of questions whose words are aligned, and where its numbers go. */
import type { Question, QuestionWord } from './question-words.ts'
import type { Alignment } from './word-alignment.ts'

export interface Pair {
  readonly questions: readonly [Question, Question]
  readonly alignment: Alignment
  /** The words of the rest, in each question. */
  readonly rest: readonly [readonly QuestionWord[], readonly QuestionWord[]]
}

export interface Sink {
  set(name: string, value: number | boolean): void
  /** Sets the lesser and the greater of two values, one from each question. */
  both(name: string, value: number, more: number): void
}

export const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
export const share = (part: number, whole: number) => part / Math.max(1, whole)
