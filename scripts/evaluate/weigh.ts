/** Determines for pairs of texts which policies and risks would serve them. */
import { type NormalizedPrompt, normalizePrompt } from '../../src/cache/text/normalize-prompt.ts'
import { findBypassReason } from '../../src/cache/verify/bypass.ts'
import { embeddingTextOf } from '../../src/cache/verify/embedding-text.ts'
import { findVeto, type SemanticRisk } from '../../src/cache/verify/verify.ts'
import type { Compare } from './compare.ts'
import type { LabelledPair } from './pairs.ts'

export const risks = ['careful', 'balanced', 'generous'] as const satisfies SemanticRisk[]
export const DEFAULT_THRESHOLD = 0.95

/** A pair with the values that decide whether it is served. */
export interface WeighedPair extends LabelledPair {
  readonly isNormalized: boolean
  readonly similarity: number
  /** By risk: whether the pair passes at a threshold. A pair that passes at one threshold passes at all lower ones. */
  readonly passes: Readonly<Record<SemanticRisk, (threshold: number) => boolean>>
}

/** A text as the cache reads it. */
export interface ReadText {
  readonly reading: NormalizedPrompt
  readonly isBypassed: boolean
  readonly gist: string
}

export function readText(text: string): ReadText {
  const reading = normalizePrompt(text)
  return { reading, isBypassed: findBypassReason(reading) !== null, gist: embeddingTextOf(reading.normalized) }
}

export async function weighPair(
  pair: LabelledPair,
  { compare, isSemantic }: Pick<Compare, 'compare' | 'isSemantic'>,
): Promise<WeighedPair> {
  const [one, other] = [readText(pair.a), readText(pair.b)]
  const isBypassed = one.isBypassed || other.isBypassed
  const isNormalized = !isBypassed && one.reading.normalized === other.reading.normalized
  const similarity = isNormalized ? 1 : await compare(pair, one.gist, other.gist)
  const passes = (risk: SemanticRisk) => (threshold: number) =>
    !isBypassed && findVeto(one.reading, other.reading, { similarity, threshold, risk, isSemantic }) === null
  return {
    ...pair,
    isNormalized,
    similarity,
    passes: { careful: passes('careful'), balanced: passes('balanced'), generous: passes('generous') },
  }
}
