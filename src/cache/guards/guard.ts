/** The shapes guards share: what is read of a question once, and what a guard is asked. */
import type { QuestionKind } from './reading/question-kind.ts'
import type { Token } from './reading/token.ts'

/** What the guards need to know of one question; made by `extractFeatures`, from the text as the client wrote it. */
export interface GuardFeatures {
  /** Everything but code, in order; quoted words included. */
  readonly tokens: readonly Token[]
  /** The forms of all words, under which the other question's words are looked up. */
  readonly forms: ReadonlySet<string>
  /** Lower-case words in order between spaces, to look up phrases in. */
  readonly phrase: string
  /** Code spans and fences, without their backticks. */
  readonly code: readonly string[]
  /** Quoted strings, without their marks. */
  readonly quotes: readonly string[]
  /** Lines that begin with space, as code without fences does. */
  readonly indentedLines: readonly string[]
  /** The words of courtesy that normalization leaves, because they are what is asked about. */
  readonly courtesy: string
  /** Digits and brackets in order, where an operator stands among them; else empty. */
  readonly formula: string
  /** What capitals say: `prose` writes names with them; `none` and `all` know no difference, a `title` has them everywhere. */
  readonly capitals: 'prose' | 'none' | 'all' | 'title'
  /** What is asked for: a person, a time, a reason, yes or no. */
  readonly kinds: ReadonlySet<QuestionKind>
  /** Whether the text asks to do something in the world ("cancel my order") instead of asking for an answer. */
  readonly isAction: boolean
}

/** Two questions side by side. */
export interface Comparison {
  readonly asked: GuardFeatures
  readonly cached: GuardFeatures
  /** Words of the new question that the cached one lacks, synonyms and derivations allowed for. */
  readonly onlyAsked: readonly Leftover[]
  /** Words of the cached question that the new one lacks. */
  readonly onlyCached: readonly Leftover[]
}

/** A word without a counterpart, and where it stood in its question's tokens. */
export interface Leftover {
  readonly token: Token
  readonly at: number
}

/** One reason to doubt. `differs` must be cheap and must not throw. */
export interface Guard<Name extends string = string> {
  readonly name: Name
  /** Whether an answer to the cached question would be wrong, or may be, for the one asked. */
  differs(comparison: Comparison): boolean
}
