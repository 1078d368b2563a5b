/**
 * Trains the learned verifier from `pairs/`: `bun run train-verifier`. Writes src/cache/verify/model.json.br and the fixture of the test that
 * compares it with LightGBM, and prints the cross-validated curve and what the board would be served. The same data, code and versions make
 * the same files. `--without rounds.jsonl` leaves a file of earlier pairs out, prints what of it would be served, and writes nothing.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import { pairFeatures } from '../../src/cache/verify/pair-features.ts'
import { readQuestion } from '../../src/cache/verify/question-words.ts'
import type { Model } from '../../src/cache/verify/trees.ts'
import { findBrokenLaw } from '../../src/cache/verify/verify.ts'
import { bounds, type CurvePoint, choosePoints, curveOf, type ScoredPair } from './operating-points.ts'
import { isBoardFile } from './pairs.ts'
import { share } from './score.ts'
import { FOLDS, readTrainingRows, type TrainingRow } from './training-rows.ts'

const { values: options } = parseArgs({ options: { without: { type: 'string' } } })
const ROOT = join(import.meta.dirname, '../..')
const PARITY_PAIRS = 300
/** Nothing is learned from rewordings with a smaller share of common content words: words alone cannot tell that they ask the same. */
const MIN_COMMON = 0.67
const risks = ['careful', 'balanced', 'generous'] as const
const curveSteps = [-2, -1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5]

const print = (line: string) => process.stdout.write(`${line}\n`)
const report = (line: string) => process.stderr.write(`${line}\n`)

interface Fit {
  readonly model: Omit<Model, 'points'>
  readonly logOddsOf: (model: number, row: number) => number
}

/** Writes the numbers of the rows, fits, and reads what Python wrote. */
async function fit(rows: readonly TrainingRow[]): Promise<Fit & { readonly isVetoed: readonly boolean[] }> {
  const directory = mkdtempSync(join(tmpdir(), 'train-verifier-'))
  try {
    const { names, numbers, isVetoed, isOutOfReach } = measure(rows)
    writeFileSync(join(directory, 'names.json'), JSON.stringify(names))
    writeFileSync(join(directory, 'numbers.f32'), numbers)
    writeFileSync(
      join(directory, 'labels.u8'),
      Uint8Array.from(rows, ({ label }) => label),
    )
    writeFileSync(
      join(directory, 'weights.f32'),
      Float32Array.from(rows, ({ weight }) => weight),
    )
    writeFileSync(
      join(directory, 'trained.u8'),
      Uint8Array.from(rows, ({ trained }, at) => (isOutOfReach[at] === true ? 0 : trained)),
    )
    const python = Bun.spawn(['python3', join(import.meta.dirname, 'fit-trees.py'), directory], {
      stdout: 'inherit',
      stderr: 'inherit',
    })
    if ((await python.exited) !== 0) throw new Error('fit-trees.py failed')
    const logOdds = new Float64Array(await Bun.file(join(directory, 'log-odds.f64')).arrayBuffer())
    const model = JSON.parse(readFileSync(join(directory, 'trees.json'), 'utf8')) as Fit['model']
    return { model, logOddsOf: (at, row) => logOdds[at * rows.length + row] ?? 0, isVetoed }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function measure(rows: readonly TrainingRow[]) {
  let names: readonly string[] = []
  let numbers = new Float32Array()
  const isOutOfReach: boolean[] = []
  const isVetoed = rows.map(({ one, other, label, kind }, at) => {
    const features = pairFeatures(readQuestion(one.normalized), readQuestion(other.normalized))
    if (at === 0) {
      names = features.names
      numbers = new Float32Array(rows.length * names.length)
    }
    numbers.set(features.values, at * names.length)
    const common = features.get('equal content, of the longer')
    isOutOfReach.push(label === 1 && kind === 'close' && common < MIN_COMMON)
    if (at % 10_000 === 0) report(`${at} of ${rows.length} pairs measured`)
    return findBrokenLaw(one, other, features) !== null
  })
  return { names, numbers, isVetoed, isOutOfReach }
}

function curveLine({ logOdds, same, different, wrong }: CurvePoint): string {
  const percent = (value: number) => `${(100 * value).toFixed(2)} %`.padStart(9)
  return `${logOdds.toFixed(2).padStart(8)} ${percent(same)} ${percent(different)} ${percent(wrong)}`
}

const rows = readTrainingRows(options.without)
const { model, logOddsOf, isVetoed } = await fit(rows)
const scored = (at: number, by: number): ScoredPair => ({
  label: rows[at]?.label ?? 0,
  logOdds: logOddsOf(by, at),
  isVetoed: isVetoed[at] ?? true,
})
const placesOf = (wanted: (row: TrainingRow) => boolean) =>
  [...rows.keys()].filter(at => wanted(rows[at] as TrainingRow))

const curve = curveOf(
  placesOf(({ kind, set }) => kind === 'close' && !isBoardFile(set)).map(at => {
    const { trained = 0 } = rows[at] ?? {}
    return scored(
      at,
      Array.from({ length: FOLDS }).findIndex((_, fold) => (trained & (1 << fold)) === 0),
    )
  }),
)
const points = choosePoints(curve)
print('cross-validated, by author:\nlog odds      same different     wrong of the served')
for (const step of curveSteps) {
  const point = curve.findLast(({ logOdds }) => logOdds >= step)
  if (point) print(curveLine(point))
}
for (const risk of risks) {
  const point = curve.findLast(({ different }) => different <= bounds[risk])
  if (point) print(`${curveLine(point)}  ${risk}`)
}

function printServed(name: string, places: readonly number[]): void {
  for (const risk of risks) {
    const counts = ([1, 0] as const).map(label => {
      const all = places.map(at => scored(at, FOLDS)).filter(pair => pair.label === label)
      return share(all.filter(pair => !pair.isVetoed && pair.logOdds > points[risk]).length, all.length)
    })
    print(`${name}, ${risk}: same ${counts[0]}; different ${counts[1]}`)
  }
}
const board = placesOf(({ set }) => isBoardFile(set))
printServed('board', board)

const json = JSON.stringify({ ...model, points } satisfies Model)
const packed = brotliCompressSync(json)
print(
  `${rows.length} rows; ${model.features.length} numbers, ${model.trees.length} trees; ${json.length} bytes, ${packed.length} packed`,
)
if (options.without === undefined) {
  writeFileSync(join(ROOT, 'src/cache/verify/model.json.br'), packed)
  const parity = Array.from({ length: PARITY_PAIRS }, (_, at) => {
    const place = board[Math.floor((at * board.length) / PARITY_PAIRS)] ?? 0
    const { one, other } = rows[place] as TrainingRow
    const probability = Number((1 / (1 + Math.exp(-logOddsOf(FOLDS, place)))).toFixed(6))
    return JSON.stringify({ a: one.normalized, b: other.normalized, probability })
  })
  writeFileSync(join(ROOT, 'test/fixtures/verifier-parity.jsonl'), `${parity.join('\n')}\n`)
} else {
  printServed(
    options.without,
    placesOf(({ kind, set }) => kind === 'earlier' && set === options.without),
  )
}
