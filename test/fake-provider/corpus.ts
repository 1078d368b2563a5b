/** Provider responses in recorded form, with the assembled result of each. They follow the vendors' public API references. */

import { AGGREGATOR } from './corpus/aggregator.ts'
import { COMPATIBLE_VENDORS } from './corpus/compatible.ts'
import type { CorpusEntry } from './corpus/format.ts'
import { OPENAI, OPENAI_LEGACY } from './corpus/openai.ts'

export type { CorpusEntry } from './corpus/format.ts'

export const CORPUS: CorpusEntry[] = [...OPENAI, ...OPENAI_LEGACY, ...AGGREGATOR, ...COMPATIBLE_VENDORS]

/** Returns the raw body of an entry's plain response; null if the entry has none. */
export function plainText(entry: CorpusEntry): string | null {
  return entry.plain === undefined ? JSON.stringify(entry.body) : entry.plain
}
