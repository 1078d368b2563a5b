/** Decides which stored response may be served for a question in other words. Without evidence that the two ask the same, none is. */
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { CacheMatchRow, SimilarMatchRow } from '../postgres/search-cache.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import type { SemanticReason } from './entry.ts'
import type { MismatchReason, MissReason } from './reasons.ts'
import { normalizeInSameContext } from './text/normalize-prompt.ts'
import { mainDifferenceKind } from './verify/difference.ts'
import { findVeto } from './verify/verify.ts'

/**
 * `verified`: equal normal forms, or plain questions above the threshold that no veto speaks against. `proved`: equal normal forms alone.
 * `judged`: verified, or confirmed by the judge. `threshold`: similarity alone. Under each but `proved`, also what a person has confirmed.
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
  /** The most similar candidate without a verdict, and the kind of difference that prevents a match, if one does. */
  nearest?: { row: SimilarMatchRow; difference: string | null }
}

/** The project's settings that a match depends on. Matches made under other settings are not reused. */
export function matchSettingsKey(resolvedKey: ResolvedKey): string {
  return `${resolvedKey.semantic_mode}:${resolvedKey.semantic_policy}:${resolvedKey.semantic_risk}:${resolvedKey.verdict_generation}`
}

/** Whether the judge is asked before a miss, which costs money. Test keys have none: they reach the sandbox only, which judges nothing. */
export function isJudgedInline(resolvedKey: ResolvedKey): boolean {
  if (
    resolvedKey.semantic_judge !== 'inline' ||
    resolvedKey.semantic_judge_model === '' ||
    resolvedKey.key_type === 'test'
  )
    return false
  return resolvedKey.semantic_mode === 'on' && resolvedKey.semantic_policy === 'judged'
}

/** A candidate with a verdict may be served from the judge's floor upwards. */
export function lookupThreshold({ threshold, judgeFloor }: SemanticQuery): number {
  // Just below the floor, because the search is strict and the floor itself counts.
  return judgeFloor === null ? threshold : Math.min(threshold, judgeFloor - 1e-9)
}

/** Whether a row is near enough to be weighed. What a person confirmed is, unless the client itself asks for more similarity. */
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
  /** Whether similarity tells meaning, not only wording. */
  isSemantic = false,
): SelectedCandidate | NoCandidate {
  const candidates = found.filter(row => row.match !== 'exact').toSorted((a, b) => b.similarity - a.similarity)
  const undecided: SimilarMatchRow[] = []
  let apart: MissReason | null = null
  let nearest: NoCandidate['nearest']
  for (const row of candidates) {
    const weighed = weigh(query, row, policy, isSemantic)
    if ('reason' in weighed) return { row, similarity: Math.min(1, row.similarity), ...weighed }
    if (weighed.isUndecided) undecided.push(row)
    if (row.verdict === null) nearest ??= { row, difference: weighed.difference ?? null }
    if (weighed.missReason !== 'below-threshold') apart ??= weighed.missReason
  }
  const missReason = apart ?? (found.length > 0 ? 'below-threshold' : 'no-candidate')
  return { missReason, undecided, ...(nearest && { nearest }) }
}

/**
 * In order of weight: a person's verdict or a negative review, the rules, the judge's verdict. Without a verdict, a candidate must exceed
 * the threshold.
 */
function weigh(
  query: SemanticQuery,
  row: SimilarMatchRow,
  policy: SemanticPolicy,
  isSemantic: boolean,
): { reason: SemanticReason } | { missReason: MissReason; isUndecided?: boolean; difference?: string | null } {
  const { threshold, judgeFloor } = query
  const isOpposed = row.verdict === 'different'
  const failed = policy === 'proved' ? 'unproved' : 'unverified'
  if (isOpposed && row.verdict_source !== 'judge') return { missReason: `${failed}:verdict` }
  const isSimilar = row.similarity > threshold
  if (isSimilar && row.match === 'normalized') return { reason: 'normalized' }
  if (isSimilar && policy === 'threshold') return { reason: 'threshold' }
  const veto = findCandidateVeto(query, row, policy, isSemantic)
  if (isSimilar && veto === null && !isOpposed) return { reason: 'verified' }
  const byPerson = row.verdict_source === 'person'
  if (row.verdict === 'same' && (byPerson || policy === 'judged')) return { reason: 'judged' }
  const isUndecided = row.verdict === null && judgeFloor !== null && row.similarity >= judgeFloor
  return {
    missReason: isSimilar ? `${failed}:${veto ?? 'verdict'}` : 'below-threshold',
    isUndecided,
    difference: veto,
  }
}

/** What speaks against the candidate; null when nothing does. */
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
