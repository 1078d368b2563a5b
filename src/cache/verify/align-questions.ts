/** Aligns the words of two plain questions, and finds the words that differ. */
import { canBeProperNoun, isRegularPlural, lemmasOf } from '../text/lexicon.ts'
import { wordSet } from '../text/words.ts'
import type { ContentWord, ParsedQuestion } from './question.ts'

/** A word of one text, and the word at its position in the other. */
export type UnequalWords = readonly [string, string]
/** The reason why two questions cannot be aligned. */
export type AlignmentFailure = 'turn' | 'order' | 'inflection' | 'added-words'

/** Returns the pairs of words that differ, in order, or the reason why the questions cannot be aligned. */
export function alignQuestions(ours: ParsedQuestion, theirs: ParsedQuestion): UnequalWords[] | AlignmentFailure {
  if (ours.tail !== theirs.tail) return 'turn'
  const variants = [theirs.words, ...reorderPhrases(theirs.words)]
  const equal = [ours.words, ...reorderPhrases(ours.words)].some((one, at) =>
    variants.some((other, place) => (at === 0 || place === 0) && isSequence(one, other)),
  )
  if (equal)
    return !(ours.coversAllTime && theirs.coversAllTime) && isNumberSensitive(ours.words, theirs.words)
      ? 'inflection'
      : []
  return pairUnequal(ours.words, theirs.words)
}

function isSequence(ours: readonly ContentWord[], theirs: readonly ContentWord[]): boolean {
  return (
    ours.length === theirs.length &&
    ours.every((word, at) => haveSameContext(word, theirs[at]) && isSame(word, theirs[at]))
  )
}

/** Pairs unequal words by position. The small words must be equal. */
function pairUnequal(ours: readonly ContentWord[], theirs: readonly ContentWord[]): UnequalWords[] | AlignmentFailure {
  if (ours.length !== theirs.length) return 'added-words'
  if (ours.some((word, at) => !haveSameContext(word, theirs[at]))) return 'turn'
  const unequal = ours.flatMap((word, at) =>
    isSame(word, theirs[at]) ? [] : [[word.text, theirs[at]?.text ?? ''] as const],
  )
  const isMoved = unequal.some(([one]) => unequal.some(([, other]) => one === other))
  return isMoved ? 'order' : unequal
}

/** Returns whether both words have the same small words and compatible articles. One may lack an article. "A" and "the", or "my" and none, differ. */
function haveSameContext(one: ContentWord, other: ContentWord | undefined): boolean {
  if (one.before !== other?.before) return false
  const [ours, theirs] = [one.article, other.article].toSorted()
  return ours === theirs || (ours === '' && (/^(?:a|the)$/.test(theirs ?? '') || one.text === other.text))
}

/** Returns variants with phrases reordered: "price of gold" and "gold price", "cats and dogs" and "dogs and cats". */
function reorderPhrases(words: readonly ContentWord[]): ContentWord[][] {
  return words.flatMap(({ before }, at) => {
    const isList = (before === 'and' || before === 'or') && !isOrderSensitive(words, at)
    const head = words[at - 1]
    if (head === undefined || !head.isNoun || !(isList || (/^(?:of|for|by)$/.test(before) && !isFixedPhrase(head))))
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

/** Returns whether the order of a list matters: "the ratio between width and height", "the difference between 9 and 4". */
function isOrderSensitive(words: readonly ContentWord[], at: number): boolean {
  return (
    words.slice(at - 1, at + 1).some(({ text }) => /\d/.test(text)) ||
    words.slice(0, at).some(({ lemmas }) => lemmas.some(({ word }) => directed.has(word)))
  )
}

const directed = wordSet(
  'ratio proportion quotient fraction percentage division divide subtraction subtract conversion convert exchange order sequence rank ranking transition',
)

/** Returns whether the phrase must not be reordered: "a glass of wine" is not a wine glass. */
function isFixedPhrase({ text, lemmas }: ContentWord): boolean {
  return /^[A-Z]/.test(text) || lemmas.some(({ word }) => containers.has(word))
}

const containers = wordSet(
  'bag barrel bottle bowl box bucket can carton case cup glass jar mug packet pan pot spoon tank tin tub',
)

function reopen(words: readonly ContentWord[], before: string): ContentWord[] {
  return words.map((word, at) => (at === 0 ? { ...word, before } : word))
}

/** Returns the possible starts of the phrase that ends before `at`. */
function runStarts(words: readonly ContentWord[], at: number): number[] {
  const starts = [at - 1]
  while ((starts.at(-1) ?? 0) > 0 && words[starts.at(-1) ?? 0]?.before === '') starts.push((starts.at(-1) ?? 0) - 1)
  return starts
}

/** Returns the possible ends of the phrase that begins at `at`. */
function runEnds(words: readonly ContentWord[], at: number): number[] {
  const ends = [at + 1]
  while ((ends.at(-1) ?? 0) < words.length && words[ends.at(-1) ?? 0]?.before === '') ends.push((ends.at(-1) ?? 0) + 1)
  return ends
}

/** Returns whether grammatical number matters: "the oldest city" is one, "the oldest cities" are several. */
function isNumberSensitive(ours: readonly ContentWord[], theirs: readonly ContentWord[]): boolean {
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

/** Returns whether the words are equal except for number or person. A tense, a participle or a plural with its own meaning differs. */
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

/** Returns whether a word is a name that the lexicon does not contain: "Aadhaar", "AADHAAR". In code, "getId" and "getID" differ. */
function isLooseName(text: string): boolean {
  return (
    /^(?:[A-Z]?[a-z]{2,}|[A-Z]{3,})$/.test(text) &&
    lemmasOf(text.toLowerCase()).length === 0 &&
    !canBeProperNoun(text.toLowerCase())
  )
}

function isLoose(form: string, other: string): boolean {
  return (form === 'plain' && other === 's') || (form === 's' && other === 'plain')
}

/** Returns whether a plural is a separate word: "customs", "glasses". */
function isInflected({ lemmas }: ContentWord, form: string, base: string): boolean {
  return form === 'plain' || lemmas.every(lemma => lemma.form !== 'plain' || isRegularPlural(lemma.word, base))
}
