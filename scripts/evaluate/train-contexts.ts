/**
 * Trains the classifier of contexts from `contexts/`: `bun run train-contexts`. Writes src/cache/text/wording-model.json.br and prints what
 * is found, cross-validated by author and on the board. The same data, code and lexicon make the same file.
 *
 * A prompt about wording says so in one sentence. Which one that is, is not labelled: it is the one with the highest score by the model of the
 * previous round, and the first model learns from single instructions.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import {
  featuresOfWord,
  lengthFactor,
  type Sentence,
  WEIGHT_UNITS,
  type WordingModel,
} from '../../src/cache/text/wording-instructions.ts'
import { describeFound, isBoardContext, isWhole, type LabelledContext, readContexts } from './contexts.ts'
import { dotProduct, type ExampleRow, fitLogistic } from './fit-logistic.ts'

const MODEL = join(import.meta.dirname, '../../src/cache/text/wording-model.json.br')
/** The cost of errors against that of large weights. */
const COST = 20
/** The instructions that a program has composed from parts. They resemble each other, so each has less weight. */
const COMPOSED = 'composed'
const COMPOSED_WEIGHT = 0.3
const ROUNDS = 3
/** Features of fewer sentences are not learned. */
const MIN_SENTENCES = 2
/**
 * Largest cross-validated shares of texts without such an instruction that are taken for ones with it. Half of the authors' short texts are
 * close to one.
 */
const maxFalseAlarms = { short: 0.04, whole: 0.05 } as const

type Encoded = Pick<ExampleRow, 'features' | 'counts'>

interface Fit {
  readonly names: readonly string[]
  readonly weights: Float64Array
  /** The highest score of a sentence. */
  readonly scoreOf: (context: LabelledContext) => number
}

const countedFeatures = new Map<Sentence, ReadonlyMap<string, number>>()

/** Returns a sentence's features with their counts. The empty feature is the bias. */
function countFeatures(sentence: Sentence): ReadonlyMap<string, number> {
  const known = countedFeatures.get(sentence)
  if (known) return known
  const counts = new Map([['', 1]])
  for (const feature of [...sentence.pairs, ...sentence.words.flatMap(featuresOfWord)])
    counts.set(feature, (counts.get(feature) ?? 0) + 1)
  countedFeatures.set(sentence, counts)
  return counts
}

function fit(contexts: readonly LabelledContext[]): Fit {
  const sentenceCounts = new Map<string, number>()
  for (const sentence of contexts.flatMap(({ sentences }) => sentences))
    for (const feature of countFeatures(sentence).keys())
      sentenceCounts.set(feature, (sentenceCounts.get(feature) ?? 0) + 1)
  const names = [...sentenceCounts].filter(([, count]) => count >= MIN_SENTENCES).map(([name]) => name)
  const positions = new Map(names.map((name, at) => [name, at]))
  function encode(sentence: Sentence): Encoded {
    const all = countFeatures(sentence)
    const factor = lengthFactor(all.values().reduce((sum, count) => sum + count, -1))
    const found = [...all].filter(([name]) => positions.has(name))
    return {
      features: Int32Array.from(found, ([name]) => positions.get(name) ?? 0),
      counts: Float64Array.from(found, ([name, count]) => (name === '' ? 1 : count * factor)),
    }
  }
  const encoded = contexts.map(({ sentences }) => sentences.map(encode))
  let weights: Float64Array | undefined
  for (let round = 0; round < ROUNDS; round++) {
    const rows = contexts.flatMap((context, at) => labelSentences(context, encoded[at] ?? [], weights))
    weights = fitLogistic(rows, names.length, COST)
  }
  const learned = weights ?? new Float64Array()
  const scoreOf = ({ sentences }: LabelledContext) =>
    Math.max(-Infinity, ...sentences.map(sentence => dotProduct(encode(sentence), learned)))
  return { names, weights: learned, scoreOf }
}

/** Of a context about wording, the sentence with the highest score is labelled 1, and in a whole prompt the others -1. */
function labelSentences(context: LabelledContext, rows: readonly Encoded[], weights?: Float64Array): ExampleRow[] {
  const weight = context.author === COMPOSED ? COMPOSED_WEIGHT : 1
  const label = (row: Encoded, value: 1 | -1) => ({ ...row, label: value, weight })
  if (context.label === 0) return rows.map(row => label(row, -1))
  if (weights === undefined) return isWhole(context) ? [] : rows.map(row => label(row, 1))
  const scores = rows.map(row => dotProduct(row, weights))
  const best = scores.indexOf(Math.max(...scores))
  return rows.flatMap((row, at) => {
    if (at === best) return [label(row, 1)]
    return isWhole(context) ? [label(row, -1)] : []
  })
}

const print = (line: string) => process.stdout.write(`${line}\n`)

const contexts = readContexts()
const trained = contexts.filter(context => !isBoardContext(context))
const authors = [...new Set(trained.map(({ author }) => author))]
const scores = new Map<LabelledContext, number>()
for (const author of authors) {
  const { scoreOf } = fit(trained.filter(context => context.author !== author))
  for (const context of trained) if (context.author === author) scores.set(context, scoreOf(context))
}
function chooseThreshold(kind: 'short' | 'whole'): number {
  const alarms = trained
    .filter(context => context.label === 0 && kindOf(context) === kind)
    .map(context => scores.get(context) ?? 0)
    .sort((one, other) => other - one)
  return alarms[Math.floor(maxFalseAlarms[kind] * alarms.length)] ?? 0
}
const kindOf = (context: LabelledContext) => (isWhole(context) ? 'whole' : 'short')
const thresholds = { short: chooseThreshold('short'), whole: chooseThreshold('whole') }
const isFound = (context: LabelledContext) => (scores.get(context) ?? 0) > thresholds[kindOf(context)]
print(
  `cross-validated by author, above log odds of ${thresholds.short.toFixed(2)} (short), ${thresholds.whole.toFixed(2)} (whole)\n${describeFound(trained, isFound)}`,
)
for (const author of authors)
  print(
    `${author}\n${describeFound(
      trained.filter(context => context.author === author),
      isFound,
    )}`,
  )

const { names, weights, scoreOf } = fit(trained)
const rounded = names
  .map((name, at) => [name, Math.round(WEIGHT_UNITS * (weights[at] ?? 0))] as const)
  .filter(([name, weight]) => name !== '' && weight !== 0)
  .sort(([one], [other]) => (one < other ? -1 : 1))
const withoutFeatures = weights[names.indexOf('')] ?? 0
const biasAbove = (threshold: number) => Number((withoutFeatures - threshold).toFixed(4))
const model: WordingModel = {
  bias: { short: biasAbove(thresholds.short), whole: biasAbove(thresholds.whole) },
  weights: Object.fromEntries(rounded),
}
const json = JSON.stringify(model)
const packed = brotliCompressSync(json)
writeFileSync(MODEL, packed)
print(
  `${trained.length} contexts; ${rounded.length} of ${names.length} features; ${json.length} bytes, ${packed.length} packed`,
)
for (const board of new Set(contexts.filter(isBoardContext).map(({ author }) => author)))
  print(
    `board ${board}\n${describeFound(
      contexts.filter(({ author }) => author === board),
      context => scoreOf(context) > thresholds[kindOf(context)],
    )}`,
  )
