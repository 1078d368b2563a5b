/** Finds phrases of several words among tokens. */
import type { Token } from './token.ts'

/** Phrases by their first word, the longest first. */
export type PhraseIndex = ReadonlyMap<string, readonly (readonly string[])[]>

export function indexPhrases(phrases: Iterable<string>): PhraseIndex {
  const split = [...phrases].map(phrase => phrase.split(' ')).toSorted((a, b) => b.length - a.length)
  return Map.groupBy(split, words => words[0] ?? '')
}

/** How many tokens from `at` on are a phrase of the index, in any case; 0 where none is. */
export function matchPhrase(index: PhraseIndex, tokens: readonly Token[], at: number): number {
  const found = index.get(lowerKey(tokens[at]))?.find(words => startsWith(tokens, at, words))
  return found?.length ?? 0
}

/** Whether the tokens from `at` on are these words, in any case. */
export function startsWith(tokens: readonly Token[], at: number, words: readonly string[]): boolean {
  return words.every((word, offset) => lowerKey(tokens[at + offset]) === word)
}

export function lowerKey(token: Token | undefined): string {
  return token && (token.kind === 'word' || token.kind === 'operator') ? token.key.toLowerCase() : ''
}
