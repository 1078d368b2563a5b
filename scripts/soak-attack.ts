/**
 * `bun scripts/soak-attack.ts [--seconds N] [--rounds N]`: how long a paying client waits alone, during an attack on the proxy, and
 * during the same attack on a server that discards everything, which shows the effect of the machine. In turn.
 */
import { parseArgs } from 'node:util'
import { createProject, issueKey } from '../src/postgres/projects.ts'
import { openRealDatabase } from '../src/postgres/real.ts'
import { findFreePort, startAndRead, startProxyProcess, stop } from './bench/processes.ts'
import { prepareStores } from './bench/stores.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    log: { type: 'string' },
  },
})
const SECONDS = Number(options.seconds)
const ROUNDS = Number(options.rounds)
const EVERY_MS = 40
const KINDS = ['large bodies', 'prompts', 'schemas', 'own large bodies', 'idle connections', 'streams never read']
/** What a paying project does to itself is reported apart from attacks by strangers and test keys. */
const FROM_OTHERS = KINDS.filter(kind => kind !== 'own large bodies')
const TURNS = [...KINDS.map(kind => [kind]), FROM_OTHERS, KINDS].filter(kinds =>
  kinds.join(' + ').includes(options.only),
)

const stores = await prepareStores()
const database = openRealDatabase({ url: stores.environment.DATABASE_URL, maxConnections: 1 })
await createProject(database, 'attacker', 'bench')
const testKey = await issueKey(database, 'attacker', 'test', 'attacker')
await database.close()
const upstream = await startAndRead('test/standin/main.ts', ['--port', '0'])
const port = findFreePort()
const proxy = await startProxyProcess(
  {
    ...stores.environment,
    AGGREGATOR_BASE_URL: JSON.parse(upstream.firstLine).baseUrl,
    AGGREGATOR_API_KEY: 'k',
    EMBEDDER: 'builtin',
    TRUST_PROXY: '1',
  },
  port,
  options.log,
)
const bin = Bun.serve({ port: 0, hostname: '127.0.0.1', maxRequestBodySize: 2 ** 40, fetch: takeAll })
const origin = `http://127.0.0.1:${port}`

async function takeAll(request: Request): Promise<Response> {
  for await (const _ of request.body ?? []);
  return new Response('{}')
}

try {
  await measure(3)
  process.stdout.write(
    '| attack | quiet p50 | p99 | control p99 | attack p50 | p99 | max | p99 to quiet | to control | refused |\n|---|---|---|---|---|---|---|---|---|---|\n',
  )
  for (const kinds of TURNS) {
    const quiet: Sample[] = []
    const control: Sample[] = []
    const attacked: Sample[] = []
    for (let round = 0; round < ROUNDS; round++) {
      quiet.push(...(await measure(SECONDS)))
      control.push(...(await under(kinds, `http://127.0.0.1:${bin.port}`)))
      attacked.push(...(await under(kinds, origin)))
      await Bun.sleep(1_000)
    }
    describe(kinds, quiet, control, attacked)
  }
} finally {
  await Promise.all([stop(proxy), stop(upstream.process)])
  await stores.drop()
}
process.exit()

interface Sample {
  tookMs: number
  status: number
}

async function under(kinds: readonly string[], target: string): Promise<Sample[]> {
  const attackers = await startAndRead('scripts/soak/attackers.ts', [
    JSON.stringify({ origin: target, key: testKey, kinds }),
  ])
  await Bun.sleep(500)
  const samples = await measure(SECONDS)
  attackers.process.kill('SIGKILL')
  await attackers.process.exited
  return samples
}

/** At a steady rate, without waiting for earlier responses: slow responses are not left out. */
async function measure(seconds: number): Promise<Sample[]> {
  const asked: Promise<Sample>[] = []
  const endAtMs = performance.now() + seconds * 1000
  while (performance.now() < endAtMs) {
    asked.push(pay(asked.length))
    await Bun.sleep(EVERY_MS)
  }
  return Promise.all(asked)
}

async function pay(n: number): Promise<Sample> {
  const content = n % 4 === 0 ? `Describe ${crypto.randomUUID()}.` : 'Describe the sea.'
  const startedAtMs = performance.now()
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stores.key}`,
      'content-type': 'application/json',
      'x-forwarded-for': '198.51.100.7',
    },
    body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] }),
    signal: AbortSignal.timeout(30_000),
  }).catch(() => null)
  await response?.arrayBuffer()
  return { tookMs: performance.now() - startedAtMs, status: response?.status ?? 0 }
}

function describe(kinds: readonly string[], quiet: Sample[], control: Sample[], attacked: Sample[]): void {
  const at = (samples: Sample[], share: number) => {
    const sorted = samples.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  }
  const p99 = at(attacked, 0.99)
  const cells = [
    kinds === KINDS ? 'all together' : kinds === FROM_OTHERS ? 'all but own large bodies' : kinds[0],
    ...[at(quiet, 0.5), at(quiet, 0.99), at(control, 0.99), at(attacked, 0.5), p99, at(attacked, 1)].map(ms =>
      ms.toFixed(1),
    ),
    `${(p99 / at(quiet, 0.99)).toFixed(1)} ×`,
    `${(p99 / at(control, 0.99)).toFixed(1)} ×`,
    attacked.filter(({ status }) => status !== 200).length,
  ]
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}
