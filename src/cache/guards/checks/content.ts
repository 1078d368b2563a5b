/** Vetoes when words of content were exchanged: something stands on each side that the other has no word for. */
import type { Comparison, Guard, GuardFeatures, Leftover } from '../guard.ts'
import type { Token } from '../reading/token.ts'

export const content: Guard<'content'> = {
  name: 'content',
  differs: comparison => swapsContent(comparison) || swapsInPlace(comparison),
}

function swapsContent({ onlyAsked, onlyCached }: Comparison): boolean {
  return onlyAsked.some(isContent) && onlyCached.some(isContent)
}

function isContent({ token }: Leftover): boolean {
  return token.weight === 'content'
}

/** General words count too when they stand between the same neighbours: "get a loan", "give a loan". */
function swapsInPlace({ asked, cached, onlyAsked, onlyCached }: Comparison): boolean {
  return onlyAsked.some(one => onlyCached.some(other => haveSameNeighbours(one.at, asked, other.at, cached)))
}

function haveSameNeighbours(at: number, asked: GuardFeatures, otherAt: number, cached: GuardFeatures): boolean {
  return [-1, 1].every(step => areSame(neighbour(asked, at, step), neighbour(cached, otherAt, step)))
}

/** The next word of content in a direction. */
function neighbour(features: GuardFeatures, at: number, step: number): Token | undefined {
  let next = at + step
  while (features.tokens[next]?.weight === 'function') next += step
  return features.tokens[next]
}

function areSame(one: Token | undefined, other: Token | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.forms.some(form => other.forms.includes(form))
}
