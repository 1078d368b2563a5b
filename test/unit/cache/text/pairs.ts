/**
 * Reads the labelled pairs of earlier rounds. `label` is 1 if both texts ask the same, and 0 if the response to one would be wrong for the other.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LabelledPair {
  a: string
  b: string
  label: 0 | 1
  category: string
  /** File name. */
  set: string
}

const directory = join(import.meta.dirname, '../../../../scripts/evaluate/pairs/earlier')

export const pairs: readonly LabelledPair[] = readdirSync(directory)
  .filter(file => file.endsWith('.jsonl'))
  .flatMap(file =>
    readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(line => ({ ...(JSON.parse(line) as Omit<LabelledPair, 'set'>), set: file })),
  )
