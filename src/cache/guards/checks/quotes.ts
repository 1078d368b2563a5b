/** Vetoes when a quoted string of one question is not in the other, letter for letter if it is quoted there too. */
import type { Guard, GuardFeatures } from '../guard.ts'
import { surplus } from './bags.ts'

export const quotes: Guard<'quotes'> = {
  name: 'quotes',
  differs: ({ asked, cached }) =>
    surplus(asked.quotes, cached.quotes).some(quote => !isPhraseOf(cached, quote)) ||
    surplus(cached.quotes, asked.quotes).some(quote => !isPhraseOf(asked, quote)),
}

/** "garage sales" may stand without its marks, but not with other capitals inside marks. */
function isPhraseOf(features: GuardFeatures, quote: string): boolean {
  const lower = quote.toLowerCase()
  if (features.quotes.some(other => other.toLowerCase() === lower)) return false
  const words = lower.match(/[\p{L}\p{M}\p{N}'+#]+/gu)
  return words !== null && features.phrase.includes(` ${words.join(' ')} `)
}
