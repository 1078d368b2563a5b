/** Which stored response may be served for a question in other words: what is not shown to be the same is not served. */
import type { Account } from '../postgres/admit.ts'
import type { FoundAnswer, SimilarAnswer } from '../postgres/find-answer.ts'
import { readPrompt } from '../text/read-prompt.ts'
import type { SemanticQuery } from './cache-query.ts'
import type { MissReason, SemanticReason } from './match.ts'
import { prove } from './proof/prove.ts'

/** `proved`: only with proof. `threshold`: similarity alone. */
export type SemanticPolicy = 'proved' | 'threshold'

export type Picked = { row: SimilarAnswer; reason: SemanticReason; similarity: number } | { missReason: MissReason }

export function policyOf(account: Account): SemanticPolicy {
  return account.semantic_guards ? 'proved' : 'threshold'
}

/** The most similar candidate that may be served, or why none may. */
export function pickCandidate(
  { reading, threshold }: SemanticQuery,
  found: readonly FoundAnswer[],
  policy: SemanticPolicy,
): Picked {
  const candidates = found
    .filter(row => row.match !== 'exact')
    .filter(({ similarity }) => similarity > threshold)
    .toSorted((a, b) => b.similarity - a.similarity)
  let unproved: MissReason | null = null
  for (const row of candidates) {
    const similarity = Math.min(1, row.similarity)
    if (policy === 'threshold')
      return { row, reason: row.match === 'normalized' ? 'normalized' : 'threshold', similarity }
    const proof = prove(reading, readPrompt(row.prompt))
    if (proof.proved) return { row, reason: row.match === 'normalized' ? 'normalized' : 'proved', similarity }
    unproved ??= `unproved:${proof.kind}`
  }
  return { missReason: unproved ?? (found.length > 0 ? 'below-threshold' : 'no-candidate') }
}
