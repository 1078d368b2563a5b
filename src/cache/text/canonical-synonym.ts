/** Canonical synonyms from WordNet. Compiled by scripts/build-synonyms.ts. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { lazily } from './packed-model.ts'

const synonyms = lazily((): ReadonlyMap<string, string> => {
  const packed = readFileSync(new URL('./synonyms.txt.br', import.meta.url))
  const lines = brotliDecompressSync(packed).toString('latin1').split('\n')
  return new Map(lines.map(line => line.split('\t') as [string, string]))
})

/** Returns the canonical synonym of a lower-case base form; the word itself if it has none. */
export const canonicalSynonymOf = (word: string): string => synonyms().get(word) ?? word
