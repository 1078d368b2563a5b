/**
 * Prints what the cache would serve, right and wrong, on labelled pairs: `bun run evaluate [FILE.jsonl…] [--threshold 0.95]
 * [--embedder builtin|local|recorded] [--through-the-door]`. For each policy and risk: the curve over thresholds, by set and by class, with
 * 95 % intervals, and beside the labels what a person said of the pairs that were read. `--embedder recorded` takes the `similarity` in the
 * pairs. `--project acme` takes a project's own verdicts from DATABASE_URL instead of files. `--through-the-door` sends each pair through a
 * real proxy of its own, over HTTP.
 */
import { parseArgs } from 'node:util'
import { embedderNames, openCompare } from './compare.ts'
import { curveLines, servedLines, weighPairs } from './curve.ts'
import { openDoor } from './door.ts'
import { type LabelledPair, readPairs } from './pairs.ts'
import { readVerdicts } from './verdicts.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threshold: { type: 'string', default: '0.95' },
    embedder: { type: 'string', default: 'builtin' },
    project: { type: 'string' },
    'through-the-door': { type: 'boolean', default: false },
  },
})
const CONCURRENCY = 8

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

if (options.project !== undefined) {
  print(...curveLines(await readVerdicts(options.project)))
} else {
  const pairs = readPairs(positionals)
  if (options['through-the-door']) await throughTheDoor()
  else await onThisMachine()

  async function onThisMachine(): Promise<void> {
    const name = embedderNames.find(each => each === options.embedder)
    if (!name) throw new Error(`--embedder must be one of ${embedderNames.join(', ')}`)
    const compare = await openCompare(name)
    try {
      print(...curveLines(await weighPairs(pairs, compare)))
    } finally {
      await compare.close()
    }
  }

  async function throughTheDoor(): Promise<void> {
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
}
