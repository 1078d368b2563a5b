/** Vetoes when two questions name other things by number, code or variable: "WT-44219" is not "WT-44291". */
import type { Guard, GuardFeatures } from '../guard.ts'
import type { Token } from '../reading/token.ts'
import { sameBag } from './bags.ts'

export const identifiers: Guard<'identifiers'> = {
  name: 'identifiers',
  differs: ({ asked, cached }) =>
    !sameBag(keysOf(asked), keysOf(cached)) || !sameBag(mixedCaseOf(asked, cached), mixedCaseOf(cached, asked)),
}

function keysOf(features: GuardFeatures): string[] {
  return features.tokens.filter(token => token.kind === 'identifier').map(token => token.key)
}

/** Names with capitals inside ("getUserId", "aB3x") that the other side writes with capitals inside too: those must agree. */
function mixedCaseOf(own: GuardFeatures, other: GuardFeatures): string[] {
  const mixed = own.tokens.filter(isMixedCase)
  if (mixed.length === 0) return []
  const others = new Set(other.tokens.filter(isMixedCase).map(token => token.key))
  return mixed.filter(token => others.has(token.key)).map(token => token.raw)
}

function isMixedCase({ kind, raw }: Token): boolean {
  if (kind !== 'identifier' && kind !== 'word') return false
  const firstSmall = raw.search(/\p{Ll}/u)
  if (firstSmall === -1) return false
  return /\p{Lu}/u.test(raw.slice(firstSmall)) || firstSmall > 1
}
