/** Canonical synonyms from WordNet. Compiled by scripts/build-synonyms.ts. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

let loaded: ReadonlyMap<string, string> | undefined

/** Returns the synonyms, loaded at the first use. */
function load(): ReadonlyMap<string, string> {
  const packed = readFileSync(new URL('./synonyms.txt.br', import.meta.url))
  const lines = brotliDecompressSync(packed).toString('latin1').split('\n')
  loaded = new Map(lines.map(line => line.split('\t') as [string, string]))
  return loaded
}

/** Returns the canonical synonym of a lower-case base form; the word itself if it has none. */
export function canonicalSynonymOf(word: string): string {
  return (loaded ?? load()).get(word) ?? word
}
