/** Vetoes when one question alone is limited by "only" or reaches for an extreme ("cheapest"): the rest has another answer. */
import type { Comparison, Guard, GuardFeatures } from '../guard.ts'
import { isSuperlative, praise } from '../lexicon/superlatives.ts'

const limits = ['only', 'solely', 'exclusively', 'alone']

export const restrictions: Guard<'restrictions'> = {
  name: 'restrictions',
  differs: comparison => limitsOne(comparison) || reachesFurther(comparison.asked, comparison.cached),
}

function limitsOne({ asked, cached }: Comparison): boolean {
  return limits.some(limit => asked.forms.has(limit) !== cached.forms.has(limit))
}

/** "The best" is "good" or "top" in other words; "the cheapest" is not just "cheap". */
function reachesFurther(asked: GuardFeatures, cached: GuardFeatures): boolean {
  const here = superlativesOf(asked)
  const there = superlativesOf(cached)
  if (here.length > 0 && there.length > 0) return false
  const [extreme, plain] = here.length > 0 ? [here, cached] : [there, asked]
  return extreme.some(word => !(praise.has(word) && plain.tokens.some(token => praise.has(token.key))))
}

/** "The best way to" is a way to say "how to". */
function superlativesOf({ tokens }: GuardFeatures): string[] {
  return tokens
    .filter((token, at) => isSuperlative(token.key) && !(token.key === 'best' && isWay(tokens[at + 1]?.key)))
    .map(token => token.key)
}

function isWay(key: string | undefined): boolean {
  return key !== undefined && /^(?:ways?|methods?|approach(?:es)?|place)$/.test(key)
}
