/** Measures of a method's ranking of pairs over all possible thresholds. */

/** The values of each pair, by its position. */
export interface Ranked {
  /** The pair is served below this threshold; -Infinity for never. */
  readonly limits: readonly number[]
  readonly similarities: readonly number[]
}

/** All pairs with this rank or a higher one. */
export interface Level {
  readonly limit: number
  readonly count: number
  readonly right: number
}

/** Returns the levels in descending order. Pairs that are never served rank below all others, by similarity. */
export function levelsOf({ limits, similarities }: Ranked, labels: readonly (0 | 1)[]): Level[] {
  const compare = (one: number, other: number) =>
    descending(limits[one], limits[other]) || descending(similarities[one], similarities[other])
  const order = [...labels.keys()].sort(compare)
  const levels: Level[] = []
  let right = 0
  for (const [at, pair] of order.entries()) {
    right += labels[pair] ?? 0
    const next = order[at + 1]
    if (next === undefined || compare(pair, next) !== 0) levels.push({ limit: limits[pair] ?? 0, count: at + 1, right })
  }
  return levels
}

/** Two infinities are equal. */
function descending(one = 0, other = 0): number {
  return one === other ? 0 : other - one
}

/** The most permissive level at which at most a share of `bound` of the served pairs is wrong; null if there is none. */
export function widestWithin(levels: readonly Level[], bound: number): Level | null {
  const holds = ({ limit, count, right }: Level, at: number) =>
    limit !== -Infinity && levels[at + 1]?.limit !== limit && count - right <= bound * count
  return levels.findLast(holds) ?? null
}

/**
 * The area under precision over cache-hit ratio (P-CHR AUC), 0 to 1. At each level, precision is the share of correct pairs among those
 * that rank at least as high, and the cache-hit ratio is their share of all pairs; the points are joined by straight lines. As defined in
 * Baral et al., "Closing the Calibration Gap in Semantic Caching" (arXiv:2606.19719), and computed by `CacheEvaluator` in its code
 * (aditeyabaral/calibration-gap-semantic-caching, src/reranker/cache_evaluator.py), by which LangCache's models are chosen.
 */
export function areaUnderPrecision(levels: readonly Level[]): number {
  const pairs = levels.at(-1)?.count ?? 0
  let area = 0
  for (const [at, { count, right }] of levels.entries()) {
    const before = levels[at - 1]
    if (before) area += ((count - before.count) / pairs) * ((right / count + before.right / before.count) / 2)
  }
  return area
}
