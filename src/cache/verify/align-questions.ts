/** Lays the words of two plain questions side by side: which are equal, which stand in place of another. */
import { canBeName, isRegularPlural, lemmasOf } from '../text/lexicon.ts'
import { wordSet } from '../text/words.ts'
import type { ContentWord, ParsedQuestion } from './question.ts'

/** A word of the one text, and the word in its place in the other. */
export type UnequalWords = readonly [string, string]
/** Why two questions cannot be laid side by side. */
export type AlignmentFailure = 'turn' | 'order' | 'inflection' | 'added-words'

/** Pairs of words that differ, in order; or why nothing can be aligned. */
export function alignQuestions(ours: ParsedQuestion, theirs: ParsedQuestion): UnequalWords[] | AlignmentFailure {
  if (ours.tail !== theirs.tail) return 'turn'
  const variants = [theirs.words, ...turned(theirs.words)]
  const equal = [ours.words, ...turned(ours.words)].some((one, at) =>
    variants.some((other, place) => (at === 0 || place === 0) && isSequence(one, other)),
  )
  if (equal) return !(ours.isOfAll && theirs.isOfAll) && mindsNumber(ours.words, theirs.words) ? 'inflection' : []
  return pairUnequal(ours.words, theirs.words)
}

function isSequence(ours: readonly ContentWord[], theirs: readonly ContentWord[]): boolean {
  return (
    ours.length === theirs.length &&
    ours.every((word, at) => isPlacedSame(word, theirs[at]) && isSame(word, theirs[at]))
  )
}

/** Word by word, between equal small words. */
function pairUnequal(ours: readonly ContentWord[], theirs: readonly ContentWord[]): UnequalWords[] | AlignmentFailure {
  if (ours.length !== theirs.length) return 'added-words'
  if (ours.some((word, at) => !isPlacedSame(word, theirs[at]))) return 'turn'
  const unequal = ours.flatMap((word, at) =>
    isSame(word, theirs[at]) ? [] : [[word.text, theirs[at]?.text ?? ''] as const],
  )
  const isMoved = unequal.some(([one]) => unequal.some(([, other]) => one === other))
  return isMoved ? 'order' : unequal
}

/** Between the same small words, and not "a" one and "the" other, "my" and "your". One of them may lack an article; not "my job", "jobs". */
function isPlacedSame(one: ContentWord, other: ContentWord | undefined): boolean {
  if (one.before !== other?.before) return false
  const [ours, theirs] = [one.article, other.article].toSorted()
  return ours === theirs || (ours === '' && (/^(?:a|the)$/.test(theirs ?? '') || one.text === other.text))
}

/** The same with a phrase turned round: "price of gold" and "gold price", "cats and dogs" and "dogs and cats". */
function turned(words: readonly ContentWord[]): ContentWord[][] {
  return words.flatMap(({ before }, at) => {
    const isList = (before === 'and' || before === 'or') && !mindsOrder(words, at)
    const head = words[at - 1]
    if (head === undefined || !head.isNoun || !(isList || (/^(?:of|for|by)$/.test(before) && !keepsPlace(head))))
      return []
    return runStarts(words, at).flatMap(start =>
      runEnds(words, at).map(end => {
        const [first, second] = [words.slice(start, at), words.slice(at, end)]
        const opened = reopen(second, first[0]?.before ?? '')
        return [...words.slice(0, start), ...opened, ...reopen(first, isList ? before : ''), ...words.slice(end)]
      }),
    )
  })
}

/** "The ratio between width and height", "the difference between 9 and 4". */
function mindsOrder(words: readonly ContentWord[], at: number): boolean {
  return (
    words.slice(at - 1, at + 1).some(({ text }) => /\d/.test(text)) ||
    words.slice(0, at).some(({ lemmas }) => lemmas.some(({ word }) => directed.has(word)))
  )
}

const directed = wordSet(
  'ratio proportion quotient fraction percentage division divide subtraction subtract conversion convert exchange order sequence rank ranking transition',
)

/** "A glass of wine" is none for wine; "the University of Miami" is not Miami University. */
function keepsPlace({ text, lemmas }: ContentWord): boolean {
  return /^[A-Z]/.test(text) || lemmas.some(({ word }) => containers.has(word))
}

const containers = wordSet(
  'bag barrel bottle bowl box bucket can carton case cup glass jar mug packet pan pot spoon tank tin tub',
)

function reopen(words: readonly ContentWord[], before: string): ContentWord[] {
  return words.map((word, at) => (at === 0 ? { ...word, before } : word))
}

/** Where the phrase that ends before `at` may begin. */
function runStarts(words: readonly ContentWord[], at: number): number[] {
  const starts = [at - 1]
  while ((starts.at(-1) ?? 0) > 0 && words[starts.at(-1) ?? 0]?.before === '') starts.push((starts.at(-1) ?? 0) - 1)
  return starts
}

/** Where the phrase that begins at `at` may end. */
function runEnds(words: readonly ContentWord[], at: number): number[] {
  const ends = [at + 1]
  while ((ends.at(-1) ?? 0) < words.length && words[ends.at(-1) ?? 0]?.before === '') ends.push((ends.at(-1) ?? 0) + 1)
  return ends
}

/** "The oldest city" is one, "the oldest cities" are several. */
function mindsNumber(ours: readonly ContentWord[], theirs: readonly ContentWord[]): boolean {
  const isSuperlative = ours.some(
    ({ text, before, lemmas }) =>
      / ?\b(?:most|least)$/.test(before) || (text !== 'best' && lemmas.some(({ form }) => form === 'est')),
  )
  const texts = (words: readonly ContentWord[]) =>
    words
      .map(({ text }) => text)
      .toSorted()
      .join(' ')
  return isSuperlative && texts(ours) !== texts(theirs)
}

/** Equal but for number or person. A plural that is a word of its own, a tense or a participle changes the sense. */
function isSame(one: ContentWord, other: ContentWord | undefined): boolean {
  if (!other || one.text === other.text) return other !== undefined
  if (one.text.toLowerCase() === other.text.toLowerCase()) return isLooseName(one.text) && isLooseName(other.text)
  return one.lemmas.some(({ word, kind, form }) =>
    other.lemmas.some(
      each =>
        each.word === word &&
        each.kind === kind &&
        isLoose(form, each.form) &&
        isInflected(one, form, word) &&
        isInflected(other, each.form, word),
    ),
  )
}

/** A name that the lexicon does not have: "Aadhaar", "AADHAAR"; in code, "getId" and "getID" differ. */
function isLooseName(text: string): boolean {
  return (
    /^(?:[A-Z]?[a-z]{2,}|[A-Z]{3,})$/.test(text) &&
    lemmasOf(text.toLowerCase()).length === 0 &&
    !canBeName(text.toLowerCase())
  )
}

function isLoose(form: string, other: string): boolean {
  return (form === 'plain' && other === 's') || (form === 's' && other === 'plain')
}

/** "Customs", "glasses": words of their own. */
function isInflected({ lemmas }: ContentWord, form: string, base: string): boolean {
  return form === 'plain' || lemmas.every(lemma => lemma.form !== 'plain' || isRegularPlural(lemma.word, base))
}
