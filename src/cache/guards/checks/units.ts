/** Vetoes when a number is in another unit or currency, or in none: "5 mg" is neither "5 g" nor "5". */
import type { Guard, GuardFeatures } from '../guard.ts'
import { onlyBesideNumbers, units as unitNames } from '../lexicon/units.ts'
import type { Token } from '../reading/token.ts'
import { sameBag } from './bags.ts'

export const units: Guard<'units'> = {
  name: 'units',
  differs: ({ asked, cached }) => !sameBag(measuresOf(asked), measuresOf(cached)) || !sameNamed(asked, cached),
}

function measuresOf(features: GuardFeatures): string[] {
  return features.tokens.filter(token => token.unit !== undefined).map(token => `${token.key} ${token.unit}`)
}

/** Units without a number ("how many km …") must agree where both sides name some. */
function sameNamed(asked: GuardFeatures, cached: GuardFeatures): boolean {
  const [one, other] = [namedIn(asked), namedIn(cached)]
  return one.length === 0 || other.length === 0 || sameBag([...new Set(one)], [...new Set(other)])
}

function namedIn(features: GuardFeatures): string[] {
  return features.tokens.flatMap(token => {
    const name = isUnitWord(token) ? unitNames.get(token.key) : undefined
    return name === undefined ? [] : [name]
  })
}

function isUnitWord(token: Token): boolean {
  return (token.kind === 'word' || token.kind === 'symbol') && !onlyBesideNumbers.has(token.key)
}
