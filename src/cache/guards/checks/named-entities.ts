/** Vetoes when two questions are about other people, places or products by name. */
import type { Guard, GuardFeatures, Leftover } from '../guard.ts'
import { isCapitalised } from '../reading/token.ts'

export const namedEntities: Guard<'named-entities'> = {
  name: 'named-entities',
  differs: ({ asked, cached, onlyAsked, onlyCached }) =>
    onlyAsked.some(one => isName(one, asked)) && onlyCached.some(other => isName(other, cached)),
}

function isName({ token }: Leftover, features: GuardFeatures): boolean {
  return features.capitals === 'prose' && !token.opensSentence && isCapitalised(token)
}
