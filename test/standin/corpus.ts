/** Upstream answers in recorded shape, with what each must come to: written from the vendors' public API references. */

import { AGGREGATOR } from './corpus/aggregator.ts'
import { OTHERS } from './corpus/compatible.ts'
import type { CorpusEntry } from './corpus/format.ts'
import { OPENAI, OPENAI_LEGACY } from './corpus/openai.ts'

export type { CorpusEntry } from './corpus/format.ts'

export const CORPUS: CorpusEntry[] = [...OPENAI, ...OPENAI_LEGACY, ...AGGREGATOR, ...OTHERS]

/** The raw body of an entry's plain answer; null where it has none of its own. */
export function plainText(entry: CorpusEntry): string | null {
  return entry.plain === undefined ? JSON.stringify(entry.body) : entry.plain
}
