/** Decides whether two similar questions in plain prose ask the same: no veto speaks against it, and every content word has its partner. */
import { lemmasOf, mayBeName, relationOf } from '../../text/lexicon.ts'
import type { PromptReading } from '../../text/read-prompt.ts'
import { type ContentWord, type Plainness, type Question, readQuestion } from './question.ts'

/** How much a project risks: which differences of words may be explained, and by what. */
export type SemanticRisk = 'careful' | 'balanced' | 'generous'

/** What is known of a pair besides its texts. */
export interface Evidence {
  readonly similarity: number
  readonly threshold: number
  readonly risk: SemanticRisk
  /** Whether the vectors tell meaning, not only wording: then a word without an equal partner may be explained by them. */
  readonly isSemantic: boolean
  /** How well the words' own vectors find each other; null without such vectors. */
  readonly smallestWordCosine: number | null
}

/** Why a pair is not served: what speaks against it. */
export type Veto =
  | 'prose'
  | 'wording'
  | 'short'
  | 'question'
  | 'turn'
  | 'order'
  | 'opposite'
  | 'neighbour'
  | 'letter-case'
  | 'inflection'
  | 'added-words'
  | 'words'

const questions = new WeakMap<PromptReading, Question | Plainness>()

/** A plain question, read once; or why it is none. */
export function questionOf(reading: PromptReading): Question | Plainness {
  const known = questions.get(reading)
  if (known) return known
  const question = reading.isProse ? readQuestion(reading.normalized) : 'prose'
  questions.set(reading, question)
  return question
}

/** Whether other words may ask the same; else only its own normal form does. */
export function isPlainQuestion(reading: PromptReading): boolean {
  return typeof questionOf(reading) !== 'string'
}

/** Null when the two ask the same; else what speaks against it. Symmetric. The similarity must exceed the threshold besides. */
export function findVeto(asked: PromptReading, cached: PromptReading, evidence: Evidence): Veto | null {
  const [ours, theirs] = [questionOf(asked), questionOf(cached)]
  if (typeof ours === 'string') return typeof theirs === 'string' && theirs < ours ? theirs : ours
  if (typeof theirs === 'string') return theirs
  if (ours.frame !== theirs.frame) return 'question'
  const unequal = alignQuestions(ours, theirs)
  if (typeof unequal === 'string') return unequal
  return explain(unequal, Math.min(ours.words.length, theirs.words.length), evidence)
}

type UnequalPair = readonly [string, string]
const FEWEST_WORDS = 2
const FEWEST_TO_EXPLAIN = 3

/** What speaks against words without an equal partner. */
function explain(unequal: readonly UnequalPair[], count: number, evidence: Evidence): Veto | null {
  if (unequal.length === 0) return count < FEWEST_WORDS ? 'short' : null
  if (unequal.some(([one, other]) => one === '' || other === '')) return 'added-words'
  if (unequal.some(([one, other]) => one.toLowerCase() === other.toLowerCase())) return 'letter-case'
  if (unequal.some(([one, other]) => sharesRoot(one, other))) return 'inflection'
  const bases = unequal.map(([one, other]) => [baseOf(one), baseOf(other)] as const)
  const relations = bases.map(([one, other]) => relationOf(one, other))
  if (relations.includes('opposite')) return 'opposite'
  if (evidence.risk === 'careful' || count < FEWEST_TO_EXPLAIN) return 'words'
  if (relations.every(relation => relation === 'synonym')) return null
  return relations.includes('neighbour') ? 'neighbour' : 'words'
}

/** Two forms of one word that are not the same: another tense, or a plural with a sense of its own. */
function sharesRoot(one: string, other: string): boolean {
  const ours = new Set(lemmasOf(one.toLowerCase()).map(({ word }) => word))
  return lemmasOf(other.toLowerCase()).some(({ word }) => ours.has(word))
}

function baseOf(word: string): string {
  const lower = word.toLowerCase()
  return lemmasOf(lower)[0]?.word ?? lower
}

/** Pairs of words that differ, in order; or why nothing can be aligned. */
function alignQuestions(ours: Question, theirs: Question): UnequalPair[] | Veto {
  if (ours.tail !== theirs.tail) return 'turn'
  if (isJoined(ours.words, theirs.words)) return []
  const variants = [theirs.words, ...turned(theirs.words)]
  const equal =
    isSequence(ours.words, theirs.words, isPlacedAlike) ||
    [ours.words, ...turned(ours.words)].some((one, at) =>
      variants.some((other, place) => (at === 0 || place === 0) && isSequence(one, other, isPlacedSame)),
    )
  if (equal) return !(ours.isOfAll && theirs.isOfAll) && mindsNumber(ours.words, theirs.words) ? 'inflection' : []
  return pairUnequal(ours.words, theirs.words)
}

/** One word in one text, two in the other: "moveset", "move set". */
function isJoined(ours: readonly ContentWord[], theirs: readonly ContentWord[]): boolean {
  const join = (words: readonly ContentWord[]) => words.map(({ text, before }) => before + text).join('')
  const isCompound = [...ours, ...theirs].filter(
    ({ text }) => ![ours, theirs].every(words => words.some(each => each.text === text)),
  )
  return (
    ours.length !== theirs.length &&
    join(ours) === join(theirs) &&
    isCompound.some(({ text, lemmas }) => lemmas.length === 0 && /^[a-z]+$/.test(text))
  )
}

function isSequence(
  ours: readonly ContentWord[],
  theirs: readonly ContentWord[],
  isPlaced: (one: ContentWord, other: ContentWord | undefined) => boolean,
): boolean {
  return (
    ours.length === theirs.length && ours.every((word, at) => isPlaced(word, theirs[at]) && isSame(word, theirs[at]))
  )
}

/** Word by word, between equal small words. */
function pairUnequal(ours: readonly ContentWord[], theirs: readonly ContentWord[]): UnequalPair[] | Veto {
  if (ours.length !== theirs.length) return 'added-words'
  if (ours.some((word, at) => !isPlacedSame(word, theirs[at]))) return 'turn'
  const unequal = ours.flatMap((word, at) =>
    isSame(word, theirs[at]) ? [] : [[word.text, theirs[at]?.text ?? ''] as const],
  )
  const isMoved = unequal.some(([one]) => unequal.some(([, other]) => one === other))
  return isMoved ? 'order' : unequal
}

/** Between the same small words, and not "a" one and "the" other, "my" and "your". One of them may lack it. */
function isPlacedSame(one: ContentWord, other: ContentWord | undefined): boolean {
  if (one.before !== other?.before) return false
  const articles = one.article + other.article
  return articles.length < 2 || one.article === other.article || /^(?:a[my]|[my]a)$/.test(articles)
}

/** Of words in the same order, "in", "on", "of" and the like say little: "questions on Quora", "questions in Quora". */
function isPlacedAlike(one: ContentWord, other: ContentWord | undefined): boolean {
  const bare = ({ before }: ContentWord) => before.replace(loose, '').trim()
  return other !== undefined && isPlacedSame({ ...one, before: bare(one) }, { ...other, before: bare(other) })
}

const loose = /(?<=^| )(?:in|of|for|about|to|using)(?= |$)/g

/** The same with a phrase turned round: "price of gold" and "gold price", "cats and dogs" and "dogs and cats". */
function turned(words: readonly ContentWord[]): ContentWord[][] {
  return words.flatMap(({ before }, at) => {
    const isList = before === 'and' || before === 'or'
    if (at === 0 || !(isList || /^(?:of|for|on|in|at)$/.test(before))) return []
    return runStarts(words, at).flatMap(start =>
      runEnds(words, at).map(end => {
        const [first, second] = [words.slice(start, at), words.slice(at, end)]
        const opened = reopen(second, first[0]?.before ?? '')
        return [...words.slice(0, start), ...opened, ...reopen(first, isList ? before : ''), ...words.slice(end)]
      }),
    )
  })
}

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
        isInflected(one, form) &&
        isInflected(other, each.form),
    ),
  )
}

/** A name that the lexicon does not have: "Aadhaar", "AADHAAR"; in code, "getId" and "getID" differ. */
function isLooseName(text: string): boolean {
  return (
    /^(?:[A-Z]?[a-z]{3,}|[A-Z]{4,})$/.test(text) &&
    lemmasOf(text.toLowerCase()).length === 0 &&
    !mayBeName(text.toLowerCase())
  )
}

function isLoose(form: string, other: string): boolean {
  return (form === 'plain' && other === 's') || (form === 's' && other === 'plain')
}

/** "Customs", "glasses": words of their own. */
function isInflected({ lemmas }: ContentWord, form: string): boolean {
  return form === 'plain' || lemmas.every(lemma => lemma.form !== 'plain')
}
