/** Finds phrases of several words in a list of tokens. */
import type { Token } from './token.ts'

/** Phrases by their first word, longest first. */
export type PhraseIndex = ReadonlyMap<string, readonly (readonly string[])[]>

export function indexPhrases(phrases: Iterable<string>): PhraseIndex {
  const split = [...phrases].map(phrase => phrase.split(' ')).toSorted((a, b) => b.length - a.length)
  return Map.groupBy(split, words => words[0] ?? '')
}

/** Length of the index's phrase at `at`, in any case; 0 when there is none. */
export function matchPhrase(index: PhraseIndex, tokens: readonly Token[], at: number): number {
  const found = index.get(lowerKey(tokens[at]))?.find(words => startsWith(tokens, at, words))
  return found?.length ?? 0
}

/** Whether these words stand at `at`, in any case. */
export function startsWith(tokens: readonly Token[], at: number, words: readonly string[]): boolean {
  return words.every((word, offset) => lowerKey(tokens[at + offset]) === word)
}

export function lowerKey(token: Token | undefined): string {
  return token && (token.kind === 'word' || token.kind === 'operator') ? token.key.toLowerCase() : ''
}
