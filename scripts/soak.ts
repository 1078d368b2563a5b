/**
 * `bun scripts/soak.ts --minutes N [--seed S] [--log DIR]`: runs four proxies on their own PostgreSQL and Redis Cluster, a fake provider
 * and clients of all kinds, with one random outage of a store or a proxy after another. Exits non-zero for an error that no outage
 * explains, for responses that differ from the counts and records, for violations that an audit reports, and for growing memory or
 * connections.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Subprocess } from 'bun'
import { createRandom } from '../test/harness/random.ts'
import { findFreePort, startProxyProcess, stop } from './bench/processes.ts'
import { startUpstream } from './bench/targets.ts'
import { checkBooks, runAudit } from './soak/books.ts'
import { fillCaches, startClients } from './soak/clients.ts'
import { createLedger } from './soak/ledger.ts'
import { listOutages, type Outage, type RestartedProxy } from './soak/outages.ts'
import { type ProjectName, startSoakStores } from './soak/stores.ts'
import { type MemoryWatch, type Sample, sample, watchMemory } from './soak/watch.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    /** Directory of the proxies' logs; without it they are discarded. */
    log: { type: 'string' },
    /** Factor of the clients' pauses. */
    pace: { type: 'string', default: '2' },
    /** Factor of the lengths of outages and of the pauses between them. */
    length: { type: 'string', default: '1' },
    /** Only outages whose name contains this text. */
    only: { type: 'string', default: '' },
  },
})
const minutes = Number(options.minutes)
if (!(minutes > 0)) throw new Error('--minutes must be a number greater than 0. Example: --minutes 5')

const OUTAGE_MS = { least: 1_500, most: 7_000 }
const CALM_MS = { least: 5_000, most: 15_000 }
/**
 * Upper bound of the certain increase of memory in the second half of the run. A proxy's memory increases in its first half hour, so a
 * shorter run only reports it.
 */
const LEVEL_MIB = { resident: 16, heap: 4 }
const LEVEL_AFTER_MINUTES = 45
const MAX_POOLED = 256
/** Time for pending records and requests in flight to finish. */
const SETTLE_MS = 15_000
const WARM_MS = 5_000

const random = createRandom(Number(options.seed))
const between = ({ least, most }: { least: number; most: number }) =>
  (least + random() * (most - least)) * Number(options.length)
let starts = 0
process.stdout.write(`seed ${options.seed}\n`)
if (options.log) mkdirSync(options.log, { recursive: true })

const heapFolder = mkdtempSync(join(tmpdir(), 'model-proxy-soak-'))
const heapFileOf = (i: number) => join(heapFolder, String(i))
const TELL_HEAP = `--preload=${fileURLToPath(new URL('./soak/tell-heap.ts', import.meta.url))}`
const stores = await startSoakStores()
const upstream = await startUpstream()
const ports = Array.from({ length: 4 }, findFreePort)
const proxies = await Promise.all(ports.map(startProxy))
/** The first two proxies run during the whole soak; the others are stopped and restarted. */
const lasting = proxies.slice(0, 2).map((process, i) => ({ process, heapFile: heapFileOf(i) }))
const ledger = createLedger(ports.length)

function startProxy(port: number, i: number): Promise<Subprocess> {
  return startProxyProcess(
    {
      DATABASE_URL: i % 2 ? stores.relay.url : stores.postgres.url,
      REDIS_URL: stores.redis.url,
      DATABASE_MAX_CONNECTIONS: '5',
      AGGREGATOR_BASE_URL: upstream.baseUrl,
      AGGREGATOR_API_KEY: 'soak',
      EMBEDDER: 'builtin',
      UPSTREAM_CONNECT_TIMEOUT_MS: '1000',
      UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '2500',
      UPSTREAM_IDLE_TIMEOUT_MS: '2500',
      BUN_OPTIONS: TELL_HEAP,
      SOAK_HEAP_FILE: heapFileOf(i),
    },
    port,
    options.log && `${options.log}/proxy-${i}-${++starts}.log`,
  )
}

function restart(i: number): RestartedProxy {
  const port = ports[i] ?? 0
  const signal = (name: NodeJS.Signals) => proxies[i]?.kill(name)
  const end = (name: NodeJS.Signals) => {
    signal(name)
    return proxies[i]?.exited ?? Promise.resolve()
  }
  return {
    port,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async start() {
      proxies[i] = await startProxy(port, i)
    },
  }
}

try {
  if (minutes >= LEVEL_AFTER_MINUTES) {
    const askedAtMs = Date.now()
    const { steady } = stores.projects
    await Promise.all(ports.slice(0, lasting.length).map(port => fillCaches(port, steady.key, ledger)))
    process.stdout.write(`caches are full after ${((Date.now() - askedAtMs) / 1000).toFixed(0)} s\n`)
  }
  const clients = startClients({ ports, projects: stores.projects, ledger, pace: Number(options.pace) })
  await Bun.sleep(WARM_MS)
  const memory = watchMemory(lasting)
  const targets = { ...stores, proxies: [restart(2), restart(3)], upstream, random }
  const outages = listOutages(targets).filter(({ name }) => name.includes(options.only))
  await injectFor(minutes * 60_000, outages, memory)
  const faults = judgeMemory(memory)
  await Bun.sleep(between(CALM_MS))
  await clients.stop()
  await Bun.sleep(SETTLE_MS)

  const ended = await Promise.all(proxies.map(proxy => sample(proxy, upstream)))
  faults.push(...describeUnexplained(), ...ended.flatMap(judgeEnd))
  for (const project of Object.keys(stores.projects) as ProjectName[])
    faults.push(...(await checkBooks(stores.postgres.url, project, ledger)))
  faults.push(...(await runAudit(stores.postgres.url, ledger)))
  process.stdout.write(`${describeAnswers()}\n`)
  for (const fault of faults) process.stdout.write(`FAULT: ${fault}\n`)
  process.exitCode = faults.length > 0 ? 1 : 0
} finally {
  await Promise.all([...proxies.map(stop), upstream.stop()])
  await stores.remove()
  rmSync(heapFolder, { recursive: true })
}
process.exit()

/** Runs all outages about equally often: each round has all of them in a new order. */
async function injectFor(durationMs: number, outages: readonly Outage[], memory: MemoryWatch): Promise<void> {
  const endAtMs = Date.now() + durationMs
  let round: Outage[] = []
  let count = 0
  while (Date.now() < endAtMs) {
    if (round.length === 0) round = outages.toSorted(() => random() - 0.5)
    const outage = round.pop()
    if (!outage) return Bun.sleep(durationMs)
    ledger.begin(outage)
    await outage.begin()
    await Bun.sleep(between(OUTAGE_MS))
    await outage.end()
    ledger.end(outage)
    report(++count, outage, memory)
    await Bun.sleep(between(CALM_MS))
  }
}

function report(count: number, { name }: Outage, memory: MemoryWatch): void {
  const unexplained = ledger.findUnexplained().length
  const at = new Date().toISOString().slice(11, 19)
  const held = memory.now().map(mib => mib.toFixed(0))
  process.stdout.write(
    `${at} ${count}. ${name}: ${ledger.answered.length} requests, ${unexplained} unexplained, ${held.join(' ')} MiB\n`,
  )
}

function judgeMemory(memory: MemoryWatch): string[] {
  return memory.trends().flatMap((trends, i) =>
    (['resident', 'heap'] as const).flatMap(what => {
      const { last, rise, leastRise } = trends[what]
      const rose = `it rose by ${rise.toFixed(1)} in the second half, by ${leastRise.toFixed(1)} at least`
      const told = `proxy ${i}, ${what} memory: ${last.toFixed(0)} MiB, ${rose}`
      process.stdout.write(`${told}\n`)
      const isLevel = last > 0 && leastRise <= LEVEL_MIB[what]
      return minutes >= LEVEL_AFTER_MINUTES && !isLevel ? [`memory grows: ${told}`] : []
    }),
  )
}

function judgeEnd({ active, openConnections, exitCode }: Sample, i: number): string[] {
  const faults: string[] = []
  if (exitCode !== null) faults.push(`proxy ${i} exited unexpectedly with code ${exitCode}`)
  if (active > 0) faults.push(`${active} upstream calls are still in flight`)
  if (openConnections > MAX_POOLED) faults.push(`${openConnections} connections to the upstream are open`)
  return faults
}

function describeUnexplained(): string[] {
  return ledger.findUnexplained().map(one => {
    const at = new Date(one.startedAtMs).toISOString().slice(11, 23)
    return `${at} ${one.kind} (${one.project}) after ${one.endedAtMs - one.startedAtMs} ms: status ${one.status} ${one.code ?? ''} ${one.detail ?? ''} [${one.id}]`
  })
}

/** Number of responses by status. */
function describeAnswers(): string {
  const counts = new Map<string, number>()
  for (const { status, hasLeft, isWhole } of ledger.answered) {
    const what = hasLeft ? 'disconnected' : status === 200 && !isWhole ? '200 incomplete' : String(status)
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  return [...counts].map(([what, count]) => `${what}: ${count}`).join(', ')
}
