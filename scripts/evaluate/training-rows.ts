/** The rows from which the verifier learns: authors' families, neighbours within a file, pairs that readers labelled, and contrasts. */
import { basename, join } from 'node:path'
import { type NormalizedPrompt, normalizePrompt } from '../../src/cache/text/normalize-prompt.ts'
import { isPlainQuestion } from '../../src/cache/verify/verify.ts'
import { makeContrasts } from './contrasts.ts'
import { authorOf, type Family, isBoardFile, OWN_PAIRS, pairFiles, readFamilies, readPairs } from './pairs.ts'

/** Each training author is left out of one of so many cross-validation models. The model that is shipped has the next number. */
export const FOLDS = 4
const SHIPPED = 1 << FOLDS
const EVERY_MODEL = 2 * SHIPPED - 1

export interface TrainingRow {
  readonly one: NormalizedPrompt
  readonly other: NormalizedPrompt
  readonly label: 0 | 1
  readonly weight: number
  /** A close pair is one of an author's family: what operating points are measured on. */
  readonly kind: 'close' | 'uncertain' | 'neighbour' | 'itself' | 'earlier' | 'contrast'
  /** The file's name. */
  readonly set: string
  /** Bit k is set if model k is trained on the row. */
  readonly trained: number
}

/** Returns the cross-validation model that is not trained on the row; for rows that all models are trained on, one by the name of their set. */
export function foldOf({ trained, set }: Pick<TrainingRow, 'trained' | 'set'>): number {
  for (let fold = 0; fold < FOLDS; fold += 1) if ((trained & (1 << fold)) === 0) return fold
  return [...set].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % FOLDS
}

/**
 * In families the same question is often worded freely and the different one closely. What balances that has weight: `same` against `different`,
 * questions against themselves, and rewordings by template. Few questions can be turned round ("from A to B"), so that those count more.
 */
const weights = {
  close: 1,
  uncertain: 2,
  neighbour: 0.3,
  itself: 0.3,
  earlier: 2,
  contrast: [0.3, 0.6],
  order: 2,
} as const
/** Of a family, the texts whose nearest texts of other families are taken as different. */
const TEXTS_WITH_NEIGHBOURS = 2
const NEIGHBOURS = 3
/** Earlier pairs that are not English questions. */
const notEnglish = /^(?:languages|white-space)/

/** Returns the rows in a fixed order; those of `without`, a file of earlier pairs, and of board authors are trained on by no model. */
export function readTrainingRows(without?: string): TrainingRow[] {
  const rows: TrainingRow[] = []
  function add(a: string, b: string, row: Omit<TrainingRow, 'one' | 'other'>): void {
    const [one, other] = [normalizePrompt(a), normalizePrompt(b)]
    if (
      !isPlainQuestion(one) ||
      !isPlainQuestion(other) ||
      (row.kind !== 'itself' && one.normalized === other.normalized)
    )
      return
    rows.push({ one, other, ...row })
  }
  /** The models that are not trained on a text, and on what is made from it. */
  const leftOut = new Map<string, number>()
  const texts: string[] = []
  const files = pairFiles(OWN_PAIRS)
  /** The model that is not trained on an author's file, and those that are, as bits. */
  const modelsOf = (file: string) => {
    const fold = 1 << (authorOf(file) % FOLDS)
    return [fold, isBoardFile(file) ? 0 : EVERY_MODEL & ~fold] as const
  }
  for (const file of files) {
    const families = [...readFamilies(file)]
    const [fold, trained] = modelsOf(file)
    const row = { set: basename(file), trained }
    for (const { same, different } of families) {
      for (const [at, text] of same.entries()) {
        for (const other of same.slice(at + 1))
          add(text, other, { ...row, kind: 'close', label: 1, weight: weights.close })
        for (const other of different) add(text, other, { ...row, kind: 'close', label: 0, weight: weights.close })
      }
    }
    if (isBoardFile(file)) continue
    for (const [text, neighbour] of findNeighbours(families))
      add(text, neighbour, { ...row, kind: 'neighbour', label: 0, weight: weights.neighbour })
    for (const { same } of families) {
      const [text = ''] = same
      add(text, text, { ...row, kind: 'itself', label: 1, weight: weights.itself })
    }
    for (const text of families.flatMap(textsOf)) {
      leftOut.set(text, (leftOut.get(text) ?? 0) | fold)
      texts.push(text)
    }
  }
  for (const { a, b, label, set } of readPairs(pairFiles(join(OWN_PAIRS, 'uncertain'))))
    add(a, b, { kind: 'uncertain', set, label, weight: weights.uncertain, trained: modelsOf(set)[1] })
  for (const { a, b, label, set } of readPairs(pairFiles(join(OWN_PAIRS, 'earlier')))) {
    if (notEnglish.test(set)) continue
    const isLeftOut = set === without
    add(a, b, { kind: 'earlier', set, label, weight: weights.earlier, trained: isLeftOut ? 0 : EVERY_MODEL })
    if (!isLeftOut) texts.push(a.trim(), b.trim())
  }
  // One text of a contrast is always the question that it was made from.
  for (const { a, b, label, category } of makeContrasts(texts)) {
    const trained = EVERY_MODEL & ~((leftOut.get(a) ?? 0) | (leftOut.get(b) ?? 0))
    const weight = category === 'order' ? weights.order : weights.contrast[label]
    add(a, b, { kind: 'contrast', set: category, label, weight, trained })
  }
  return rows
}

const textsOf = ({ same, different }: Family) => [...same, ...different].map(text => text.trim())
const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[a-z0-9']{3,}/g))

/** For texts of each family, returns the texts of other families that share the rarest words with it; of equal ones, the first. */
function* findNeighbours(families: readonly Family[]): Generator<readonly [text: string, neighbour: string]> {
  const texts = families.flatMap((family, from) => textsOf(family).map(text => ({ text, from, words: wordsOf(text) })))
  const counts = new Map<string, number>()
  for (const word of texts.flatMap(({ words }) => [...words])) counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const [from, { same }] of families.entries()) {
    for (const text of same.slice(0, TEXTS_WITH_NEIGHBOURS)) {
      const words = wordsOf(text)
      const scored = texts
        .filter(other => other.from !== from)
        .map(other => {
          const shared = [...words.intersection(other.words)]
          const sum = shared.reduce((all, word) => all + 1 / Math.log(1.5 + (counts.get(word) ?? 0)), 0)
          return { text: other.text, score: sum / (1 + 0.05 * other.words.size) }
        })
        .sort((one, other) => other.score - one.score)
      for (const neighbour of scored.slice(0, NEIGHBOURS)) yield [text, neighbour.text]
    }
  }
}
