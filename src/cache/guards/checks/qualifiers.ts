/** Vetoes when one question alone is narrowed: to a place, a purpose ("for kids"), a version ("Studio Code"). */
import type { Guard, GuardFeatures, Leftover } from '../guard.ts'
import { wordSet } from '../lexicon/word-list.ts'
import { isCapitalised } from '../reading/token.ts'

const narrowing = wordSet(
  'in at for during near by under within inside outside as via using with after before while since against among across per about from',
)
const compass = wordSet('north south east west new old northern southern eastern western upper lower central')

export const qualifiers: Guard<'qualifiers'> = {
  name: 'qualifiers',
  differs: ({ asked, cached, onlyAsked, onlyCached }) =>
    isAllThereIs(onlyAsked, cached) ||
    isAllThereIs(onlyCached, asked) ||
    onlyAsked.some(leftover => narrows(leftover, asked, onlyAsked)) ||
    onlyCached.some(leftover => narrows(leftover, cached, onlyCached)),
}

/** Beside a single word of content, one more makes another subject: "hot dog". */
function isAllThereIs(extra: readonly Leftover[], other: GuardFeatures): boolean {
  if (!extra.some(({ token }) => token.weight === 'content')) return false
  return other.tokens.filter(token => token.weight === 'content').length < 2
}

function narrows(leftover: Leftover, features: GuardFeatures, all: readonly Leftover[]): boolean {
  if (leftover.token.weight !== 'content') return false
  const next = leftover.at + 1
  const endsPhrase = features.tokens[next]?.weight !== 'content' || all.some(({ at }) => at === next)
  return (endsPhrase && followsPreposition(leftover.at, features)) || extendsName(leftover, features, all)
}

/** "… for kids": the word is the first of what the preposition governs, and the rest of it is new too. */
function followsPreposition(at: number, { tokens }: GuardFeatures): boolean {
  if (tokens[at]?.afterPunctuation) return false
  let before = at - 1
  while (/^(?:a|an|the|my|your|our|their)$/.test(tokens[before]?.key ?? '')) before -= 1
  const preposition = tokens[before]?.key ?? ''
  return narrowing.has(preposition) || (preposition === 'to' && before < at - 1)
}

/** A name of its own, or the later part of one ("Visual Studio Code"). "Mumbai, India" and "Donald Trump" say no more than "Mumbai" and "Trump". */
function extendsName({ token, at }: Leftover, features: GuardFeatures, all: readonly Leftover[]): boolean {
  if (features.capitals !== 'prose' || token.opensSentence || token.afterPunctuation || !isCapitalised(token))
    return false
  if (compass.has(token.key)) return true
  const next = features.tokens[at + 1]
  const isForename =
    next !== undefined && isCapitalised(next) && !next.afterPunctuation && !all.some(one => one.at === at + 1)
  return !isForename
}
