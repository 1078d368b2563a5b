/** What a method's order of pairs is worth: measures over all thresholds that it could have. */

/** Of each pair, by its place. */
export interface Ranked {
  /** Below which threshold it is served; -Infinity for never. */
  readonly limits: readonly number[]
  readonly similarities: readonly number[]
}

/** All pairs that rank as high, or higher. */
export interface Level {
  readonly limit: number
  readonly count: number
  readonly right: number
}

/** The levels from the highest downwards. What is never served ranks below all that is, by its similarity. */
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

/** The most permissive level at which at most a share of `bound` of what is served is wrong; null when there is none. */
export function widestWithin(levels: readonly Level[], bound: number): Level | null {
  const holds = ({ limit, count, right }: Level, at: number) =>
    limit !== -Infinity && levels[at + 1]?.limit !== limit && count - right <= bound * count
  return levels.findLast(holds) ?? null
}

/**
 * The area under precision over cache-hit ratio (P-CHR AUC), 0 to 1: at each level, the share that is right of what ranks as high (precision),
 * over the share of all pairs that does (cache-hit ratio), joined by straight lines. As defined in Baral et al., "Closing the
 * Calibration Gap in Semantic Caching" (arXiv:2606.19719), and computed by `CacheEvaluator` in its code
 * (aditeyabaral/calibration-gap-semantic-caching, src/reranker/cache_evaluator.py), which LangCache's models are chosen by.
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
