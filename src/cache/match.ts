/** A stored answer that may be served. */
import type { CacheEntry } from './entry.ts'

export type Match =
  | { result: 'HIT'; entry: CacheEntry }
  | { result: 'HIT-SEMANTIC'; entry: CacheEntry; similarity: number }
