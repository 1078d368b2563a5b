/** Vetoes when two questions have other operators or signs, or other brackets around numbers: `a < b` is not `a > b`. */
import type { Guard, GuardFeatures } from '../guard.ts'

export const symbols: Guard<'symbols'> = {
  name: 'symbols',
  differs: ({ asked, cached }) => symbolsOf(asked) !== symbolsOf(cached) || asked.formula !== cached.formula,
}

/** In order, for that decides between "2 + 3 × 4" and "2 × 3 + 4". */
function symbolsOf(features: GuardFeatures): string {
  return features.tokens
    .filter(token => token.kind === 'symbol')
    .map(token => token.key)
    .join(' ')
}
