/**
 * Prints what the cache would serve, right and wrong, on labelled pairs: `bun run evaluate [FILE.jsonl…] [--threshold 0.95]
 * [--embedder builtin|local] [--through-the-door]`. For each policy and risk: the curve over thresholds, by set and by class, with 95 %
 * intervals. A pair may hold a hand judgement (`hand`: 1 or 0) that overrules its label. `--project acme` takes a project's own verdicts
 * from DATABASE_URL instead of files. `--through-the-door` sends each pair through a real proxy of its own, over HTTP.
 */
import { parseArgs } from 'node:util'
import { curveLines, weighPairs } from './curve.ts'
import { openDoor } from './door.ts'
import { readPairs } from './pairs.ts'
import { type Outcome, scoreLines } from './score.ts'
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
  else print(...curveLines(await weighPairs(pairs, options.embedder === 'local' ? 'local' : 'builtin')))

  async function throughTheDoor(): Promise<void> {
    const door = await openDoor()
    try {
      for (const policy of ['verified', 'proved', 'threshold']) {
        await door.set({ semantic_policy: policy })
        const outcomes: Outcome[] = []
        const left = pairs.entries()
        const work = async () => {
          for (const [at, pair] of left)
            outcomes[at] = { ...pair, isServed: await door.isServed(pair, Number(options.threshold)) }
        }
        await Promise.all(Array.from({ length: CONCURRENCY }, work))
        print(...scoreLines(policy, outcomes))
      }
    } finally {
      await door.close()
    }
  }
}
