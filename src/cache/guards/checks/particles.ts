/** Vetoes when one verb has another particle: "sign in" is not "sign up". */
import type { Guard, GuardFeatures } from '../guard.ts'

/** Particles by the direction they give; "built on" and "built in" say the same. */
const directions = new Map<string, string>([
  ['in', 'in'],
  ['on', 'in'],
  ['into', 'in'],
  ['onto', 'in'],
  ['up', 'up'],
  ['down', 'down'],
  ['out', 'out'],
  ['off', 'off'],
  ['over', 'over'],
  ['back', 'back'],
  ['away', 'away'],
  ['through', 'through'],
])

export const particles: Guard<'particles'> = {
  name: 'particles',
  differs: ({ asked, cached }) => {
    const there = directionsOf(cached)
    return [...directionsOf(asked)].some(([verb, direction]) => (there.get(verb) ?? direction) !== direction)
  },
}

/** For each verb directly followed by a particle, where that points. */
function directionsOf({ tokens }: GuardFeatures): Map<string, string> {
  const found = new Map<string, string>()
  for (const [at, token] of tokens.entries()) {
    const direction = directions.get(tokens[at + 1]?.key ?? '')
    const base = token.forms.at(-1)
    if (token.kind === 'word' && token.weight !== 'function' && direction !== undefined && base !== undefined)
      found.set(base, direction)
  }
  return found
}
