/** Vetoes when capitals alone tell two words apart: "US" and "us", "Polish" and "polish". */
import type { Guard, GuardFeatures } from '../guard.ts'
import { commonOrProper } from '../lexicon/letter-case.ts'
import { isAcronym, isCapitalised, type Token } from '../reading/token.ts'

export const letterCase: Guard<'letter-case'> = {
  name: 'letter-case',
  differs: ({ asked, cached }) => {
    if (asked.capitals === 'all' || cached.capitals === 'all') return false
    return [...ambiguousIn(asked)].some(key => {
      const [one, other] = [spellingsOf(key, asked), spellingsOf(key, cached)]
      return one.size > 0 && other.size > 0 && ![...one].some(spelling => other.has(spelling))
    })
  },
}

function ambiguousIn(features: GuardFeatures): Set<string> {
  return new Set(features.tokens.map(token => token.key.toLowerCase()).filter(key => commonOrProper.has(key)))
}

/** How a word is capitalised, where that says something: nothing does at the start of a sentence, in titles, or without any capitals. */
function spellingsOf(key: string, features: GuardFeatures): Set<string> {
  const spellings = new Set<string>()
  for (const token of features.tokens) {
    const spelling = token.key.toLowerCase() === key ? spellingOf(token, features) : undefined
    if (spelling !== undefined) spellings.add(spelling)
  }
  return spellings
}

function spellingOf(token: Token, features: GuardFeatures): string | undefined {
  if (isAcronym(token)) return 'acronym'
  if (token.key.length <= 3) return 'lower'
  if (token.opensSentence || features.capitals !== 'prose') return undefined
  return isCapitalised(token) ? 'name' : 'lower'
}
