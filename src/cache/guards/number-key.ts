/** The numbers of a question as one text, so that questions about other numbers need not even be compared. */
import type { GuardFeatures } from './guard.ts'

/**
 * Two questions whose keys differ would be vetoed by the numbers guard. Not the other way round: 1 is left out, because that
 * guard takes it for the pronoun "one" at times.
 */
export function numberKey({ tokens }: GuardFeatures): string {
  const numbers = tokens.filter(token => token.kind === 'number' && token.key !== '1').map(token => token.key)
  return numbers.sort().join(' ')
}
