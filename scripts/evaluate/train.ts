/**
 * Trains the learned verifier from `pairs/`: `bun run train-verifier`. Writes its two models in src/cache/verify, one of the words alone and
 * one that also reads the cosine of the sentence model in vendor/, and the fixture of the test that compares them with LightGBM. Prints the
 * cross-validated curves and what the board would be served. The same data, code and versions make the same files. `--without rounds.jsonl`
 * leaves a file of earlier pairs out, prints what of it would be served, and writes nothing.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import { loadEmbeddingModel } from '../../src/cache/embedders/local/load-model.ts'
import { EDITS } from '../../src/cache/verify/compared-pair.ts'
import type { EditWeights } from '../../src/cache/verify/edits.ts'
import { pairFeatures } from '../../src/cache/verify/pair-features.ts'
import { readQuestion } from '../../src/cache/verify/question-words.ts'
import { type Model, type ModelName, modelNames } from '../../src/cache/verify/trees.ts'
import { findBrokenLaw } from '../../src/cache/verify/verify.ts'
import { BUNDLED_MODEL_PATH } from '../../src/config/embedder.ts'
import { cosine } from './compare.ts'
import { fitEditWeights } from './edit-weights.ts'
import { bounds, type CurvePoint, choosePoints, curveOf, type ScoredPair } from './operating-points.ts'
import { isBoardFile } from './pairs.ts'
import { share } from './score.ts'
import { FOLDS, foldOf, readTrainingRows, type TrainingRow } from './training-rows.ts'

const { values: options } = parseArgs({ options: { without: { type: 'string' } } })
const ROOT = join(import.meta.dirname, '../..')
const MODELS = join(ROOT, 'src/cache/verify')
const PARITY_PAIRS = 300
/** Nothing is learned from rewordings with a smaller share of common content words: their words cannot tell that they ask the same. */
const MIN_COMMON = { words: 0.66, cosine: 0.5 } as const
const risks = ['careful', 'balanced', 'generous'] as const
const curveSteps = [-2, -1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5]
const modelFiles: Record<ModelName, string> = { words: 'model.json.br', cosine: 'model-cosine.json.br' }

const print = (line: string) => process.stdout.write(`${line}\n`)
const report = (line: string) => process.stderr.write(`${line}\n`)

/** Where LightGBM reads the rows and writes the trees. */
const directory = mkdtempSync(join(tmpdir(), 'train-verifier-'))
const rows = readTrainingRows(options.without)
const parity: { a: string; b: string; cosine: number; probabilities: Record<string, number> }[] = []
try {
  const measured = await measureRows()
  const fitted = await Promise.all(modelNames.map(name => fit(name, measured)))
  for (const [at, name] of modelNames.entries()) keep(name, measured, fitted[at] as Fitted)
} finally {
  rmSync(directory, { recursive: true })
}
if (options.without === undefined)
  writeFileSync(
    join(ROOT, 'test/fixtures/verifier-parity.jsonl'),
    parity.map(pair => `${JSON.stringify(pair)}\n`).join(''),
  )

interface Measured {
  readonly names: readonly string[]
  /** Of each row, without what its edits say. */
  readonly numbers: Float32Array
  readonly edits: readonly (readonly string[])[]
  readonly isVetoed: readonly boolean[]
  readonly cosines: Float32Array
  readonly space: string
}

async function measureRows(): Promise<Measured> {
  const { cosines, space } = await embedRows()
  let names: readonly string[] = []
  let numbers = new Float32Array()
  const edits: (readonly string[])[] = []
  const keepEdits = (named: readonly string[]) => {
    edits.push(named)
    return 0
  }
  const isVetoed = rows.map(({ one, other }, at) => {
    const questions = [readQuestion(one.normalized), readQuestion(other.normalized)] as const
    const features = pairFeatures(...questions, cosines[at], keepEdits)
    if (at === 0) {
      names = features.names
      numbers = new Float32Array(rows.length * names.length)
    }
    numbers.set(features.values, at * names.length)
    if (at % 10_000 === 0) report(`${at} of ${rows.length} pairs measured`)
    return findBrokenLaw(one, other, features) !== null
  })
  return { names, numbers, edits, isVetoed, cosines, space }
}

/** Fits a model's weights of edits, and writes from what its trees are fitted. Returns the weights. */
function writeRows(name: ModelName, { names, numbers, edits }: Measured, folder: string): EditWeights {
  const column = (of: string) => (at: number) => at * names.length + names.indexOf(of)
  const [share, said] = [column('equal content, of the longer'), column(EDITS)]
  const isOutOfReach = ({ label, kind }: TrainingRow, at: number) =>
    label === 1 && (kind === 'close' || kind === 'uncertain') && (numbers[share(at)] ?? 0) < MIN_COMMON[name]
  const trained = rows.map((row, at) => (isOutOfReach(row, at) ? 0 : row.trained))
  const { weights, sums } = fitEditWeights(
    rows.map((row, at) => ({ ...row, trained: trained[at] ?? 0, edits: edits[at] ?? [] })),
    report,
  )
  for (const [at, sum] of sums.entries()) numbers[said(at)] = sum
  const write = (file: string, content: string | Uint8Array | Float32Array) =>
    writeFileSync(join(folder, file), content)
  write('names.json', JSON.stringify(names))
  write('numbers.f32', numbers)
  write('labels.u8', Uint8Array.from(rows.map(({ label }) => label)))
  write('weights.f32', Float32Array.from(rows.map(({ weight }) => weight)))
  write('trained.u8', Uint8Array.from(trained))
  return weights
}

/** Returns the cosine of each row's normalized texts. A text that is too long for the model has none, and no question is. */
async function embedRows(): Promise<{ cosines: Float32Array; space: string }> {
  const model = await loadEmbeddingModel(BUNDLED_MODEL_PATH)
  const vectors = new Map<string, Float32Array | null>()
  const cosines = new Float32Array(rows.length)
  for (const [at, { one, other }] of rows.entries()) {
    for (const { normalized } of [one, other])
      if (!vectors.has(normalized)) vectors.set(normalized, await model.embed(normalized))
    const [ours, theirs] = [vectors.get(one.normalized), vectors.get(other.normalized)]
    if (ours && theirs) cosines[at] = cosine(ours, theirs)
    if (at % 10_000 === 0) report(`${at} of ${rows.length} pairs embedded`)
  }
  return { cosines, space: model.name }
}

interface Fitted extends Pick<Model, 'features' | 'trees' | 'edits'> {
  /** Of every row by every model of the cross-validation, and by the one that is shipped. */
  readonly logOdds: Float64Array
}

/** Fits a model's weights of edits and its trees. */
async function fit(name: ModelName, measured: Measured): Promise<Fitted> {
  const folder = join(directory, name)
  mkdirSync(folder)
  const edits = writeRows(name, measured, folder)
  // The cosine is the last number.
  const columns = name === 'cosine' ? measured.names.length : measured.names.length - 1
  const script = join(import.meta.dirname, 'fit-trees.py')
  const python = Bun.spawn(['python3', script, folder, String(columns)], { stdout: 'inherit', stderr: 'inherit' })
  if ((await python.exited) !== 0) throw new Error('fit-trees.py failed')
  const trees = JSON.parse(readFileSync(join(folder, 'trees.json'), 'utf8')) as Pick<Model, 'features' | 'trees'>
  return { ...trees, edits, logOdds: new Float64Array(await Bun.file(join(folder, 'log-odds.f64')).arrayBuffer()) }
}

/** Prints what a model would serve, and writes it. */
function keep(name: ModelName, { isVetoed, cosines, space }: Measured, { logOdds, ...learned }: Fitted): void {
  const logOddsOf = (by: number, row: number) => logOdds[by * rows.length + row] ?? 0
  const scored = (at: number, by: number): ScoredPair => ({
    label: rows[at]?.label ?? 0,
    logOdds: logOddsOf(by, at),
    isVetoed: isVetoed[at] ?? true,
  })

  const close = placesOf(({ kind, set }) => kind === 'close' && !isBoardFile(set))
  const curve = curveOf(close.map(at => scored(at, foldOf(rows[at] as TrainingRow))))
  const points = choosePoints(curve)
  print(`${name}: cross-validated, by author:\nlog odds      same different     wrong of the served`)
  for (const step of curveSteps) {
    const point = curve.findLast(found => found.logOdds >= step)
    if (point) print(curveLine(point))
  }
  for (const risk of risks) {
    const point = curve.findLast(({ different }) => different <= bounds[risk])
    if (point) print(`${curveLine(point)}  ${risk}`)
  }
  const printServed = (set: string, places: readonly number[]) => {
    for (const risk of risks) {
      const counts = ([1, 0] as const).map(label => {
        const all = places.map(at => scored(at, FOLDS)).filter(pair => pair.label === label)
        return share(all.filter(pair => !pair.isVetoed && pair.logOdds > points[risk]).length, all.length)
      })
      print(`${set}, ${risk}: same ${counts[0]}; different ${counts[1]}`)
    }
  }
  const board = placesOf(({ kind, set }) => kind === 'close' && isBoardFile(set))
  printServed('board', board)
  const model: Model = { ...learned, points, space: name === 'cosine' ? space : null }
  const json = JSON.stringify(model)
  const packed = brotliCompressSync(json)
  print(`${rows.length} rows; ${model.features.length} numbers, ${model.trees.length} trees; ${packed.length} bytes`)
  if (options.without !== undefined) {
    printServed(
      options.without,
      placesOf(({ kind, set }) => kind === 'earlier' && set === options.without),
    )
    return
  }
  writeFileSync(join(MODELS, modelFiles[name]), packed)
  for (let at = 0; at < PARITY_PAIRS; at += 1) {
    const place = board[Math.floor((at * board.length) / PARITY_PAIRS)] ?? 0
    const { one, other } = rows[place] as TrainingRow
    const pair = parity[at] ?? {
      a: one.normalized,
      b: other.normalized,
      cosine: cosines[place] ?? 0,
      probabilities: {},
    }
    pair.probabilities[name] = Number((1 / (1 + Math.exp(-logOddsOf(FOLDS, place)))).toFixed(6))
    parity[at] = pair
  }
}

function placesOf(wanted: (row: TrainingRow) => boolean): number[] {
  return [...rows.keys()].filter(at => wanted(rows[at] as TrainingRow))
}

function curveLine({ logOdds, same, different, wrong }: CurvePoint): string {
  const percent = (value: number) => `${(100 * value).toFixed(2)} %`.padStart(9)
  return `${logOdds.toFixed(2).padStart(8)} ${percent(same)} ${percent(different)} ${percent(wrong)}`
}
