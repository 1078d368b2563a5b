/** The compared methods: each policy and risk, and plain cosine, like a cache that compares only vectors of texts. */
import type { SemanticRisk } from '../../../src/cache/verify/verify.ts'
import { risks, type WeighedPair } from '../weigh.ts'
import { type CacheOptions, type GroupCache, openNearest, openProved, openThreshold, openVerified } from './caches.ts'

/** A pair with the cosine of its unchanged texts. */
export interface ComparedPair extends WeighedPair {
  readonly cosine: number
}

export interface Method {
  readonly name: string
  /** The value that is compared with a threshold. */
  similarityOf(pair: ComparedPair): number
  /** The pair is served below this threshold; -Infinity for never. */
  limitOf(pair: ComparedPair): number
  openCache(options: CacheOptions): GroupCache
}

/** Smaller differences are rounding errors: pairs with equal embedding texts must have equal ranks. */
const PRECISION = 1e-6
const similarityOf = ({ similarity }: WeighedPair) => rounded(similarity)
const cosineOf = ({ cosine }: ComparedPair) => rounded(cosine)

export const methods: readonly Method[] = [
  {
    name: 'proved',
    similarityOf,
    limitOf: ({ isNormalized }) => (isNormalized ? Infinity : -Infinity),
    openCache: openProved,
  },
  ...risks.map(risk => ({
    name: `verified, ${risk}`,
    similarityOf,
    limitOf: (pair: WeighedPair) => highestPassed(pair, risk),
    openCache: (options: CacheOptions) => openVerified(options, risk),
  })),
  {
    name: 'threshold',
    similarityOf,
    limitOf: similarityOf,
    openCache: ({ threshold }) => openThreshold(threshold),
  },
  {
    name: 'plain cosine',
    similarityOf: cosineOf,
    limitOf: cosineOf,
    openCache: ({ threshold }) => openNearest(threshold, ({ vector }) => vector),
  },
]

function rounded(value: number): number {
  return Math.round(value / PRECISION) * PRECISION
}

/** The highest threshold at which the pair passes. In short questions a difference may pass only some margin above the threshold. */
function highestPassed(pair: WeighedPair, risk: SemanticRisk): number {
  const passes = pair.passes[risk]
  if (pair.isNormalized) return Infinity
  let high = similarityOf(pair)
  if (passes(high)) return high
  let low = -1
  if (!passes(low)) return -Infinity
  while (high - low > PRECISION) {
    const middle = (low + high) / 2
    if (passes(middle)) low = middle
    else high = middle
  }
  return low
}
