/** The plainest of the words that mean the same, from WordNet (compiled by scripts/build-synonyms.ts). */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

let loaded: ReadonlyMap<string, string> | undefined

/** Loads at the first question, as the lexicon. */
function load(): ReadonlyMap<string, string> {
  const packed = readFileSync(new URL('./synonyms.txt.br', import.meta.url))
  const lines = brotliDecompressSync(packed).toString('latin1').split('\n')
  loaded = new Map(lines.map(line => line.split('\t') as [string, string]))
  return loaded
}

/** The word that stands for a lower-case base form and all that mean the same; itself where there is no other. */
export function canonicalSynonymOf(word: string): string {
  return (loaded ?? load()).get(word) ?? word
}
