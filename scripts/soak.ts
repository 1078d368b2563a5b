/**
 * `bun scripts/soak.ts --minutes N [--seed S] [--log DIR]`: four proxies on a PostgreSQL and a Redis Cluster of their own, a simulated
 * upstream, clients of all kinds, and one random outage after another, of the proxies, too. Exits non-zero for an error that no outage explains, for responses that differ from
 * what was counted and recorded, and for growing memory or sockets.
 */
import { parseArgs } from 'node:util'
import type { Subprocess } from 'bun'
import { createRandom } from '../test/harness/random.ts'
import { findFreePort, startAndRead, startProxyProcess, stop } from './bench/processes.ts'
import { checkBooks } from './soak/books.ts'
import { startClients } from './soak/clients.ts'
import { createLedger } from './soak/ledger.ts'
import { listOutages, type Outage, type RestartedProxy } from './soak/outages.ts'
import { type ProjectName, startSoakStores } from './soak/stores.ts'
import { type Sample, watchProxy } from './soak/watch.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    /** Folder for the proxies' logs; without it none are kept. */
    log: { type: 'string' },
    /** Factor for the clients' pauses. */
    pace: { type: 'string', default: '2' },
    /** Factor for the lengths of outages, and of the calm between them. */
    length: { type: 'string', default: '1' },
    /** Only outages whose name contains this. */
    only: { type: 'string', default: '' },
  },
})
const minutes = Number(options.minutes)
if (!(minutes > 0)) throw new Error('--minutes must be a number greater than 0. Example: --minutes 5')

const OUTAGE_MS = { least: 1_500, most: 7_000 }
const CALM_MS = { least: 5_000, most: 15_000 }
/** Memory that garbage and pools may add to a warm proxy. */
const LEVEL_MIB = 160
const MAX_POOLED = 256
/** Time for pending records and requests in flight. */
const SETTLE_MS = 15_000
const WARM_MS = 5_000
/** Memory is compared with what it was after this part of the time, but at most so long: caches have filled by then. */
const FILLED_AFTER = { share: 0.1, mostMs: 300_000 }

const random = createRandom(Number(options.seed))
const between = ({ least, most }: { least: number; most: number }) =>
  (least + random() * (most - least)) * Number(options.length)
let starts = 0
let outageCount = 0
process.stdout.write(`seed ${options.seed}\n`)

const stores = await startSoakStores()
const upstream = await startAndRead('test/standin/main.ts', ['--port', '0'])
const upstreamUrl: string = JSON.parse(upstream.firstLine).baseUrl
const upstreamOrigin = new URL(upstreamUrl).origin
const ports = Array.from({ length: 4 }, findFreePort)
const proxies = await Promise.all(ports.map(startProxy))
const ledger = createLedger(ports.length)

function startProxy(port: number, i: number): Promise<Subprocess> {
  return startProxyProcess(
    {
      DATABASE_URL: i % 2 ? stores.relay.url : stores.postgres.url,
      REDIS_URL: stores.redis.url,
      DATABASE_MAX_CONNECTIONS: '5',
      AGGREGATOR_BASE_URL: upstreamUrl,
      AGGREGATOR_API_KEY: 'soak',
      EMBEDDER: 'builtin',
      UPSTREAM_CONNECT_TIMEOUT_MS: '1000',
      UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '2500',
      UPSTREAM_IDLE_TIMEOUT_MS: '2500',
    },
    port,
    options.log && `${options.log}/proxy-${i}-${++starts}.log`,
  )
}

/** One that lives as long as the soak tells about memory; these are ended, and started again. */
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
  const clients = startClients({ ports, projects: stores.projects, ledger, pace: Number(options.pace) })
  await Bun.sleep(WARM_MS)
  const sample = () => Promise.all(proxies.map(proxy => watchProxy(proxy, upstreamOrigin).sample()))
  const targets = { ...stores, proxies: [restart(2), restart(3)], script, upstreamPid: upstream.process.pid, random }
  const outages = listOutages(targets).filter(({ name }) => name.includes(options.only))
  const filledAfterMs = Math.min(FILLED_AFTER.mostMs, minutes * 60_000 * FILLED_AFTER.share)
  await injectFor(filledAfterMs, outages)
  const begun = await sample()
  await injectFor(minutes * 60_000 - filledAfterMs, outages)
  await Bun.sleep(between(CALM_MS))
  await clients.stop()
  await Bun.sleep(SETTLE_MS)

  const ended = await sample()
  const faults = [...describeUnexplained(), ...judge(begun, ended)]
  for (const project of Object.keys(stores.projects) as ProjectName[])
    faults.push(...(await checkBooks(stores.postgres.url, project, ledger)))
  process.stdout.write(`${describeAnswers()}\n`)
  for (const fault of faults) process.stdout.write(`FAULT: ${fault}\n`)
  process.exitCode = faults.length > 0 ? 1 : 0
} finally {
  await Promise.all([...proxies, upstream.process].map(stop))
  await stores.remove()
}
process.exit()

async function script(scenario: unknown): Promise<void> {
  const method = scenario === null ? 'DELETE' : 'PUT'
  await fetch(`${upstreamOrigin}/__script`, {
    method,
    ...(scenario === null ? {} : { body: JSON.stringify(scenario) }),
  })
}

/** All outages occur about equally often: each round has all of them, in another order. */
async function injectFor(durationMs: number, outages: readonly Outage[]): Promise<void> {
  const endAtMs = Date.now() + durationMs
  let round: Outage[] = []
  while (Date.now() < endAtMs) {
    if (round.length === 0) round = outages.toSorted(() => random() - 0.5)
    const outage = round.pop()
    if (!outage) return
    ledger.begin(outage)
    await outage.begin()
    await Bun.sleep(between(OUTAGE_MS))
    await outage.end()
    ledger.end(outage)
    report(++outageCount, outage)
    await Bun.sleep(between(CALM_MS))
  }
}

function report(count: number, { name }: Outage): void {
  const unexplained = ledger.findUnexplained().length
  const at = new Date().toISOString().slice(11, 19)
  const memory = proxies.map(proxy => watchProxy(proxy, upstreamOrigin).startMib.toFixed(0))
  process.stdout.write(
    `${at} ${count}. ${name}: ${ledger.answered.length} requests, ${unexplained} unexplained, ${memory.join(' ')} MiB\n`,
  )
}

function judge(begun: readonly Sample[], ended: readonly Sample[]): string[] {
  return ended.flatMap(({ rssMib, active, openConnections, exitCode }, i) => {
    const was = begun[i]?.rssMib ?? 0
    process.stdout.write(
      `proxy ${i}: RSS ${was.toFixed(0)} → ${rssMib.toFixed(0)} MiB, upstream sockets ${openConnections}\n`,
    )
    const faults: string[] = []
    if (exitCode !== null) faults.push(`proxy ${i} ended by itself with code ${exitCode}`)
    if (active > 0) faults.push(`${active} upstream calls are still under way`)
    if (openConnections > MAX_POOLED) faults.push(`${openConnections} sockets to upstream are open`)
    if (rssMib - was > LEVEL_MIB)
      faults.push(`memory of proxy ${i} grew from ${was.toFixed(0)} to ${rssMib.toFixed(0)} MiB`)
    return faults
  })
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
    const what = hasLeft ? 'left' : status === 200 && !isWhole ? '200 broken off' : String(status)
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  return [...counts].map(([what, count]) => `${what}: ${count}`).join(', ')
}
