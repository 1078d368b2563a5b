/** Vetoes when one question alone is limited ("only"), reaches for an extreme ("cheapest"), or wants its answer in some form. */
import type { Comparison, Guard, GuardFeatures } from '../guard.ts'
import { isSuperlative, praise } from '../lexicon/superlatives.ts'
import { wordSet } from '../lexicon/word-list.ts'

const outputForms = wordSet(
  'briefly concisely succinctly detailed json xml yaml csv markdown bullet paragraph sentence essay poem haiku sonnet limerick tweet pseudocode eli5 formally informally',
)
const limits = ['only', 'solely', 'exclusively', 'alone']

export const restrictions: Guard<'restrictions'> = {
  name: 'restrictions',
  differs: comparison =>
    limitsOne(comparison) || !sameForms(comparison) || reachesFurther(comparison.asked, comparison.cached),
}

function limitsOne({ asked, cached }: Comparison): boolean {
  return limits.some(limit => asked.forms.has(limit) !== cached.forms.has(limit))
}

/** "As JSON", "in one sentence", "briefly": the same matter in another form is another answer. */
function sameForms({ asked, cached }: Comparison): boolean {
  return [...outputForms].every(form => asked.forms.has(form) === cached.forms.has(form))
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
