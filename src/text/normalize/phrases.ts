/** Finds phrases of a table in a list of words, by their first word. */

export type PhraseTable = ReadonlyMap<string, readonly string[][]>

/** Indexes phrases by first word, the longest first, so that "thank you very much" is found before "thank you". */
export function indexPhrases(phrases: readonly string[]): PhraseTable {
  const table = new Map<string, string[][]>()
  for (const phrase of phrases) {
    const words = phrase.split(' ')
    const first = words[0] ?? ''
    table.set(first, [...(table.get(first) ?? []), words])
  }
  for (const candidates of table.values()) candidates.sort((a, b) => b.length - a.length)
  return table
}

/** The number of words, from `at` on, that make a phrase of the table; 0 when none does. */
export function matchPhrase(table: PhraseTable, words: readonly string[], at: number): number {
  const candidates = table.get(words[at] ?? '')
  if (candidates === undefined) return 0
  return candidates.find(phrase => phrase.every((word, offset) => words[at + offset] === word))?.length ?? 0
}
