/** Aligns the words of two questions: in order where possible, then moved ones. What has no counterpart is the rest. */
import { lemmasOf } from '../text/lexicon.ts'
import type { Question, QuestionWord } from './question-words.ts'

export interface Alignment {
  /** For each word of the first question, the position of its counterpart in the second; -1 without one. */
  readonly partner: Int16Array
  /** 1 for each word of the first question whose counterpart is out of order. */
  readonly isMoved: Uint8Array
  /** Words with a counterpart in order. */
  readonly inOrder: number
  /** Positions without a counterpart, in each question. */
  readonly rest: readonly [readonly number[], readonly number[]]
}

const SMALL_WORD_WEIGHT = 1
const CONTENT_WORD_WEIGHT = 3
/** The weight of two forms of one word. */
const FORM_WEIGHT = 2.5

/** Aligns two questions by their heaviest common subsequence, in time proportional to the product of their lengths. */
export function alignWords(ours: Question, theirs: Question): Alignment {
  const [a, b] = [ours.words, theirs.words]
  const partner = new Int16Array(a.length).fill(-1)
  const isTaken = new Uint8Array(b.length)
  const isMoved = new Uint8Array(a.length)
  const weights = a.map(one => b.map(other => weightOf(one, other)))
  const width = b.length + 1
  const best = new Float32Array((a.length + 1) * width)
  const at = (i: number, j: number) => best[i * width + j] ?? 0
  const paired = (i: number, j: number) => {
    const weight = weights[i]?.[j] ?? 0
    return weight > 0 ? weight + at(i + 1, j + 1) : -1
  }
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1) best[i * width + j] = Math.max(paired(i, j), at(i + 1, j), at(i, j + 1))
  let inOrder = 0
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (paired(i, j) >= at(i, j)) {
      partner[i] = j
      isTaken[j] = 1
      inOrder += 1
      i += 1
      j += 1
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1
    else j += 1
  }
  const pairMoved = (isPair: (one: QuestionWord, other: QuestionWord) => boolean) => {
    for (const [i, one] of a.entries()) {
      const j = partner[i] === -1 ? b.findIndex((other, place) => isTaken[place] === 0 && isPair(one, other)) : -1
      if (j < 0) continue
      partner[i] = j
      isTaken[j] = 1
      isMoved[i] = 1
    }
  }
  pairMoved((one, other) => one.text === other.text)
  pairMoved(shareBase)
  const without = (taken: (place: number) => boolean, words: readonly unknown[]) =>
    words.flatMap((_, place) => (taken(place) ? [] : [place]))
  const rest = [without(i => partner[i] !== -1, a), without(j => isTaken[j] === 1, b)] as const
  return { partner, isMoved, inOrder, rest }
}

function weightOf(one: QuestionWord, other: QuestionWord): number {
  if (one.text === other.text) return one.isContent ? CONTENT_WORD_WEIGHT : SMALL_WORD_WEIGHT
  return one.isContent && other.isContent && one.base === other.base ? FORM_WEIGHT : 0
}

/** Returns whether two content words may be forms of one word: "left" and "leave". */
function shareBase(one: QuestionWord, other: QuestionWord): boolean {
  if (!one.isContent || !other.isContent || one.kind === 'number' || other.kind === 'number') return false
  if (one.text[0] !== other.text[0]) return false
  const bases = new Set(lemmasOf(one.text).map(({ word }) => word))
  return lemmasOf(other.text).some(({ word }) => bases.has(word))
}

/** Returns the likeness of two spellings from 0 to 1: one less their edits (an exchange of neighbours counts once) by the longer one's length. */
export function spellingLikeness(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 4) return 0
  // The rows of the last three letters, in one array: each pair of questions compares some dozens of words.
  const width = other.length + 1
  const edits = new Uint16Array(3 * width)
  const at = (i: number, j: number) => edits[(i % 3) * width + j] ?? 0
  const isEqual = (i: number, j: number) => one.charCodeAt(i) === other.charCodeAt(j)
  for (let j = 1; j < width; j += 1) edits[j] = j
  for (let i = 1; i <= one.length; i += 1) {
    edits[(i % 3) * width] = i
    for (let j = 1; j < width; j += 1) {
      let least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (isEqual(i - 1, j - 1) ? 0 : 1))
      if (i > 1 && j > 1 && isEqual(i - 1, j - 2) && isEqual(i - 2, j - 1))
        least = Math.min(least, at(i - 2, j - 2) + 1)
      edits[(i % 3) * width + j] = least
    }
  }
  return 1 - at(one.length, other.length) / Math.max(one.length, other.length)
}
