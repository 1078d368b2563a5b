/**
 * Prints how well similarity and guards tell questions apart, on labelled pairs: `bun scripts/evaluate-guards.ts DIRECTORY`, where the
 * directory holds `questions-with-similarity.jsonl`, `questions.jsonl` and `traps.jsonl` (see `LabelledPair`). Rows with an even
 * number were looked at while the guards were written, odd ones were not.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { extractFeatures } from '../src/cache/guards/extract-features.ts'
import { findVeto } from '../src/cache/guards/find-veto.ts'
import { needsFreshAnswer } from '../src/cache/guards/needs-fresh-answer.ts'
import { createBuiltinEmbedder } from '../src/embedders/builtin.ts'
import { normalizePrompt } from '../src/text/normalize/normalize-prompt.ts'

interface LabelledPair {
  a: string
  b: string
  /** 1 where both questions want the same answer. */
  label: 0 | 1
  /** The cosine an embedder gave the pair. */
  similarity?: number
  category?: string
}

interface JudgedPair extends LabelledPair {
  cosine: number
  /** What keeps the pair apart; null where one's answer would be served for the other. */
  stoppedBy: string | null
}

const thresholds = [0.8, 0.85, 0.9, 0.93, 0.95]
const embedder = createBuiltinEmbedder()

function readPairs(directory: string, file: string): LabelledPair[] {
  const lines = readFileSync(join(directory, file), 'utf8').split('\n')
  return lines.filter(Boolean).map(line => JSON.parse(line) as LabelledPair)
}

async function judge(pair: LabelledPair): Promise<JudgedPair> {
  const cosine = pair.similarity ?? (await cosineOf(pair.a, pair.b))
  const isFresh = needsFreshAnswer(pair.a) || needsFreshAnswer(pair.b)
  const veto = findVeto(extractFeatures(pair.a), extractFeatures(pair.b))
  return { ...pair, cosine, stoppedBy: isFresh ? 'freshness' : veto }
}

async function cosineOf(one: string, other: string): Promise<number> {
  const [a, b] = [await embedder.embed(normalizePrompt(one)), await embedder.embed(normalizePrompt(other))]
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
}

function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}

function printSweep(title: string, pairs: readonly JudgedPair[]): void {
  const positives = pairs.filter(pair => pair.label === 1).length
  print(`\n${title}: ${pairs.length} pairs, ${positives} of them the same question`)
  print('similarity  served  precision  recall   with guards: served  precision  recall')
  for (const threshold of thresholds) {
    const alike = pairs.filter(pair => pair.cosine > threshold)
    const served = alike.filter(pair => pair.stoppedBy === null)
    print(`> ${threshold.toFixed(2)}    ${scores(alike, positives)}             ${scores(served, positives)}`)
  }
}

function scores(served: readonly JudgedPair[], positives: number): string {
  const right = served.filter(pair => pair.label === 1).length
  const precision = served.length === 0 ? '-' : (right / served.length).toFixed(3)
  return `${String(served.length).padStart(7)} ${precision.padStart(10)} ${(right / Math.max(1, positives)).toFixed(3).padStart(7)}`
}

function printTraps(pairs: readonly JudgedPair[]): void {
  print(`\nTraps: ${pairs.length} pairs`)
  print('category            same, served   different, stopped   served by the embedder alone at 0.95')
  const categories = [...new Set(pairs.map(pair => pair.category ?? 'none'))]
  for (const category of [...categories, 'all']) {
    const rows = pairs.filter(pair => category === 'all' || (pair.category ?? 'none') === category)
    const same = rows.filter(pair => pair.label === 1)
    const different = rows.filter(pair => pair.label === 0)
    const kept = same.filter(pair => pair.stoppedBy === null).length
    const stopped = different.filter(pair => pair.stoppedBy !== null).length
    const alike = rows.filter(pair => pair.cosine > 0.95).length
    print(
      `${category.padEnd(18)} ${`${kept} of ${same.length}`.padStart(13)} ${`${stopped} of ${different.length}`.padStart(20)} ${String(alike).padStart(10)}`,
    )
  }
  for (const pair of pairs.filter(pair => (pair.label === 1) === (pair.stoppedBy !== null))) {
    print(`  ${pair.label === 1 ? 'lost' : 'WRONG'} (${pair.stoppedBy ?? 'served'}): ${pair.a} | ${pair.b}`)
  }
}

function printReasons(pairs: readonly JudgedPair[]): void {
  print('\nStopped by         different    same (at any similarity)')
  for (const reason of [...new Set(pairs.map(pair => pair.stoppedBy))].filter(reason => reason !== null)) {
    const stopped = pairs.filter(pair => pair.stoppedBy === reason)
    const same = stopped.filter(pair => pair.label === 1).length
    print(`${reason.padEnd(18)} ${String(stopped.length - same).padStart(9)} ${String(same).padStart(7)}`)
  }
}

async function evaluate(directory: string): Promise<void> {
  const read = (file: string) => Promise.all(readPairs(directory, file).map(judge))
  const scored = await read('questions-with-similarity.jsonl')
  const questions = await read('questions.jsonl')
  for (const [half, parity] of [
    ['even rows', 0],
    ['odd rows, held out', 1],
  ] as const) {
    printSweep(
      `Similarity as given, ${half}`,
      scored.filter((_, at) => at % 2 === parity),
    )
    printSweep(
      `Built-in embedder, ${half}`,
      questions.filter((_, at) => at % 2 === parity),
    )
  }
  printReasons([...scored, ...questions])
  printTraps(await read('traps.jsonl'))
}

const [directory] = process.argv.slice(2)
if (directory === undefined) {
  process.stderr.write('usage: bun scripts/evaluate-guards.ts DIRECTORY\n')
  process.exit(2)
}
await evaluate(directory)
