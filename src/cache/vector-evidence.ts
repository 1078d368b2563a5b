/** What the embedder can say of candidates besides their similarity: a sentence model also compares single words. */
import { smallestCosine } from '../embedders/alignment.ts'
import type { Account } from '../postgres/admit.ts'
import type { SimilarAnswer } from '../postgres/find-answer.ts'
import { readBeside } from '../text/read-prompt.ts'
import type { SemanticQuery } from './cache-query.ts'
import type { PromptVectors } from './prompt-vectors.ts'
import { isSmallWord } from './verify/question.ts'
import { findVeto } from './verify/verify.ts'

export interface VectorEvidence {
  /** Whether similarity tells meaning, not only wording. */
  readonly isSemantic: boolean
  /** How well the words of a candidate and the question find each other, by entry; null where only whole texts are compared. */
  readonly wordCosines: ReadonlyMap<number, number> | null
}

/** Vectors of wording alone. */
export const LEXICAL: VectorEvidence = { isSemantic: false, wordCosines: null }
/** Words are compared for so many candidates at most. */
const MOST_ALIGNED = 2

/** Never rejects: without an answer in time, a candidate is as if its vectors told wording alone. */
export async function gatherEvidence(
  vectors: PromptVectors,
  account: Account,
  semantic: SemanticQuery,
  candidates: readonly SimilarAnswer[],
): Promise<VectorEvidence> {
  if (vectors.isFree) return LEXICAL
  if (!vectors.alignsWords) return { isSemantic: true, wordCosines: null }
  const { reading, threshold, risk } = semantic
  const close = candidates.filter(({ similarity, prompt }) => {
    const asked = { similarity, threshold, risk, isSemantic: true, smallestWordCosine: null }
    return similarity > threshold && findVeto(reading, readBeside(reading, prompt), asked) === null
  })
  const cosines = await Promise.all(
    close.slice(0, MOST_ALIGNED).map(async ({ entry_id, prompt }) => {
      const alignment = await vectors.align(account, reading.normalized, readBeside(reading, prompt).normalized)
      return alignment && ([entry_id, smallestCosine(alignment, word => !isSmallWord(word))] as const)
    }),
  )
  return { isSemantic: true, wordCosines: new Map(cosines.filter(each => each !== null)) }
}
