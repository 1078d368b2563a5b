/** What the board compares: each policy and risk, and plain cosine, as a cache has it that only compares vectors of texts. */
import type { SemanticRisk } from '../../../src/cache/verify/verify.ts'
import { risks, type WeighedPair } from '../weigh.ts'
import { type CacheOptions, type GroupCache, openNearest, openProved, openThreshold, openVerified } from './caches.ts'

/** A pair, with the cosine of its texts as they are. */
export interface ComparedPair extends WeighedPair {
  readonly cosine: number
}

export interface Method {
  readonly name: string
  /** What a threshold is compared with. */
  similarityOf(pair: ComparedPair): number
  /** Below which threshold the pair is served; -Infinity for never. */
  limitOf(pair: ComparedPair): number
  openCache(options: CacheOptions): GroupCache
}

/** What differs by less is the rounding of sums: texts with one gist must rank alike. */
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

/** Of few words, what differs is explained only some way above the threshold. */
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
