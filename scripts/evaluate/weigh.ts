/** Determines for pairs of texts which policies and risks would serve them. */
import { type NormalizedPrompt, normalizePrompt } from '../../src/cache/text/normalize-prompt.ts'
import { findBypassReason } from '../../src/cache/verify/bypass.ts'
import { type SemanticRisk, verifyPair } from '../../src/cache/verify/verify.ts'
import type { Compare } from './compare.ts'
import type { LabelledPair } from './pairs.ts'

export const risks = ['careful', 'balanced', 'generous'] as const satisfies SemanticRisk[]
export const DEFAULT_THRESHOLD = 0.95

/** A pair with the values that decide whether it is served. */
export interface WeighedPair extends LabelledPair {
  readonly isNormalized: boolean
  /** The cosine of the normalized texts, by which the policy `threshold` decides. */
  readonly similarity: number
  /** By risk: the verifier's score; 0 if the pair is not compared or a law forbids it. */
  readonly scores: Readonly<Record<SemanticRisk, number>>
}

/** A text as the cache reads it. */
export interface ReadText {
  readonly reading: NormalizedPrompt
  readonly isBypassed: boolean
}

export function readText(text: string): ReadText {
  const reading = normalizePrompt(text)
  return { reading, isBypassed: findBypassReason(reading) !== null }
}

/** Returns the verifier's score; 0 if the pair is not compared or a law forbids it. `cosine` as for `verifyPair`. */
export function scoreTexts(one: ReadText, other: ReadText, risk: SemanticRisk, cosine: number | null): number {
  if (one.isBypassed || other.isBypassed) return 0
  const { score, veto } = verifyPair(one.reading, other.reading, risk, cosine)
  return veto === null ? score : 0
}

export async function weighPair(
  pair: LabelledPair,
  { compare, isReadByVerifier }: Pick<Compare, 'compare' | 'isReadByVerifier'>,
): Promise<WeighedPair> {
  const [one, other] = [readText(pair.a), readText(pair.b)]
  const isNormalized = !one.isBypassed && !other.isBypassed && one.reading.normalized === other.reading.normalized
  const similarity = isNormalized ? 1 : await compare(pair, one.reading.normalized, other.reading.normalized)
  const score = (risk: SemanticRisk) => scoreTexts(one, other, risk, isReadByVerifier ? similarity : null)
  return {
    ...pair,
    isNormalized,
    similarity,
    scores: { careful: score('careful'), balanced: score('balanced'), generous: score('generous') },
  }
}
