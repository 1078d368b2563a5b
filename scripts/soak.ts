/**
 * `bun scripts/soak.ts --minutes N`: monitors a proxy process and a simulated upstream process under mixed load.
 *
 * Complete streams, aborted streams, slow readers, bursts of identical requests, bodies of 8 MiB and plain hits, all at once. Prints a
 * line per minute; exits non-zero on any error, on growing memory, and on anything still open upstream.
 */
import { parseArgs } from 'node:util'
import { findFreePort, startAndRead, startProxyProcess, stop } from './bench/processes.ts'
import { prepareStores } from './bench/stores.ts'
import { startActors } from './soak/actors.ts'
import { createTally } from './soak/tally.ts'
import { type Sample, watchProxy } from './soak/watch.ts'

const { values: options } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
const minutes = Number(options.minutes)
if (!(minutes > 0)) throw new Error('--minutes must be a number greater than 0. Example: --minutes 10')

/** Idle pooled connections; any more would be a leak. */
const MAX_POOLED = 256
/** Memory that garbage and pools may add to a new proxy. */
const LEVEL_MIB = 160
const SETTLE_LIMIT_MS = 60_000

const stores = await prepareStores()
const upstream = await startAndRead('test/standin/main.ts', ['--port', '0'])
const upstreamUrl: string = JSON.parse(upstream.firstLine).baseUrl
const port = findFreePort()
const proxy = await startProxyProcess(
  { ...stores.environment, AGGREGATOR_BASE_URL: upstreamUrl, AGGREGATOR_API_KEY: 'soak', EMBEDDER: 'builtin' },
  port,
)
const watch = watchProxy(proxy, new URL(upstreamUrl).origin)
const tally = createTally()

try {
  await fetch(`${new URL(upstreamUrl).origin}/__script`, {
    method: 'PUT',
    body: JSON.stringify({ kind: 'answer', chunkPauseMs: 2 }),
  })
  const actors = await startActors({ port, key: stores.key, tally })
  const floors: number[] = []
  for (let minute = 1; minute <= Math.ceil(minutes); minute++) {
    floors.push(await watch.floorMib(Math.min(1, minutes - minute + 1) * 60_000))
    report(`minute ${minute}`, await watch.sample())
  }
  await actors.stop()
  const end = await settle()
  report('settled', end)
  const faults = judge(end, floors)
  for (const fault of [...tally.describeErrors(), ...faults]) process.stdout.write(`FAULT: ${fault}\n`)
  process.exitCode = tally.errors > 0 || faults.length > 0 ? 1 : 0
} finally {
  await Promise.all([stop(proxy), stop(upstream.process)])
  await stores.drop()
}
process.exit()

function report(when: string, { rssMib, active, openConnections }: Sample): void {
  const proxyState = `RSS ${rssMib.toFixed(0)} MiB, upstream calls ${active}, upstream sockets ${openConnections}`
  process.stdout.write(`${when}: ${tally.describe()}; ${tally.errors} errors; ${proxyState}\n`)
}

/** Waits until nothing is in flight and memory is at its level, or the limit is reached. */
async function settle(): Promise<Sample> {
  const startedAtMs = performance.now()
  for (;;) {
    const sample = await watch.sample()
    const isSettled = sample.active === 0 && sample.rssMib < watch.startMib + LEVEL_MIB
    if (isSettled || performance.now() - startedAtMs > SETTLE_LIMIT_MS) return sample
    await Bun.sleep(1_000)
  }
}

function judge({ rssMib, active, openConnections, exitCode }: Sample, floors: readonly number[]): string[] {
  const faults: string[] = []
  if (exitCode !== null) faults.push(`the proxy ended by itself with code ${exitCode}`)
  if (active > 0) faults.push(`${active} upstream calls are still under way`)
  if (openConnections > MAX_POOLED) faults.push(`${openConnections} sockets to upstream are open`)
  const grownMib = rssMib - watch.startMib
  if (grownMib > LEVEL_MIB) faults.push(`memory is ${grownMib.toFixed(0)} MiB above what it was at the start`)
  const [early, late] = [Math.min(...floors.slice(0, 2)), Math.min(...floors.slice(-2))]
  if (late - early > LEVEL_MIB) faults.push(`memory under load grew from ${early.toFixed(0)} to ${late.toFixed(0)} MiB`)
  return faults
}
