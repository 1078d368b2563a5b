/** Vetoes when something belongs to another: "my wife's brother", "my brother's wife". */
import type { Guard, GuardFeatures } from '../guard.ts'
import type { Token } from '../reading/token.ts'

export const possession: Guard<'possession'> = {
  name: 'possession',
  differs: ({ asked, cached }) =>
    isTurned(asked, cached) || isTurned(cached, asked) || isUndone(asked, cached) || isUndone(cached, asked),
}

/** X's Y is Y of X, and is not Y's X. */
function isTurned(own: GuardFeatures, other: GuardFeatures): boolean {
  const pairs = pairsOf(own)
  if (pairs.length === 0) return false
  const others = new Set(pairsOf(other).map(([owner, owned]) => `${owner} ${owned}`))
  return pairs.some(([owner, owned]) => others.has(`${owned} ${owner}`) && !others.has(`${owner} ${owned}`))
}

/** "My manager's salary" against "managers … my salary": both words are there, but not together. */
function isUndone(own: GuardFeatures, other: GuardFeatures): boolean {
  return pairsOf(own, false).some(([owner, owned]) => {
    if (!other.forms.has(owner) || !other.forms.has(owned)) return false
    const things = other.tokens.filter(token => token.weight !== 'function')
    return !things.some((thing, at) => {
      const next = things[at + 1]
      return next !== undefined && ((is(thing, owner) && is(next, owned)) || (is(thing, owned) && is(next, owner)))
    })
  })
}

function pairsOf({ tokens }: GuardFeatures, withOf = true): Array<[owner: string, owned: string]> {
  const pairs: Array<[string, string]> = []
  for (const [at, token] of tokens.entries()) {
    const [before, next] = [tokens[at - 1], tokens[at + 1]]
    if (token.weight !== 'function' && token.key.endsWith("'s") && next !== undefined && next.weight !== 'function') {
      pairs.push([baseOf(token), baseOf(next)])
    }
    if (!withOf || token.key !== 'of' || before === undefined) continue
    const owner = tokens.slice(at + 1, at + 4).find(thing => thing.weight !== 'function')
    if (owner !== undefined) pairs.push([baseOf(owner), baseOf(before)])
  }
  return pairs
}

function baseOf(token: Token): string {
  return token.forms.at(-1)?.replace(/'s$/, '') ?? token.key
}

function is(token: Token, base: string): boolean {
  return token.forms.includes(base)
}
