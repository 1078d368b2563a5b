/**
 * Prints which labelled pairs the cache would serve, correctly and wrongly: `bun run evaluate [FILE…] [--threshold 0.95] [--embedder
 * builtin|local|recorded] [--through-the-door]`. For each policy and risk, prints the curve over thresholds, by set and by class, with 95 %
 * intervals, and people's verdicts beside the labels where there are any. `--embedder recorded` uses the `similarity` in the pairs.
 * `--project acme` reads a project's own verdicts from DATABASE_URL instead of files. `--through-the-door` sends each pair over HTTP
 * through a separate proxy. `--board FOLDER [--stream 10000]` compares policies and plain cosine by the measures of publications, for each
 * file of the directory (.jsonl, .csv, .tsv) and each `--embedder`.
 */
import { parseArgs } from 'node:util'
import { boardLines } from './board/board.ts'
import { type Compare, openCompare } from './compare.ts'
import { curveLines, servedLines } from './curve.ts'
import { openDoor } from './door.ts'
import { type LabelledPair, readPairs } from './pairs.ts'
import { readVerdicts } from './verdicts.ts'
import { type WeighedPair, weighPair } from './weigh.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threshold: { type: 'string', default: '0.95' },
    embedder: { type: 'string', multiple: true, default: ['builtin'] },
    board: { type: 'string' },
    stream: { type: 'string', default: '10000' },
    project: { type: 'string' },
    'through-the-door': { type: 'boolean', default: false },
  },
})
const CONCURRENCY = 8
const TOLD_EVERY_MS = 5_000

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

if (options.project !== undefined) print(...curveLines(await readVerdicts(options.project)))
else if (options.board !== undefined) await showBoard(options.board)
else if (options['through-the-door']) await throughTheDoor([...readPairs(positionals)])
else await onThisMachine([...readPairs(positionals)])

async function onThisMachine(pairs: readonly LabelledPair[]): Promise<void> {
  await withEmbedders(async embedders => {
    for (const embedder of embedders) {
      const weighed: WeighedPair[] = []
      for (const pair of pairs) weighed.push(await weighPair(pair, embedder))
      print(...curveLines(weighed))
    }
  })
}

async function showBoard(folder: string): Promise<void> {
  const [threshold, streamed] = [Number(options.threshold), Number(options.stream)]
  if (!Number.isFinite(threshold)) throw new Error('--threshold must be a number')
  if (!Number.isSafeInteger(streamed) || streamed < 0) throw new Error('--stream must be a whole number of questions')
  await withEmbedders(async embedders => {
    for await (const line of boardLines(folder, embedders, { threshold, streamed, tell: createProgress() })) print(line)
  })
}

async function withEmbedders(use: (embedders: readonly Compare[]) => Promise<void>): Promise<void> {
  const embedders: Compare[] = []
  try {
    for (const name of options.embedder) embedders.push(await openCompare(name))
    await use(embedders)
  } finally {
    await Promise.all(embedders.map(({ close }) => close()))
  }
}

/** Returns a function that writes progress to standard error at intervals. */
function createProgress(): (progress: string) => void {
  let toldAt = performance.now()
  return progress => {
    if (performance.now() - toldAt < TOLD_EVERY_MS) return
    toldAt = performance.now()
    process.stderr.write(`${progress}\n`)
  }
}

async function throughTheDoor(pairs: readonly LabelledPair[]): Promise<void> {
  const door = await openDoor()
  try {
    for (const policy of ['verified', 'proved', 'threshold']) {
      await door.set({ semantic_policy: policy })
      const served = new Set<LabelledPair>()
      const left = pairs.values()
      const work = async () => {
        for (const pair of left) if (await door.isServed(pair, Number(options.threshold))) served.add(pair)
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, work))
      print(...servedLines(policy, pairs, pair => served.has(pair)))
    }
  } finally {
    await door.close()
  }
}
