/** Finds where two prompts differ and the kind of each difference, for people and metrics. */
import { classOf, type WordClass } from './word-classes.ts'

export type DifferenceKind =
  /** Text that is compared literally: code, data, long text, text to be processed, or an unsupported language. */
  | 'verbatim'
  | 'number'
  | 'negation'
  | 'modality'
  | 'person'
  | 'letter-case'
  | 'quotation'
  | 'sign'
  /** One text has additional words. */
  | 'added-words'
  /** Different words at the same position. */
  | 'words'

export interface TextDifference {
  readonly kind: DifferenceKind
  readonly askedText: string
  readonly cachedText: string
  /** Start of the difference in each text, in UTF-16 code units. */
  readonly askedAt: number
  readonly cachedAt: number
}

interface Part {
  readonly text: string
  /** In lower case, by which texts are aligned. */
  readonly folded: string
  readonly at: number
}

const parts = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|"[^"\n]*"|[^\s\p{L}\p{M}\p{N}]/gu
/** Longer texts are not aligned. Only their first difference is shown. */
const MAX_PARTS = 150
const EXCERPT_CHARS = 80
const modals: readonly WordClass[] = ['can', 'will', 'should']
const persons: readonly WordClass[] = ['my', 'your', 'their', 'i', 'self', 'you', 'they', 'who']

/** Returns all differences in the order of the texts. Empty for equal texts. */
export function findDifferences(asked: string, cached: string): TextDifference[] {
  if (asked === cached) return []
  const [ours, theirs] = [split(asked), split(cached)]
  if (ours.length > MAX_PARTS || theirs.length > MAX_PARTS) return [firstDifference(asked, cached)]
  const found = align(ours, theirs).map(step => describe(step, { asked, cached }))
  return found.length > 0 ? found : [firstDifference(asked, cached)]
}

/** Returns the kind of the first difference other than letter case and signs, or else of the first difference. */
export function mainDifferenceKind(asked: string, cached: string): DifferenceKind {
  const found = findDifferences(asked, cached)
  return (found.find(({ kind }) => kind !== 'sign' && kind !== 'letter-case') ?? found[0])?.kind ?? 'verbatim'
}

function split(text: string): Part[] {
  return Array.from(text.matchAll(parts), ({ 0: part, index }) => {
    const straight = part.replaceAll('’', "'")
    return { text: straight, folded: straight.toLowerCase(), at: index }
  })
}

interface Step {
  readonly ours: readonly Part[]
  readonly theirs: readonly Part[]
}

/** Aligns the texts at their longest common run, then the parts before and after it. Returns the parts that differ, if only in letter case. */
function align(ours: readonly Part[], theirs: readonly Part[]): Step[] {
  const { from, at, length } = longestRun(ours, theirs)
  if (length === 0) return ours.length + theirs.length > 0 ? [{ ours, theirs }] : []
  return [
    ...align(ours.slice(0, from), theirs.slice(0, at)),
    ...differingCase(ours.slice(from, from + length), theirs.slice(at, at + length)),
    ...align(ours.slice(from + length), theirs.slice(at + length)),
  ]
}

/** Returns the stretches of two runs of equal words whose letter case differs. */
function differingCase(ours: readonly Part[], theirs: readonly Part[]): Step[] {
  const steps: { ours: Part[]; theirs: Part[] }[] = []
  let last = -2
  for (const [k, one] of ours.entries()) {
    const other = theirs[k]
    if (other === undefined || one.text === other.text) continue
    if (last !== k - 1) steps.push({ ours: [], theirs: [] })
    steps.at(-1)?.ours.push(one)
    steps.at(-1)?.theirs.push(other)
    last = k
  }
  return steps
}

function longestRun(ours: readonly Part[], theirs: readonly Part[]): { from: number; at: number; length: number } {
  let longest = { from: 0, at: 0, length: 0 }
  for (let from = 0; from < ours.length; from += 1) {
    for (let at = 0; at < theirs.length; at += 1) {
      let length = 0
      while (from + length < ours.length && ours[from + length]?.folded === theirs[at + length]?.folded) length += 1
      if (length > longest.length) longest = { from, at, length }
    }
  }
  return longest
}

function describe({ ours, theirs }: Step, { asked, cached }: { asked: string; cached: string }): TextDifference {
  const place = (stretch: readonly Part[], end: number) => {
    const [first, last] = [stretch[0], stretch.at(-1)]
    return first && last ? { start: first.at, end: last.at + last.text.length } : { start: end, end }
  }
  const [one, other] = [place(ours, asked.length), place(theirs, cached.length)]
  return {
    kind: kindOf(ours, theirs),
    askedText: asked.slice(one.start, one.end),
    cachedText: cached.slice(other.start, other.end),
    askedAt: one.start,
    cachedAt: other.start,
  }
}

function kindOf(ours: readonly Part[], theirs: readonly Part[]): DifferenceKind {
  const both = [...ours, ...theirs].map(({ folded }) => folded)
  const fold = (stretch: readonly Part[]) => stretch.map(({ folded }) => folded).join(' ')
  if (fold(ours) === fold(theirs)) return 'letter-case'
  if (both.some(text => text.startsWith('"') || text.startsWith('`'))) return 'quotation'
  if (both.some(text => /\p{N}/u.test(text))) return 'number'
  const isOf = (classes: readonly WordClass[]) => both.some(text => classes.some(name => name === classOf(text)))
  if (isOf(['not']) || both.some(text => text.endsWith("n't"))) return 'negation'
  if (both.every(text => !/\p{L}/u.test(text))) return 'sign'
  if (isOf(modals)) return 'modality'
  if (isOf(persons)) return 'person'
  return ours.length === 0 || theirs.length === 0 ? 'added-words' : 'words'
}

function firstDifference(asked: string, cached: string): TextDifference {
  let at = 0
  while (at < asked.length && asked[at] === cached[at]) at += 1
  const excerpt = (text: string) => text.slice(at, at + EXCERPT_CHARS)
  return { kind: 'verbatim', askedText: excerpt(asked), cachedText: excerpt(cached), askedAt: at, cachedAt: at }
}
