/**
 * Trains the learned verifier from `pairs/`: `bun run train-verifier`. Writes its two models in src/cache/verify, one of the words alone and
 * one that also reads the cosine of the sentence model in vendor/, and the fixture of the test that compares them with LightGBM. Prints the
 * cross-validated curves and what the board would be served. The same data, code and versions make the same files. `--without rounds.jsonl`
 * leaves a file of earlier pairs out, prints what of it would be served, and writes nothing.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import { loadEmbeddingModel } from '../../src/cache/embedders/local/load-model.ts'
import { pairFeatures } from '../../src/cache/verify/pair-features.ts'
import { readQuestion } from '../../src/cache/verify/question-words.ts'
import { type Model, type ModelName, modelNames } from '../../src/cache/verify/trees.ts'
import { findBrokenLaw } from '../../src/cache/verify/verify.ts'
import { BUNDLED_MODEL_PATH } from '../../src/config/embedder.ts'
import { cosine } from './compare.ts'
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
const modelFiles: Record<ModelName, string> = { words: 'model.json.br', cosine: 'model-cosine.json.br' }

const print = (line: string) => process.stdout.write(`${line}\n`)
const report = (line: string) => process.stderr.write(`${line}\n`)

/** Where LightGBM reads the rows and writes the trees. */
const directory = mkdtempSync(join(tmpdir(), 'train-verifier-'))
const rows = readTrainingRows(options.without)
const parity: { a: string; b: string; cosine: number; probabilities: Record<string, number> }[] = []
try {
  const measured = await writeRows()
  for (const name of modelNames) await train(name, measured)
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
  readonly isVetoed: readonly boolean[]
  readonly cosines: Float32Array
  readonly space: string
}

/** Measures the rows and writes what is fitted. */
async function writeRows(): Promise<Measured> {
  const { cosines, space } = await embedRows()
  let names: readonly string[] = []
  let numbers = new Float32Array()
  const isOutOfReach: boolean[] = []
  const isVetoed = rows.map(({ one, other, label, kind }, at) => {
    const features = pairFeatures(readQuestion(one.normalized), readQuestion(other.normalized), cosines[at])
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
  const write = (name: string, content: string | Uint8Array | Float32Array) =>
    writeFileSync(join(directory, name), content)
  write('names.json', JSON.stringify(names))
  write('numbers.f32', numbers)
  const column = (read: (row: TrainingRow, at: number) => number) => rows.map(read)
  write('labels.u8', Uint8Array.from(column(({ label }) => label)))
  write('weights.f32', Float32Array.from(column(({ weight }) => weight)))
  write('trained.u8', Uint8Array.from(column(({ trained }, at) => (isOutOfReach[at] === true ? 0 : trained))))
  return { names, isVetoed, cosines, space }
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

/** Fits a model, prints what it would serve, and writes it. */
async function train(name: ModelName, { names, isVetoed, cosines, space }: Measured): Promise<void> {
  // The cosine is the last number.
  const columns = name === 'cosine' ? names.length : names.length - 1
  const script = join(import.meta.dirname, 'fit-trees.py')
  const python = Bun.spawn(['python3', script, directory, String(columns)], { stdout: 'inherit', stderr: 'inherit' })
  if ((await python.exited) !== 0) throw new Error('fit-trees.py failed')
  const logOdds = new Float64Array(await Bun.file(join(directory, 'log-odds.f64')).arrayBuffer())
  const trees = JSON.parse(readFileSync(join(directory, 'trees.json'), 'utf8')) as Pick<Model, 'features' | 'trees'>
  const logOddsOf = (by: number, row: number) => logOdds[by * rows.length + row] ?? 0
  const scored = (at: number, by: number): ScoredPair => ({
    label: rows[at]?.label ?? 0,
    logOdds: logOddsOf(by, at),
    isVetoed: isVetoed[at] ?? true,
  })

  const close = placesOf(({ kind, set }) => kind === 'close' && !isBoardFile(set))
  const curve = curveOf(close.map(at => scored(at, foldOf(rows[at]))))
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
  const board = placesOf(({ set }) => isBoardFile(set))
  printServed('board', board)
  const model: Model = { ...trees, points, space: name === 'cosine' ? space : null }
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
  writeFileSync(join(ROOT, 'src/cache/verify', modelFiles[name]), packed)
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

/** The number of the cross-validation model that is not trained on the row. */
function foldOf({ trained }: Pick<TrainingRow, 'trained'> = { trained: 0 }): number {
  return Array.from({ length: FOLDS }).findIndex((_, fold) => (trained & (1 << fold)) === 0)
}

function curveLine({ logOdds, same, different, wrong }: CurvePoint): string {
  const percent = (value: number) => `${(100 * value).toFixed(2)} %`.padStart(9)
  return `${logOdds.toFixed(2).padStart(8)} ${percent(same)} ${percent(different)} ${percent(wrong)}`
}
