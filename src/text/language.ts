/** What a language's tables give to reading: whether a text is in it, and how proof writes such a text. */
import type { Token } from './token.ts'

export interface Language {
  readonly code: string
  /** The tokens as proof writes them; null where the text is not plain prose in this language. */
  write(tokens: readonly Token[]): readonly Token[] | null
}
