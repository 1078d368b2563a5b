/** Vetoes when a word of one question stands against its opposite, or a rival, in the other. */
import type { Comparison, Guard, GuardFeatures } from '../guard.ts'
import { rivalFunctionWords, antonyms as rivals } from '../lexicon/antonyms.ts'
import { areRivals } from '../lexicon/word-list.ts'
import type { Token } from '../reading/token.ts'

export const antonyms: Guard<'antonyms'> = {
  name: 'antonyms',
  differs: comparison => swapsContent(comparison) || swapsStructure(comparison),
}

function swapsContent({ asked, cached }: Comparison): boolean {
  const here = unmatched(asked, cached)
  const there = unmatched(cached, asked)
  return here.some(one => there.some(other => areOpposites(one, other)))
}

/** Synonyms do not excuse a rival here ("clear" may stand for "settle"), so words are looked up as they are. */
function unmatched(own: GuardFeatures, other: GuardFeatures): Token[] {
  const missing = own.tokens.filter(
    token => token.kind === 'word' && token.weight !== 'function' && !token.forms.some(form => other.forms.has(form)),
  )
  return missing.slice(0, 32)
}

function areOpposites(one: Token, other: Token): boolean {
  return one.forms.some(form => other.forms.some(otherForm => areRivals(rivals, form, otherForm)))
}

function swapsStructure({ asked, cached }: Comparison): boolean {
  const here = structureOf(asked, cached)
  if (here.length === 0) return false
  const there = structureOf(cached, asked)
  return here.some(one => there.some(other => areRivals(rivalFunctionWords, one, other)))
}

function structureOf(own: GuardFeatures, other: GuardFeatures): string[] {
  const words = new Set<string>()
  for (const { key } of own.tokens) if (rivalFunctionWords.has(key) && !other.forms.has(key)) words.add(key)
  return [...words]
}
