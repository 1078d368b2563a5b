/** The interface of a language's tables: whether a text is in the language, and its normalized form. */
import type { Token } from './token.ts'

export interface Language {
  readonly code: string
  /** The tokens in normalized form; null when the text is not plain prose in this language. */
  write(tokens: readonly Token[]): readonly Token[] | null
}
