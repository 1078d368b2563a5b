/** The numbers of what has no counterpart in a pair of questions: by class and part of speech, and how its words are related. */
import { LRUCache } from 'lru-cache'
import { canonicalSynonymOf } from '../text/canonical-synonym.ts'
import { findWordRelation, type WordRelation } from '../text/lexicon.ts'
import { type Features, named, type Pair, sum } from './compared-pair.ts'
import type { QuestionWord, WordKind } from './question-words.ts'
import { spellingLikeness } from './word-alignment.ts'
import { wordClasses } from './word-classes.ts'

const kinds: readonly WordKind[] = ['n', 'v', 'a', 'r', 'name', 'number']
const relations = ['synonym', 'opposite', 'relative', 'kind', 'neighbour', 'none', 'typo'] as const

/** Counts what has no counterpart, by class and part of speech. */
export function measureRest({ rest }: Pair, features: Features): void {
  const counts = [tally(rest[0]), tally(rest[1])] as const
  for (const { key, name } of classNames) features.set(name, Math.max(counts[0].get(key) ?? 0, counts[1].get(key) ?? 0))
  for (const { name } of kindNames) features.both(name, counts[0].get(name) ?? 0, counts[1].get(name) ?? 0)
  const senses = rest.map(words => words.filter(word => word.isContent).map(word => word.senses)) as [
    number[],
    number[],
  ]
  features.both('senses of the rest, least', Math.min(99, ...senses[0]), Math.min(99, ...senses[1]))
  features.both('senses of the rest, all', sum(senses[0].map(Math.log1p)), sum(senses[1].map(Math.log1p)))
}

const classNames = named('class ', wordClasses)
const kindNames = named('kind ', kinds)

function tally(words: readonly QuestionWord[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { wordClass, kind } of words) {
    const name = wordClass ?? `kind ${kind}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

interface Substitution {
  /** The positions of the two words among the content words of the rests. */
  readonly one: number
  readonly other: number
  readonly relation: WordRelation
  readonly rank: number
}

const rankByRelation = { synonym: 3, opposite: 2.5, relative: 2, kind: 1.5, neighbour: 1.2 } as const
const NEAR_SPELLING = 0.6
const TYPO_LIKENESS = 0.7
const MIN_TYPO_LETTERS = 4

/** Pairs the content words of the rests by how they are related, and counts the relations. */
export function measureRelations({ questions: [ours, theirs], rest }: Pair, features: Features): void {
  const [a, b] = rest.map(words => words.filter(word => word.isContent)) as [QuestionWord[], QuestionWord[]]
  const counts = new Map<string, number>(relations.map(name => [name, 0]))
  const all = comparePairs(a, b, [ours.words.length, theirs.words.length])
  const found = pairOnce(all)
  let leastLikeness = 1
  let respelled = 0
  for (const { one, other, relation } of found) {
    const [ourWord, theirWord] = [a[one], b[other]]
    if (!ourWord || !theirWord) continue
    const likeness = spellingLikeness(ourWord.text, theirWord.text)
    const name = relation ?? (isTypo(ourWord, theirWord, likeness) ? 'typo' : 'none')
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (relation === null || relation === 'neighbour') leastLikeness = Math.min(leastLikeness, likeness)
    if (ourWord.isKnown !== theirWord.isKnown && likeness >= NEAR_SPELLING) respelled += 1
  }
  for (const [name, count] of counts) features.set(`pairs ${name}`, count)
  const synonyms = new Set(b.map(({ base }) => canonicalSynonymOf(base)))
  features.set('equal synonyms', a.filter(({ base }) => synonyms.has(canonicalSynonymOf(base))).length)
  features.set('opposites', new Set(all.filter(({ relation }) => relation === 'opposite').map(({ one }) => one)).size)
  features.set('least likeness', leastLikeness)
  features.set('respelled', respelled)
  features.both('without a pair', a.length - found.length, b.length - found.length)
}

/** Relations of recently compared words. The same words are compared again and again. */
const knownRelations = new LRUCache<string, { relation: WordRelation }>({ max: 8_192 })

function findRelation(one: QuestionWord, other: QuestionWord): WordRelation {
  if (one.kind === 'number' || other.kind === 'number') return null
  // Names have few relations, which are found at once, and there are too many to be kept.
  if (one.kind === 'name' || other.kind === 'name') return findWordRelation(one.base, other.base)
  const name = one.base < other.base ? `${one.base} ${other.base}` : `${other.base} ${one.base}`
  let known = knownRelations.get(name)
  if (known === undefined) {
    known = { relation: findWordRelation(one.base, other.base) }
    knownRelations.set(name, known)
  }
  return known.relation
}

/** Returns all pairs of words of the two rests. */
function comparePairs(
  a: readonly QuestionWord[],
  b: readonly QuestionWord[],
  lengths: readonly [number, number],
): Substitution[] {
  const [ours, theirs] = [a.map(letterBits), b.map(letterBits)]
  return a.flatMap((ourWord, one) =>
    b.map((theirWord, other) => {
      const relation = findRelation(ourWord, theirWord)
      const related = relation === null ? 0 : rankByRelation[relation]
      const place = 0.3 * (1 - Math.abs(one / lengths[0] - other / lengths[1]))
      const edits = Math.max(countBits(ours[one], theirs[other]), countBits(theirs[other], ours[one]))
      const mayBeNear = 1 - edits / Math.max(ourWord.text.length, theirWord.text.length) > NEAR_SPELLING
      const likeness = mayBeNear ? spellingLikeness(ourWord.text, theirWord.text) : 0
      return { one, other, relation, rank: related + (likeness > NEAR_SPELLING ? 2 * likeness : 0) + place }
    }),
  )
}

/** Returns the letters of a word as bits. Each bit that another word does not have takes an edit. */
function letterBits({ text }: QuestionWord): number {
  let bits = 0
  for (let at = 0; at < text.length; at += 1) bits |= 1 << (text.charCodeAt(at) & 31)
  return bits
}

/** Returns the number of bits that are set in `one` only. */
function countBits(one = 0, other = 0): number {
  let count = 0
  for (let bits = one & ~other; bits !== 0; bits &= bits - 1) count += 1
  return count
}

/** Selects the highest pairs, each word once. */
function pairOnce(all: readonly Substitution[]): Substitution[] {
  const [ours, theirs] = [new Set<number>(), new Set<number>()]
  return all
    .toSorted((x, y) => y.rank - x.rank || x.one - y.one || x.other - y.other)
    .filter(({ one, other }) => {
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
