/** The compared methods: each policy and risk, and plain cosine, like a cache that compares only vectors of texts. */
import { risks, type WeighedPair } from '../weigh.ts'
import { type GroupCache, openNearest, openProved, openThreshold, openVerified } from './caches.ts'

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
  /** `readsCosine`: whether the verifier has learned from the embedder's cosines. */
  openCache(threshold: number, readsCosine: boolean): GroupCache
}

/** Smaller differences are rounding errors: pairs with equal texts must have equal ranks. */
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
    limitOf: ({ isNormalized, scores }: WeighedPair) => (isNormalized ? Infinity : scores[risk] || -Infinity),
    openCache: (threshold: number, readsCosine: boolean) => openVerified(threshold, risk, readsCosine),
  })),
  {
    name: 'threshold',
    similarityOf,
    limitOf: similarityOf,
    openCache: openThreshold,
  },
  {
    name: 'plain cosine',
    similarityOf: cosineOf,
    limitOf: cosineOf,
    openCache: threshold => openNearest(threshold, ({ vector }) => vector),
  },
]

function rounded(value: number): number {
  return Math.round(value / PRECISION) * PRECISION
}
