/**
 * The edits that turn one question into another, such as "best way" left out, "earn" for "make", or "the" before another word. Each model has
 * a weight for those that its training has seen often.
 */
import type { Pair } from './compared-pair.ts'
import type { Question, QuestionWord } from './question-words.ts'
import type { Alignment } from './word-alignment.ts'

/** Longer stretches, and more words replaced at once, hardly occur twice. */
const MAX_STRETCH_WORDS = 4
const MAX_REPLACED_WORDS = 3
/** Numbers of first words. */
const OPENINGS = [1, 2, 3]

/** Weights by the name of an edit; the one without a name counts for each pair. */
export type EditWeights = Readonly<Record<string, number>>

/** Returns the log odds that a pair asks the same, by its edits. */
export function sumWeights(edits: readonly string[], weights: ReadonlyMap<string, number>): number {
  return edits.reduce((sum, edit) => sum + (weights.get(edit) ?? 0), weights.get('') ?? 0)
}

/** Returns the names of a pair's edits. Their parts are sorted, so that they are the same for the pair in the other order. */
export function nameEdits({ questions: [ours, theirs], alignment, rest: [left, added] }: Pair): string[] {
  const edits: string[] = []
  const [ourBases, theirBases] = [basesOf(left), basesOf(added)]
  // Words of one question alone.
  if (left.length === 0 || added.length === 0) for (const base of [...ourBases, ...theirBases]) edits.push(`+ ${base}`)
  // One word for another.
  if (left.length <= MAX_REPLACED_WORDS && added.length <= MAX_REPLACED_WORDS)
    for (const one of ourBases) for (const other of theirBases) edits.push(`for ${either(one, other)}`)
  edits.push(`rest ${either(ourBases.toSorted().join(' '), theirBases.toSorted().join(' '))}`)
  for (const length of OPENINGS) {
    const [one, other] = [textOf(ours.words.slice(0, length)), textOf(theirs.words.slice(0, length))]
    if (one !== other) edits.push(`opening ${either(one, other)}`)
  }
  // Stretches between words that have a counterpart in order.
  let [i, j] = [0, 0]
  for (let end = 0; end <= ours.words.length; end += 1) {
    const partner = end === ours.words.length ? theirs.words.length : (alignment.partner[end] ?? -1)
    if (partner < 0 || alignment.isMoved[end] === 1) continue
    if (end - i > MAX_STRETCH_WORDS || partner - j > MAX_STRETCH_WORDS) edits.push('long')
    else if (end > i || partner > j)
      edits.push(`at ${either(textOf(ours.words.slice(i, end)), textOf(theirs.words.slice(j, partner)))}`)
    i = end + 1
    j = partner + 1
  }
  return edits.concat(nameExchanges(ours, theirs, alignment))
}

/** Names two content words whose order is reversed, by the words between them, such as "instead of", and by their parts of speech. */
function nameExchanges(ours: Question, theirs: Question, { partner }: Alignment): string[] {
  const paired = ours.content.filter(i => (partner[i] ?? -1) >= 0)
  return paired.flatMap((i, at) =>
    paired.slice(at + 1).flatMap(end => {
      const [j = 0, start = 0] = [partner[i], partner[end]]
      if (start > j || end - i > MAX_STRETCH_WORDS || j - start > MAX_STRETCH_WORDS) return []
      const between = [ours.words.slice(i + 1, end), theirs.words.slice(start + 1, j)] as const
      const names = [textOf, kindsOf].map(name => `exchanged ${either(name(between[0]), name(between[1]))}`)
      return [...new Set(names)]
    }),
  )
}

const textOf = (words: readonly QuestionWord[]) => words.map(({ text }) => text).join(' ')
const kindsOf = (words: readonly QuestionWord[]) =>
  words.map(({ text, kind, isContent }) => (isContent ? kind : text)).join(' ')
const basesOf = (words: readonly QuestionWord[]) => words.map(({ base }) => base)
const either = (one: string, other: string) => (one < other ? `${one} / ${other}` : `${other} / ${one}`)
