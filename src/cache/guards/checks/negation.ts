/** Vetoes when one question denies what the other asserts, or when they deny different things. */
import type { Comparison, Guard, GuardFeatures } from '../guard.ts'
import { basesOf, countForeignNegations, findNegations } from '../reading/negations.ts'
import type { Token } from '../reading/token.ts'

export const negation: Guard<'negation'> = {
  name: 'negation',
  differs: comparison => {
    const { asked, cached } = comparison
    const here = findNegations(asked.tokens)
    const there = findNegations(cached.tokens)
    if ((here.length + there.length + countPrefixFlips(comparison)) % 2 === 1) return true
    if (countForeignNegations(asked.tokens) !== countForeignNegations(cached.tokens)) return true
    return deniesOther(asked, here, cached, there)
  },
}

/** "Unavailable" against "available" turns the meaning as "not" does. */
function countPrefixFlips({ asked, cached }: Comparison): number {
  return flipsIn(asked, cached) + flipsIn(cached, asked)
}

function flipsIn(own: GuardFeatures, other: GuardFeatures): number {
  return own.tokens.filter(token => {
    if (token.kind !== 'word' || token.forms.some(form => other.forms.has(form))) return false
    return token.forms.some(form => basesOf(form).some(base => other.forms.has(base) && !own.forms.has(base)))
  }).length
}

/** One "not" on both sides, before words that both sides have: it must be the same word. */
function deniesOther(
  asked: GuardFeatures,
  here: readonly number[],
  cached: GuardFeatures,
  there: readonly number[],
): boolean {
  const [one, other] = [deniedBy(asked, here), deniedBy(cached, there)]
  if (one === undefined || other === undefined || one.forms.some(form => other.forms.includes(form))) return false
  return one.forms.some(form => cached.forms.has(form)) && other.forms.some(form => asked.forms.has(form))
}

/** The word after a lone negation; none for "don't" and its kind, which stand before the subject in questions. */
function deniedBy(features: GuardFeatures, negations: readonly number[]): Token | undefined {
  const [at] = negations
  if (at === undefined || negations.length > 1 || features.tokens[at]?.key.includes("'")) return undefined
  return features.tokens.slice(at + 1, at + 6).find(token => token.weight !== 'function')
}
