/** Decides which cached response may be served for a prompt in other words. It requires evidence that both prompts ask the same. */
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { CacheMatchRow, SimilarMatchRow } from '../postgres/search-cache.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import type { SemanticReason } from './entry.ts'
import type { MismatchReason, MissReason } from './reasons.ts'
import { normalizeInSameContext } from './text/normalize-prompt.ts'
import { readWordingModelHash } from './text/wording-instructions.ts'
import { mainDifferenceKind } from './verify/difference.ts'
import { readModelsHash } from './verify/trees.ts'
import { type MatchVeto, type PairVerdict, POINT_SCORE, verifyPair } from './verify/verify.ts'

/**
 * - `verified` serves equal normalized texts, and plain questions whose score by the verifier exceeds the threshold and that break no law.
 * - `proved` serves equal normalized texts only.
 * - `judged` also serves pairs that the judge confirmed.
 * - `threshold` serves by the cosine of the normalized texts alone.
 *
 * All except `proved` also serve pairs that a person confirmed.
 */
export type SemanticPolicy = ResolvedKey['semantic_policy']

/** A row whose `similarity` is what the policy holds against the threshold: the verifier's score, or the cosine. */
export type ScoredRow = CacheMatchRow & {
  /** The cosine of the normalized texts. */
  cosine?: number
  veto?: MatchVeto | null
}

export interface SelectedCandidate {
  row: SimilarMatchRow
  reason: SemanticReason
  similarity: number
}

export interface NoCandidate {
  missReason: MissReason
  /** Candidates that a judge might confirm, the most similar first. */
  undecided: readonly SimilarMatchRow[]
  /** The most similar candidate without a verdict. */
  nearest?: SimilarMatchRow & Pick<ScoredRow, 'cosine' | 'veto'>
}

/** Returns the project's settings and the learned models that a match depends on, as a key. Matches found under others are not reused. */
export function matchSettingsKey(resolvedKey: ResolvedKey): string {
  const { semantic_mode, semantic_policy, semantic_risk, verdict_generation } = resolvedKey
  return `${semantic_mode}:${semantic_policy}:${semantic_risk}:${verdict_generation}:${readModelsHash()}:${readWordingModelHash()}`
}

/** Returns whether the judge is called before a miss, which costs money. Test keys have no judge, because they reach only the sandbox. */
export function isJudgedInline(resolvedKey: ResolvedKey): boolean {
  if (
    resolvedKey.semantic_judge !== 'inline' ||
    resolvedKey.semantic_judge_model === '' ||
    resolvedKey.key_type === 'test'
  )
    return false
  return resolvedKey.semantic_mode === 'on' && resolvedKey.semantic_policy === 'judged'
}

/** Scores the rows by the policy. With `readsCosine`, the verifier knows the space of the cosines. */
export function scoreRows(
  query: SemanticQuery,
  rows: readonly CacheMatchRow[],
  policy: SemanticPolicy,
  readsCosine: boolean,
): ScoredRow[] {
  return rows.map(row => {
    if (row.match === 'exact' || row.match === 'normalized' || policy === 'threshold' || policy === 'proved') return row
    const { score, veto } = verify(query, row, readsCosine)
    return { ...row, cosine: row.similarity, similarity: score, veto }
  })
}

function verify({ normalizedPrompt, risk }: SemanticQuery, row: SimilarMatchRow, readsCosine: boolean): PairVerdict {
  const cached = normalizeInSameContext(normalizedPrompt, row.prompt)
  if (cached.normalized === normalizedPrompt.normalized) return { score: 1, veto: null }
  return verifyPair(normalizedPrompt, cached, risk, readsCosine ? knownCosine(row) : null)
}

/** Returns the cosine of the normalized texts. The similarity of a confirmed pair may be of another time and space. */
export const knownCosine = ({ match, similarity, cosine = similarity }: ScoredRow & { similarity: number }) =>
  match === 'similar' ? cosine : null

/** Returns whether a row is similar enough to be evaluated. A confirmed pair is, unless the client requires more similarity. */
export function isCandidate({ resolvedKey, control }: CacheQuery, semantic: SemanticQuery, row: ScoredRow): boolean {
  if (row.match === 'exact' || row.match === 'normalized') return true
  const isConfirmed = row.match === 'confirmed' || (row.verdict === 'same' && row.verdict_source === 'person')
  if (isConfirmed && row.similarity <= (control.threshold ?? -1)) return false
  if (row.match === 'similar') return row.cosine !== undefined || row.similarity > semantic.threshold
  return resolvedKey.semantic_policy !== 'proved'
}

/** Returns the most similar candidate that may be served, or why none may. */
export function selectCandidate(
  query: SemanticQuery,
  found: readonly ScoredRow[],
  policy: SemanticPolicy,
): SelectedCandidate | NoCandidate {
  const candidates = found.filter(row => row.match !== 'exact').toSorted((a, b) => b.similarity - a.similarity)
  const undecided: SimilarMatchRow[] = []
  let mismatch: MissReason | null = null
  let nearest: NoCandidate['nearest']
  for (const row of candidates) {
    const result = evaluateCandidate(query, row, policy)
    if ('reason' in result) return { row, similarity: Math.min(1, row.similarity), ...result }
    if (result.isUndecided) undecided.push(row)
    if (row.verdict === null) nearest ??= row
    if (result.missReason !== 'below-threshold') mismatch ??= result.missReason
  }
  const missReason = mismatch ?? (found.length > 0 ? 'below-threshold' : 'no-candidate')
  return { missReason, undecided, ...(nearest && { nearest }) }
}

/**
 * Evaluates a candidate. In order of precedence, a person's verdict or a negative review decides, then the verifier, then the judge's verdict.
 * Without a verdict, a candidate must exceed the threshold.
 */
function evaluateCandidate(
  query: SemanticQuery,
  row: SimilarMatchRow & Pick<ScoredRow, 'cosine' | 'veto'>,
  policy: SemanticPolicy,
): { reason: SemanticReason } | { missReason: MissReason; isUndecided?: boolean } {
  const { judgeFloor } = query
  const isDifferent = row.verdict === 'different'
  const failed = policy === 'proved' ? 'unproved' : 'unverified'
  if (isDifferent && row.verdict_source !== 'judge') return { missReason: `${failed}:verdict` }
  const isSimilar = exceedsThreshold(query, row)
  if (isSimilar && row.match === 'normalized') return { reason: 'normalized' }
  if (isSimilar && policy === 'threshold') return { reason: 'threshold' }
  const isVerified = isSimilar && policy !== 'proved' && row.veto === null
  if (isVerified && !isDifferent) return { reason: 'verified' }
  const isPersonVerdict = row.verdict_source === 'person'
  if (row.verdict === 'same' && (isPersonVerdict || policy === 'judged')) return { reason: 'judged' }
  const isNear = Math.max(row.similarity, row.cosine ?? 0) >= (judgeFloor ?? 2)
  const isUndecided = row.verdict === null && isNear
  if (!isAlike(query, row)) return { missReason: 'below-threshold', isUndecided }
  return { missReason: `${failed}:${isVerified ? 'verdict' : nameDifference(query, row)}`, isUndecided }
}

/** Returns whether the similarity exceeds the threshold. A threshold below the operating point of the project's risk does not lower that. */
export function exceedsThreshold(
  { threshold }: SemanticQuery,
  { similarity, cosine }: ScoredRow & { similarity: number },
): boolean {
  return similarity > (cosine === undefined ? threshold : Math.max(threshold, POINT_SCORE))
}

/** Returns whether the texts look alike or the verifier finds them the same, so that a miss names what is different; a law, of any near miss. */
function isAlike({ threshold }: SemanticQuery, row: ScoredRow & { similarity: number }): boolean {
  const { similarity, cosine = similarity, veto = null } = row
  const isLaw = veto !== null && veto !== 'prose'
  return Math.max(similarity, cosine) > threshold || (isLaw && isNearMiss(row))
}

/** Returns the law that the pair breaks, or else its main difference. */
export function nameDifference(
  { normalizedPrompt }: SemanticQuery,
  row: SimilarMatchRow & Pick<ScoredRow, 'veto'>,
): MismatchReason {
  const { veto = null } = row
  return veto === null || veto === 'prose' ? mainDifferenceKind(normalizedPrompt.text, row.prompt) : veto
}

/** The lowest similarity of a near miss. */
const MIN_NEAR_MISS = 0.8

/** Returns whether the texts look alike or are rather the same than not, so that a person's verdict is worth asking for. */
export function isNearMiss({ similarity, cosine = similarity }: ScoredRow & { similarity: number }): boolean {
  return Math.max(similarity, cosine) >= MIN_NEAR_MISS
}
