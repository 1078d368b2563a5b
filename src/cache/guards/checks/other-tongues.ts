/** Vetoes any difference in what is not English: what these guards know of negations and opposites would not be found there. */
import type { Comparison, Guard, GuardFeatures } from '../guard.ts'
import { isUnspaced } from '../reading/unspaced.ts'

/** Characters that ask or soften and change nothing else. */
const particles = new Set(['吗', '嗎', '呢', '吧', '啊', '呀', '请', '請', '您', '你'])

const otherLetter = /[^\p{Script=Latin}\P{L}]/u
const accentedLetter = /[^\P{L}A-Za-z]/u

export const otherTongues: Guard<'other-tongues'> = {
  name: 'other-tongues',
  differs: comparison => {
    const { asked, cached } = comparison
    return (
      charactersOf(asked) !== charactersOf(cached) || ((isOther(asked) || isOther(cached)) && hasLeftover(comparison))
    )
  },
}

/** In scripts without spaces, one character may negate and words are not told apart here. */
function charactersOf({ tokens }: GuardFeatures): string {
  let characters = ''
  for (const { key } of tokens) if (isUnspaced(key) && !particles.has(key)) characters += key
  return characters
}

function isOther({ tokens, phrase }: GuardFeatures): boolean {
  return otherLetter.test(phrase) || (accentedLetter.test(phrase) && !tokens.some(token => token.weight === 'function'))
}

function hasLeftover({ onlyAsked, onlyCached }: Comparison): boolean {
  return onlyAsked.length + onlyCached.length > 0
}
