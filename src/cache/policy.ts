/** Decides which cached response may be served for a prompt in other words. It requires evidence that both prompts ask the same. */
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { CacheMatchRow, SimilarMatchRow } from '../postgres/search-cache.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import type { SemanticReason } from './entry.ts'
import type { MismatchReason, MissReason } from './reasons.ts'
import { normalizeInSameContext } from './text/normalize-prompt.ts'
import { mainDifferenceKind } from './verify/difference.ts'
import { findVeto } from './verify/verify.ts'

/**
 * - `verified` serves equal normalized texts, and plain questions above the threshold without a veto.
 * - `proved` serves equal normalized texts only.
 * - `judged` also serves pairs that the judge confirmed.
 * - `threshold` serves by similarity alone.
 *
 * All except `proved` also serve pairs that a person confirmed.
 */
export type SemanticPolicy = ResolvedKey['semantic_policy']

export interface SelectedCandidate {
  row: SimilarMatchRow
  reason: SemanticReason
  similarity: number
}

export interface NoCandidate {
  missReason: MissReason
  /** Candidates that a judge might confirm, the most similar first. */
  undecided: readonly SimilarMatchRow[]
  /** The most similar candidate without a verdict, and the kind of difference that prevented a match; null when similarity did. */
  nearest?: { row: SimilarMatchRow; difference: string | null }
}

/** Returns the project's settings that a match depends on, as a key. Matches found under other settings are not reused. */
export function matchSettingsKey(resolvedKey: ResolvedKey): string {
  return `${resolvedKey.semantic_mode}:${resolvedKey.semantic_policy}:${resolvedKey.semantic_risk}:${resolvedKey.verdict_generation}`
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

/** Returns the similarity that candidates must exceed. A candidate with a verdict counts from the judge's floor. */
export function lookupThreshold({ threshold, judgeFloor }: SemanticQuery): number {
  // The value is just below the floor, because the search excludes its limit and the floor itself counts.
  return judgeFloor === null ? threshold : Math.min(threshold, judgeFloor - 1e-9)
}

/** Returns whether a row is similar enough to be evaluated. A confirmed pair is, unless the client requires more similarity. */
export function isCandidate(
  { resolvedKey, control }: CacheQuery,
  semantic: SemanticQuery,
  row: CacheMatchRow,
): boolean {
  if (row.match === 'exact' || row.match === 'normalized') return true
  if (row.match === 'similar') return row.similarity > lookupThreshold(semantic)
  return resolvedKey.semantic_policy !== 'proved' && row.similarity > (control.threshold ?? -1)
}

/** Returns the most similar candidate that may be served, or why none may. */
export function selectCandidate(
  query: SemanticQuery,
  found: readonly CacheMatchRow[],
  policy: SemanticPolicy,
  /** True when similarity measures meaning instead of wording. */
  isSemantic = false,
): SelectedCandidate | NoCandidate {
  const candidates = found.filter(row => row.match !== 'exact').toSorted((a, b) => b.similarity - a.similarity)
  const undecided: SimilarMatchRow[] = []
  let mismatch: MissReason | null = null
  let nearest: NoCandidate['nearest']
  for (const row of candidates) {
    const result = evaluateCandidate(query, row, policy, isSemantic)
    if ('reason' in result) return { row, similarity: Math.min(1, row.similarity), ...result }
    if (result.isUndecided) undecided.push(row)
    if (row.verdict === null) nearest ??= { row, difference: result.difference ?? null }
    if (result.missReason !== 'below-threshold') mismatch ??= result.missReason
  }
  const missReason = mismatch ?? (found.length > 0 ? 'below-threshold' : 'no-candidate')
  return { missReason, undecided, ...(nearest && { nearest }) }
}

/**
 * Evaluates a candidate. In order of precedence, a person's verdict or a negative review decides, then the rules, then the judge's verdict.
 * Without a verdict, a candidate must exceed the threshold.
 */
function evaluateCandidate(
  query: SemanticQuery,
  row: SimilarMatchRow,
  policy: SemanticPolicy,
  isSemantic: boolean,
): { reason: SemanticReason } | { missReason: MissReason; isUndecided?: boolean; difference?: string | null } {
  const { threshold, judgeFloor } = query
  const isDifferent = row.verdict === 'different'
  const failed = policy === 'proved' ? 'unproved' : 'unverified'
  if (isDifferent && row.verdict_source !== 'judge') return { missReason: `${failed}:verdict` }
  const isSimilar = row.similarity > threshold
  if (isSimilar && row.match === 'normalized') return { reason: 'normalized' }
  if (isSimilar && policy === 'threshold') return { reason: 'threshold' }
  const veto = findCandidateVeto(query, row, policy, isSemantic)
  if (isSimilar && veto === null && !isDifferent) return { reason: 'verified' }
  const isPersonVerdict = row.verdict_source === 'person'
  if (row.verdict === 'same' && (isPersonVerdict || policy === 'judged')) return { reason: 'judged' }
  const isUndecided = row.verdict === null && judgeFloor !== null && row.similarity >= judgeFloor
  return {
    missReason: isSimilar ? `${failed}:${veto ?? 'verdict'}` : 'below-threshold',
    isUndecided,
    difference: veto,
  }
}

/** Returns the reason against the candidate; null when there is none. */
export function findCandidateVeto(
  { normalizedPrompt, threshold, risk }: SemanticQuery,
  row: SimilarMatchRow,
  policy: SemanticPolicy,
  isSemantic: boolean,
): MismatchReason | null {
  const cached = normalizeInSameContext(normalizedPrompt, row.prompt)
  if (normalizedPrompt.normalized === cached.normalized) return null
  if (policy === 'proved' || policy === 'threshold') return mainDifferenceKind(normalizedPrompt.text, cached.text)
  const { similarity } = row
  const veto = findVeto(normalizedPrompt, cached, { similarity, threshold, risk, isSemantic })
  return veto === 'words' || veto === 'prose' ? mainDifferenceKind(normalizedPrompt.text, cached.text) : veto
}
