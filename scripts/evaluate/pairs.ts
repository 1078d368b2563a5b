/** Labelled pairs: JSONL with `a`, `b`, `label` (1: both ask the same; 0: one's answer is wrong for the other) and, if wanted, `category`. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface LabelledPair {
  a: string
  b: string
  label: 0 | 1
  category: string
  /** What a person says who read the pair. */
  hand?: 0 | 1
  /** The cosine that a model gave the texts as they are. */
  similarity?: number
  /** The file's name. */
  set: string
}

/** `HASH 1` or `HASH 0`: judgements by hand, of pairs that need not be in the project. */
const JUDGEMENTS = join(import.meta.dirname, 'hand-judgements.txt')
const OWN_PAIRS = join(import.meta.dirname, '../../test/unit/cache/text/pairs')

/** Reads the files, or the project's own pairs without any. An invalid line throws an error with its position. */
export function readPairs(files: readonly string[]): LabelledPair[] {
  const judgements = new Map(
    readFileSync(JUDGEMENTS, 'utf8')
      .split('\n')
      .map(line => line.split(' ') as [string, string]),
  )
  const sources = files.length > 0 ? files : readdirSync(OWN_PAIRS).map(file => join(OWN_PAIRS, file))
  return sources.flatMap(file =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, at) => (line.trim() === '' ? [] : [judged(readPair(line, file, at + 1), judgements)])),
  )
}

/** Names a pair in the judgements, whatever the order of its texts. */
export function hashOf({ a, b }: Pick<LabelledPair, 'a' | 'b'>): string {
  return createHash('sha256').update([a, b].sort().join('\n')).digest('hex').slice(0, 12)
}

function judged(pair: LabelledPair, judgements: ReadonlyMap<string, string>): LabelledPair {
  const said = judgements.get(hashOf(pair))
  return said === undefined ? pair : { ...pair, hand: said === '1' ? 1 : 0 }
}

function readPair(line: string, file: string, row: number): LabelledPair {
  const { a, b, label, category, similarity } = JSON.parse(line)
  if (typeof a !== 'string' || typeof b !== 'string' || (label !== 0 && label !== 1)) {
    throw new Error(`${file}:${row}: a pair needs the texts a and b, and label 0 or 1`)
  }
  return {
    a,
    b,
    label,
    category: typeof category === 'string' ? category : 'none',
    set: basename(file),
    ...(typeof similarity === 'number' && { similarity }),
  }
}
