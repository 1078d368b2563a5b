/** Vetoes when two questions have other operators or signs: `a < b` is not `a > b`. */
import type { Guard, GuardFeatures } from '../guard.ts'
import { sameBag } from './bags.ts'

export const symbols: Guard<'symbols'> = {
  name: 'symbols',
  differs: ({ asked, cached }) => !sameBag(symbolsOf(asked), symbolsOf(cached)),
}

function symbolsOf(features: GuardFeatures): string[] {
  return features.tokens.filter(token => token.kind === 'symbol').map(token => token.key)
}
