/** Vetoes any difference in content between long texts: there a changed word hardly moves a vector, and may change everything. */
import type { Guard, GuardFeatures } from '../guard.ts'
import type { Token } from '../reading/token.ts'

/** From this many words of content on, a text is no question but a document with one. */
const longAfterWords = 60

export const longText: Guard<'long-text'> = {
  name: 'long-text',
  differs: ({ asked, cached }) => {
    const [here, there] = [thingsOf(asked), thingsOf(cached)]
    if (Math.max(here.length, there.length) <= longAfterWords) return false
    return here.length !== there.length || !here.every((thing, at) => isSame(thing, there[at]))
  },
}

function thingsOf({ tokens }: GuardFeatures): Token[] {
  return tokens.filter(token => token.weight !== 'function')
}

function isSame(one: Token, other: Token | undefined): boolean {
  return other !== undefined && one.forms.some(form => other.forms.includes(form))
}
