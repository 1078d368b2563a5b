/**
 * Prints what the cache would serve, right and wrong, on labelled pairs: `bun run evaluate [FILE.jsonl…] [--threshold 0.95] [--in-process]`.
 * Each pair goes through a real proxy over HTTP (with DATABASE_URL and REDIS_URL, or what scripts/services.sh starts); `--in-process`
 * asks proof and the built-in embedder directly, without stores.
 */
import { parseArgs } from 'node:util'
import { bypassReason } from '../../src/cache/proof/bypass.ts'
import { prove } from '../../src/cache/proof/prove.ts'
import { createBuiltinEmbedder } from '../../src/embedders/builtin.ts'
import { readPrompt } from '../../src/text/read-prompt.ts'
import { ablationLines } from './ablation.ts'
import { openDoor } from './door.ts'
import { type LabelledPair, readPairs } from './pairs.ts'
import { type Outcome, scoreLines } from './score.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threshold: { type: 'string', default: '0.95' },
    pairs: { type: 'string', multiple: true, default: [] },
    'in-process': { type: 'boolean', default: false },
  },
})
const CONCURRENCY = 8
const policies = ['proved', 'threshold'] as const
const threshold = Number(options.threshold)
const pairs = readPairs([...options.pairs, ...positionals])

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

async function mapAll(
  asked: readonly LabelledPair[],
  isServed: (pair: LabelledPair) => Promise<boolean>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const left = asked.entries()
  const work = async () => {
    for (const [at, pair] of left) outcomes[at] = { ...pair, isServed: await isServed(pair) }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return outcomes
}

async function throughTheDoor(): Promise<void> {
  const door = await openDoor()
  const ask = (asked: readonly LabelledPair[]) => mapAll(asked, pair => door.isServed(pair, threshold))
  try {
    for (const policy of policies) {
      await door.set({ semantic_policy: policy })
      print(...scoreLines(policy, await ask(pairs)))
    }
  } finally {
    await door.close()
  }
}

async function inProcess(): Promise<void> {
  const embedder = createBuiltinEmbedder()
  for (const policy of policies) {
    const isServed = async ({ a, b }: LabelledPair) => {
      const [stored, asked] = [readPrompt(a), readPrompt(b)]
      if (a === b) return true
      const [one, other] = [await embedder.embed(stored.normalized), await embedder.embed(asked.normalized)]
      const cosine = one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
      const isNear = stored.normalized === asked.normalized || cosine > threshold
      if (policy === 'threshold' || !isNear) return isNear
      return bypassReason(asked) === null && bypassReason(stored) === null && prove(asked, stored).proved
    }
    print(...scoreLines(policy, await mapAll(pairs, isServed)))
  }
}

print(`${pairs.length} pairs, threshold ${threshold}, ${options['in-process'] ? 'in process' : 'through the door'}`)
await (options['in-process'] ? inProcess() : throughTheDoor())
print(...ablationLines(pairs))
