/** Labelled pairs: JSONL with `a`, `b`, `label` (1: both ask the same; 0: one's answer is wrong for the other) and, if wanted, `category`. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface LabelledPair {
  a: string
  b: string
  label: 0 | 1
  category: string
  /** What a person says who read the pair; it overrules the label. */
  hand?: 0 | 1
  /** The file's name. */
  set: string
}

const OWN_PAIRS = join(import.meta.dirname, '../../test/unit/text/pairs')

/** Reads the files, or the project's own pairs without any. An invalid line throws an error with its position. */
export function readPairs(files: readonly string[]): LabelledPair[] {
  const sources = files.length > 0 ? files : readdirSync(OWN_PAIRS).map(file => join(OWN_PAIRS, file))
  return sources.flatMap(file =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, at) => (line.trim() === '' ? [] : [readPair(line, file, at + 1)])),
  )
}

function readPair(line: string, file: string, row: number): LabelledPair {
  const { a, b, label, category, hand } = JSON.parse(line)
  if (typeof a !== 'string' || typeof b !== 'string' || (label !== 0 && label !== 1)) {
    throw new Error(`${file}:${row}: a pair needs the texts a and b, and label 0 or 1`)
  }
  return {
    a,
    b,
    label,
    category: typeof category === 'string' ? category : 'none',
    set: basename(file),
    ...(hand !== undefined && { hand }),
  }
}
