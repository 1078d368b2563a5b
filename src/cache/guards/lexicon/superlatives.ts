/** Superlatives, and the words of praise that ask for the same as "best". */
import { wordSet } from './word-list.ts'

const endsLikeOne = wordSet(`
  interest forest contest protest guest latest harvest invest suggest digest honest modest arrest request manifest conquest everest
  behest bequest bucharest budapest molest ingest infest attest detest divest dishonest northwest southwest midwest pinterest
  southeast unrest priest tempest reinvest crest chest quest wrest zest jest nest pest rest test vest west best
`)
const irregular = wordSet('best worst most least')

/** What one may ask for instead of "the best". */
export const praise = wordSet(
  'best good great top nice better favorite favourite most finest greatest excellent recommended ideal perfect',
)

/** Whether a lower-case word is a superlative. */
export function isSuperlative(word: string): boolean {
  return irregular.has(word) || (word.length > 5 && word.endsWith('est') && !endsLikeOne.has(word))
}
