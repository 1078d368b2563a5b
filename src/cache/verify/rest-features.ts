/** The numbers of what has no counterpart in a pair of questions: by class, word, part of speech and place, and how its words are related. */
import { canonicalSynonymOf } from '../text/canonical-synonym.ts'
import { findWordRelation, type WordRelation } from '../text/lexicon.ts'
import { type Pair, type Sink, sum } from './compared-pair.ts'
import type { Question, QuestionWord, WordKind } from './question-words.ts'
import { type Alignment, spellingLikeness } from './word-alignment.ts'
import { tellingWords, wordClasses } from './word-classes.ts'

const kinds: readonly WordKind[] = ['n', 'v', 'a', 'r', 'name', 'number']
const relations = ['synonym', 'opposite', 'relative', 'kind', 'neighbour', 'none', 'typo'] as const
/** Where the rest stands: before, among or after the content words that have a counterpart. */
const zones = ['before', 'among', 'after'] as const

/** Counts what has no counterpart: by class, word, part of speech and place. */
export function measureRest({ questions, alignment, rest }: Pair, { set, both }: Sink): void {
  const count = (side: 0 | 1, isCounted: (word: QuestionWord) => boolean) => rest[side].filter(isCounted).length
  const counts = [tally(rest[0]), tally(rest[1])] as const
  for (const name of wordClasses) both(`class ${name}`, counts[0].get(name) ?? 0, counts[1].get(name) ?? 0)
  const telling = new Set([...rest[0], ...rest[1]].flatMap(({ text, base }) => [text, base]))
  for (const word of tellingWords) set(`word ${word}`, telling.has(word))
  for (const kind of kinds) both(`kind ${kind}`, counts[0].get(`kind ${kind}`) ?? 0, counts[1].get(`kind ${kind}`) ?? 0)
  const senses = rest.map(words => words.filter(word => word.isContent).map(word => word.senses)) as [
    number[],
    number[],
  ]
  both('senses of the rest, least', Math.min(99, ...senses[0]), Math.min(99, ...senses[1]))
  both('senses of the rest, all', sum(senses[0].map(Math.log1p)), sum(senses[1].map(Math.log1p)))
  set('signs', count(0, ({ kind }) => kind === 'sign') + count(1, ({ kind }) => kind === 'sign'))
  both(
    'capitals',
    count(0, word => word.isContent && word.isCapital),
    count(1, word => word.isContent && word.isCapital),
  )
  const places = ([0, 1] as const).map(side => zonesOf(questions[side], side, alignment))
  for (const zone of zones) {
    const inZone = (side: 0 | 1, isContent: boolean) =>
      rest[side].filter((word, at) => word.isContent === isContent && places[side]?.[at] === zone).length
    both(`content ${zone}`, inZone(0, true), inZone(1, true))
    both(`small words ${zone}`, inZone(0, false), inZone(1, false))
  }
}

function tally(words: readonly QuestionWord[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { wordClass, kind } of words) {
    const name = wordClass ?? `kind ${kind}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

function zonesOf(question: Question, side: 0 | 1, { partner, rest }: Alignment): (typeof zones)[number][] {
  const paired = new Set(side === 0 ? [...partner.keys()].filter(i => partner[i] !== -1) : partner)
  const anchored = question.content.filter(at => paired.has(at))
  const [first = Number.POSITIVE_INFINITY, last = -1] = [anchored[0], anchored.at(-1)]
  return rest[side].map(at => (at < first ? 'before' : at > last ? 'after' : 'among'))
}

interface Substitution {
  readonly one: number
  readonly other: number
  readonly relation: WordRelation
  readonly likeness: number
  readonly rank: number
}

const rankByRelation = { synonym: 3, opposite: 2.5, relative: 2, kind: 1.5, neighbour: 1.2 } as const
const NEAR_SPELLING = 0.6
const TYPO_LIKENESS = 0.7
const MIN_TYPO_LETTERS = 4

/** Pairs the content words of the rests by how they are related, and counts the relations. */
export function measureRelations({ questions: [ours, theirs], rest }: Pair, { set, both }: Sink): void {
  const [a, b] = rest.map(words => words.filter(word => word.isContent)) as [QuestionWord[], QuestionWord[]]
  const counts = new Map<string, number>(relations.map(name => [name, 0]))
  const found = pairRest(a, b, [ours.words.length, theirs.words.length])
  let leastLikeness = 1
  let respelled = 0
  for (const { one, other, relation, likeness } of found) {
    const [ourWord, theirWord] = [a[one], b[other]]
    if (!ourWord || !theirWord) continue
    const name = relation ?? (isTypo(ourWord, theirWord, likeness) ? 'typo' : 'none')
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (relation === null || relation === 'neighbour') leastLikeness = Math.min(leastLikeness, likeness)
    if (ourWord.isKnown !== theirWord.isKnown && likeness >= NEAR_SPELLING) respelled += 1
  }
  for (const [name, count] of counts) set(`pairs ${name}`, count)
  const synonyms = ([one, other]: readonly QuestionWord[][]) =>
    (one ?? []).filter(word =>
      (other ?? []).some(each => canonicalSynonymOf(word.base) === canonicalSynonymOf(each.base)),
    ).length
  set('equal synonyms', synonyms([a, b]))
  set('opposites', a.filter(word => b.some(each => findRelation(word, each) === 'opposite')).length)
  set('least likeness', leastLikeness)
  set('respelled', respelled)
  both('without a pair', a.length - found.length, b.length - found.length)
}

function findRelation(one: QuestionWord, other: QuestionWord): WordRelation {
  return one.kind === 'number' || other.kind === 'number' ? null : findWordRelation(one.base, other.base)
}

function pairRest(
  a: readonly QuestionWord[],
  b: readonly QuestionWord[],
  lengths: readonly [number, number],
): Substitution[] {
  const all: Substitution[] = []
  for (const [one, ourWord] of a.entries())
    for (const [other, theirWord] of b.entries()) {
      const relation = findRelation(ourWord, theirWord)
      const likeness = spellingLikeness(ourWord.text, theirWord.text)
      const related = relation === null ? 0 : rankByRelation[relation]
      const near = likeness > NEAR_SPELLING ? 2 * likeness : 0
      const place = 0.3 * (1 - Math.abs(one / lengths[0] - other / lengths[1]))
      all.push({ one, other, relation, likeness, rank: related + near + place })
    }
  all.sort((x, y) => y.rank - x.rank || x.one - y.one || x.other - y.other)
  const [ours, theirs] = [new Set<number>(), new Set<number>()]
  return all.filter(({ one, other }) => {
    if (ours.has(one) || theirs.has(other)) return false
    ours.add(one)
    theirs.add(other)
    return true
  })
}

function isTypo(one: QuestionWord, other: QuestionWord, likeness: number): boolean {
  const isLong = Math.min(one.text.length, other.text.length) >= MIN_TYPO_LETTERS
  // Two words of the lexicon are two words: "Austria" and "Australia".
  return likeness >= TYPO_LIKENESS && isLong && !(one.isKnown && other.isKnown)
}
