/** Formats the measurements of a set as a table. */
import { areaUnderPrecision, type Level, levelsOf, type Ranked, widestWithin } from './ranking.ts'
import type { StreamCounts } from './stream.ts'

/** The measurements of a set of pairs with an embedder; arrays have one item per pair. */
export interface Measured {
  readonly name: string
  readonly labels: (0 | 1)[]
  /** A person's verdict; otherwise the label. */
  readonly byHand: (0 | 1)[]
  readonly categories: string[]
  /** Number of pairs that a person read. */
  read: number
  readonly methods: readonly MeasuredMethod[]
}

export interface MeasuredMethod extends Ranked {
  readonly name: string
  readonly limits: number[]
  readonly similarities: number[]
  /** Omitted if the embedder has similarities of pairs only. */
  stream?: StreamCounts
}

interface Shown {
  readonly threshold: number
  readonly streamed: number
}

const BOUNDS = [0.01, 0.05]

export function explanation({ threshold, streamed }: Shown): string[] {
  return [
    'at most 1 %, 5 % wrong: share of the equal pairs that are served at the most permissive threshold (in brackets) at which at most this',
    'share of the served pairs is labelled different. P-CHR AUC: area under precision over cache-hit ratio.',
    `above ${threshold}: equal and different pairs served. Stream: each of the first ${streamed} questions is looked up among the earlier ones; in`,
    'brackets, the wrong hits without a label of their own. By hand: with the verdicts of people, where there are any, in place of labels.',
  ]
}

export function setLines(measured: Measured, shown: Shown): string[] {
  const { name, labels, byHand, read } = measured
  const same = labels.filter(label => label === 1).length
  const overruled = labels.filter((label, at) => label !== byHand[at]).length
  return [
    `\n${name}: ${labels.length} pairs, ${same} same; ${read} read by hand, ${overruled} labels overruled`,
    line('', ['at most 1 % wrong', 'at most 5 % wrong', 'P-CHR AUC', `above ${shown.threshold}`, 'stream']),
    ...measured.methods.flatMap(method => methodLines(method, measured, shown)),
    ...classLines(measured, shown),
  ]
}

function methodLines(method: MeasuredMethod, { labels, byHand, read }: Measured, { threshold }: Shown): string[] {
  const { name, stream } = method
  const cells = (truths: readonly (0 | 1)[]) => pairCells(method, truths, threshold)
  const byLabel = line(name, [...cells(labels), stream ? streamCell(stream, stream.wrong) : ''])
  if (read === 0) return [byLabel]
  return [byLabel, line('  by hand', [...cells(byHand), stream ? streamCell(stream, stream.wrongByHand) : ''])]
}

function pairCells(method: MeasuredMethod, labels: readonly (0 | 1)[], threshold: number): string[] {
  const levels = levelsOf(method, labels)
  const same = levels.at(-1)?.right ?? 0
  const served = labels.filter((_, at) => (method.limits[at] ?? 0) > threshold)
  const right = served.filter(label => label === 1).length
  return [
    ...BOUNDS.map(bound => coverageCell(widestWithin(levels, bound), same)),
    areaUnderPrecision(levels).toFixed(3),
    `${right}, ${served.length - right}`,
  ]
}

function coverageCell(level: Level | null, same: number): string {
  if (!level) return 'none'
  const share = `${((100 * level.right) / same).toFixed(1)} %`
  return level.limit === Infinity ? share : `${share} (${level.limit.toFixed(3)})`
}

function streamCell({ hits, unlabelled }: StreamCounts, wrong: number): string {
  return `${hits} hits, ${wrong} wrong (${unlabelled})`
}

/** The number of served pairs of each class, by method. */
function classLines({ categories, labels, methods }: Measured, { threshold }: Shown): string[] {
  const byClass = Map.groupBy(labels.keys(), at => categories[at] ?? '')
  if (byClass.size < 2) return []
  const served = ({ limits }: MeasuredMethod, places: readonly number[]) =>
    String(places.filter(at => (limits[at] ?? 0) > threshold).length)
  return [
    line(`served above ${threshold}`, ['of', ...methods.map(({ name }) => name)]),
    ...[...byClass].map(([name, places]) =>
      line(name, [String(places.length), ...methods.map(method => served(method, places))]),
    ),
  ]
}

function line(name: string, cells: readonly string[]): string {
  return `  ${name.padEnd(22)} ${cells.map(cell => cell.padEnd(20)).join(' ')}`.trimEnd()
}
