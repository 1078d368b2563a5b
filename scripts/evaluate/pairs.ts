/** Labelled pairs of two texts. Label 1: both are the same question; 0: the response to one is wrong for the other. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { type Row, readRows, tableExtensions } from './tables.ts'

export interface LabelledPair {
  a: string
  b: string
  label: 0 | 1
  category: string
  /** The verdict of a person who read the pair. */
  hand?: 0 | 1
  /** A model's cosine of the unchanged texts. */
  similarity?: number
  /** The file's name. */
  set: string
}

/** Field names: our own, and those of QQP, of MRPC, of PAWS and most other sets of GLUE, and of GPTCache. */
const names = {
  a: ['a', 'question1', '#1 string', 'sentence1', 'text_a'],
  b: ['b', 'question2', '#2 string', 'sentence2', 'text_b'],
  label: ['label', 'is_duplicate', 'quality'],
} as const

/** Lines of `HASH 1` or `HASH 0`: verdicts of people, also about pairs that are not in the repository. */
const JUDGEMENTS = join(import.meta.dirname, '../../test/fixtures/question-pairs/hand-judgements.txt')
/** The authors' families; in `uncertain`, pairs of authors' questions that readers have labelled; in `earlier`, pairs of earlier rounds. */
export const OWN_PAIRS = join(import.meta.dirname, 'pairs')

/** Questions that ask the same, and close ones that do not. */
export interface Family {
  /** The first is the question that the others were made from. */
  same: readonly string[]
  different: readonly string[]
  /** The difference of the different ones, if it has a name. */
  kind: string
}

/** The number of the author of a file, such as "02-code.jsonl". */
export const authorOf = (file: string) => Number.parseInt(basename(file), 10)

/** Returns whether a file is by an author of the board, who is every third. The verifier is never trained on what they wrote. */
export const isBoardFile = (file: string) => authorOf(file) % 3 === 2

/** The files of pairs in a directory, by name. Throws if there is none. */
export function pairFiles(folder: string): string[] {
  const files = readdirSync(folder).filter(file => tableExtensions.includes(extname(file)))
  if (files.length === 0) throw new Error(`${folder}: no pairs in it: a file must end in ${tableExtensions.join(', ')}`)
  return files.sort().map(file => join(folder, file))
}

/** Reads the given files; without any, those of the board's authors. Of a family, reads the pairs with its first question. An invalid row throws an error with its position. */
export function* readPairs(files: readonly string[]): Generator<LabelledPair> {
  const judgements = new Map(
    readFileSync(JUDGEMENTS, 'utf8')
      .split('\n')
      .map(line => line.split(' ') as [string, string]),
  )
  for (const file of files.length > 0 ? files : pairFiles(OWN_PAIRS).filter(isBoardFile)) {
    for (const row of readRows(file)) {
      for (const pair of 'q' in row.fields ? pairsOf(readFamily(row, file), file) : [readPair(row, file)])
        yield judged(pair, judgements)
    }
  }
}

/** Reads a file of families. An invalid row throws an error with its position. */
export function* readFamilies(file: string): Generator<Family> {
  for (const row of readRows(file)) yield readFamily(row, file)
}

function readFamily({ fields, line }: Row, file: string): Family {
  const [first, others, different] = [fields.q, fields.same, fields.different].map(listTexts)
  const { kind = 'none' } = fields
  if (!first || !others || !different || typeof kind !== 'string')
    throw new Error(`${file}:${line}: a family needs the text q, and same and different, each a text or several`)
  return { same: [...first, ...others], different, kind }
}

function listTexts(field: unknown): readonly string[] | null {
  const texts: readonly unknown[] = Array.isArray(field) ? field : [field]
  return texts.every(text => typeof text === 'string') ? texts : null
}

function pairsOf({ same: [first = '', ...others], different, kind }: Family, file: string): LabelledPair[] {
  const pair = { a: first, category: kind, set: basename(file) }
  return [
    ...others.map(b => ({ ...pair, b, label: 1 as const })),
    ...different.map(b => ({ ...pair, b, label: 0 as const })),
  ]
}

/** Identifies a pair in the verdicts, independent of the order of its texts. */
export function hashOf({ a, b }: Pick<LabelledPair, 'a' | 'b'>): string {
  return createHash('sha256').update([a, b].sort().join('\n')).digest('hex').slice(0, 12)
}

function judged(pair: LabelledPair, judgements: ReadonlyMap<string, string>): LabelledPair {
  const said = judgements.get(hashOf(pair))
  return said === undefined ? pair : { ...pair, hand: said === '1' ? 1 : 0 }
}

function readPair({ fields, line, namedAt }: Row, file: string): LabelledPair {
  const [a, b, label] = [names.a, names.b, names.label].map(each => fields[each.find(name => name in fields) ?? ''])
  const isLabel = ['0', '1'].includes(String(label))
  if (typeof a !== 'string' || typeof b !== 'string' || !isLabel) {
    const isNamed = [a, b, label].every(value => value !== undefined)
    throw new Error(
      `${file}:${isNamed ? line : namedAt}: a pair needs two texts (${names.a.join(', ')}; ${names.b.join(', ')}) and a label of 0 or 1 (${names.label.join(', ')})`,
    )
  }
  const { category, similarity } = fields
  return {
    a,
    b,
    label: Number(label) === 1 ? 1 : 0,
    category: typeof category === 'string' ? category : 'none',
    set: basename(file),
    ...(similarity !== undefined && { similarity: Number(similarity) }),
  }
}
