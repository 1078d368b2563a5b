/** Vetoes when two questions have other numbers: "5" and "five" are one, "5" and "6" are not. */
import type { Guard, GuardFeatures } from '../guard.ts'
import { surplus } from './bags.ts'

export const numbers: Guard<'numbers'> = {
  name: 'numbers',
  differs: ({ asked, cached }) => {
    const extraAsked = surplus(numbersOf(asked), numbersOf(cached))
    const extraCached = surplus(numbersOf(cached), numbersOf(asked))
    return extraAsked.length > countOnes(cached, extraAsked) || extraCached.length > countOnes(asked, extraCached)
  },
}

function numbersOf(features: GuardFeatures): string[] {
  return features.tokens.filter(token => token.kind === 'number').map(token => token.key)
}

/** "One" is a pronoun as often as a number, so it counts only where the other side has a 1. */
function countOnes(features: GuardFeatures, extra: readonly string[]): number {
  return extra.every(key => key === '1') ? features.tokens.filter(token => token.key === 'one').length : 0
}
