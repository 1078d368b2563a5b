/** Asks every guard, in order, whether a cached answer could be wrong for a new question. */
import { action } from './checks/action.ts'
import { antonyms } from './checks/antonyms.ts'
import { code } from './checks/code.ts'
import { content } from './checks/content.ts'
import { courtesy } from './checks/courtesy.ts'
import { direction } from './checks/direction.ts'
import { identifiers } from './checks/identifiers.ts'
import { languages } from './checks/languages.ts'
import { letterCase } from './checks/letter-case.ts'
import { links } from './checks/links.ts'
import { longText } from './checks/long-text.ts'
import { modality } from './checks/modality.ts'
import { namedEntities } from './checks/named-entities.ts'
import { negation } from './checks/negation.ts'
import { numbers } from './checks/numbers.ts'
import { otherTongues } from './checks/other-tongues.ts'
import { particles } from './checks/particles.ts'
import { possession } from './checks/possession.ts'
import { pronouns } from './checks/pronouns.ts'
import { qualifiers } from './checks/qualifiers.ts'
import { questionKind } from './checks/question-kind.ts'
import { quotes } from './checks/quotes.ts'
import { restrictions } from './checks/restrictions.ts'
import { symbols } from './checks/symbols.ts'
import { tense } from './checks/tense.ts'
import { units } from './checks/units.ts'
import { wordOrder } from './checks/word-order.ts'
import { compare } from './compare.ts'
import type { GuardFeatures } from './guard.ts'

/** All guards, the most particular first, so that a veto names the plainest reason. To add one, write its file and list it. */
const guards = [
  action,
  code,
  quotes,
  courtesy,
  links,
  identifiers,
  symbols,
  numbers,
  units,
  letterCase,
  languages,
  negation,
  antonyms,
  particles,
  questionKind,
  modality,
  pronouns,
  tense,
  restrictions,
  otherTongues,
  direction,
  possession,
  wordOrder,
  namedEntities,
  content,
  qualifiers,
  longText,
] as const

/** The guard that spoke against serving a cached answer. */
export type VetoReason = (typeof guards)[number]['name']

/**
 * The first reason not to serve the answer to `cached` for `asked`, or null when no guard has one. To be asked for every
 * candidate, however similar, also when the normalized texts are equal: capitals, say, are gone from those.
 */
export function findVeto(asked: GuardFeatures, cached: GuardFeatures): VetoReason | null {
  const comparison = compare(asked, cached)
  return guards.find(guard => guard.differs(comparison))?.name ?? null
}
