/** The hit rate of the cache, as every page, report and response shows it. */

/** Returns the share of hits among the requests that reached the cache, from 0 to 1; null if none did. */
export function hitRateOf({ hits, misses }: { hits: number; misses: number }): number | null {
  return hits + misses === 0 ? null : hits / (hits + misses)
}
