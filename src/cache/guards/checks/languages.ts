/** Vetoes when one question names a language, or a platform, that the other does not: "in Python" is half of the answer. */
import type { Guard, GuardFeatures } from '../guard.ts'
import { languages as names } from '../lexicon/languages.ts'
import { sameBag } from './bags.ts'

export const languages: Guard<'languages'> = {
  name: 'languages',
  differs: ({ asked, cached }) => !sameBag(languagesOf(asked), languagesOf(cached)),
}

function languagesOf(features: GuardFeatures): string[] {
  const named = new Set<string>()
  for (const token of features.tokens) if (names.has(token.key)) named.add(token.key)
  return [...named]
}
