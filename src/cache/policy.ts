/** Decides which stored response may be served for a question in other words. Without evidence that the two ask the same, none is. */
import type { Account } from '../postgres/admit.ts'
import type { FoundAnswer, SimilarAnswer } from '../postgres/find-answer.ts'
import { readBeside } from '../text/read-prompt.ts'
import type { SemanticQuery } from './cache-query.ts'
import type { MissReason, SemanticReason } from './match.ts'
import { prove } from './proof/prove.ts'

/** `proved`: only with proof. `judged`: also when the judge or a person confirmed it. `threshold`: similarity alone. */
export type SemanticPolicy = Account['semantic_policy']

export interface PickedMatch {
  row: SimilarAnswer
  reason: SemanticReason
  similarity: number
}

export interface NonePicked {
  missReason: MissReason
  /** Candidates that a judge might confirm, the most similar first. */
  undecided: readonly SimilarAnswer[]
  /** The most similar candidate without a verdict, and the kind of difference that prevents a match, if one does. */
  nearest?: { row: SimilarAnswer; difference: string | null }
}

/** The project's settings that a match depends on. Matches made under other settings are not reused. */
export function matchSettings(account: Account): string {
  return `${account.semantic_mode}:${account.semantic_policy}:${account.verdict_generation}`
}

/** A candidate with a verdict may be served from the judge's floor upwards. */
export function lookupThreshold({ threshold, judgeFloor }: SemanticQuery): number {
  // Just below the floor, because the search is strict and the floor itself counts.
  return judgeFloor === null ? threshold : Math.min(threshold, judgeFloor - 1e-9)
}

/** Returns the most similar candidate that may be served, or why none may. */
export function pickCandidate(
  query: SemanticQuery,
  found: readonly FoundAnswer[],
  policy: SemanticPolicy,
): PickedMatch | NonePicked {
  const candidates = found.filter(row => row.match !== 'exact').toSorted((a, b) => b.similarity - a.similarity)
  const undecided: SimilarAnswer[] = []
  let apart: MissReason | null = null
  let nearest: NonePicked['nearest']
  for (const row of candidates) {
    const weighed = weigh(query, row, policy)
    if ('reason' in weighed) return { row, similarity: Math.min(1, row.similarity), ...weighed }
    if (weighed.isUndecided) undecided.push(row)
    if (row.verdict === null) nearest ??= { row, difference: weighed.difference ?? null }
    if (weighed.missReason !== 'below-threshold') apart ??= weighed.missReason
  }
  const missReason = apart ?? (found.length > 0 ? 'below-threshold' : 'no-candidate')
  return { missReason, undecided, ...(nearest && { nearest }) }
}

/**
 * In order of weight: a person's verdict or a negative review, proof, the judge's verdict. Without a verdict, a
 * candidate must exceed the threshold.
 */
function weigh(
  { reading, threshold, judgeFloor }: SemanticQuery,
  row: SimilarAnswer,
  policy: SemanticPolicy,
): { reason: SemanticReason } | { missReason: MissReason; isUndecided?: boolean; difference?: string | null } {
  const byPerson = row.verdict_source === 'person'
  if (row.verdict === 'different' && row.verdict_source !== 'judge') return { missReason: 'unproved:verdict' }
  const isSimilar = row.similarity > threshold
  const ground = row.match === 'normalized' ? 'normalized' : null
  if (policy === 'threshold' && isSimilar) return { reason: ground ?? 'threshold' }
  const proof = prove(reading, readBeside(reading, row.prompt))
  if (isSimilar && proof.proved && policy !== 'threshold') return { reason: ground ?? 'proved' }
  if (row.verdict === 'same' && (byPerson || policy === 'judged')) return { reason: 'judged' }
  const isUndecided = row.verdict === null && judgeFloor !== null && row.similarity >= judgeFloor
  const difference = proof.proved ? null : proof.kind
  return {
    missReason: isSimilar && difference !== null ? `unproved:${difference}` : 'below-threshold',
    isUndecided,
    difference,
  }
}
