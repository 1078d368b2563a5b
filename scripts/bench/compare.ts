/**
 * Compares versions of the proxy side by side: the processor time of a request, in the proxy, its PostgreSQL connections and Redis. Each
 * version has its own database and gets the load in turn, in reversed order every round, so that a noisy minute affects all. When the
 * scenario is a miss, a bare `fetch` forwarder gets the load, too: `of floor` is a request's cost in forwarders.
 *
 * Run: bun scripts/bench/compare.ts --checkouts base=/path/to/one,now=. --scenarios exact,semantic,miss,miss-off --connections 32
 * - --rounds N (default 10)
 * - --seconds N (of each turn, default 1)
 * - --warm-up N (seconds, default 30: JIT compilers need some ten thousand misses)
 *
 * Each checkout needs its own node_modules. DATABASE_URL and REDIS_URL must lead to servers on this machine: processor time is read from
 * /proc.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Subprocess } from 'bun'
import { openRealDatabase } from '../../src/postgres/real.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { findFreePort, runLoadProcess, startAndRead, type startProxyProcess, stop } from './processes.ts'
import { findStoreProcesses, readProcessorTime, sumProcessorTime } from './processor-time.ts'
import { listQuestions } from './questions.ts'
import type { BenchStores } from './stores.ts'

const { values: options } = parseArgs({
  options: {
    checkouts: { type: 'string', default: 'now=.' },
    scenarios: { type: 'string', default: 'exact,semantic,miss,miss-off' },
    connections: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '1' },
    'warm-up': { type: 'string', default: '30' },
  },
})

interface Version {
  name: string
  proxy: Subprocess
  port: number
  /** Null for the bare forwarder. */
  stores: BenchStores | null
}

interface Scenario {
  /** Sent in turn; of a function, anew for each turn of the load. */
  bodies: string[] | (() => string[])
  headers?: Record<string, string>
  /** The expected X-Proxy-Cache. */
  expects: string
  /** Whether the project's semantic cache is on. */
  isSemantic: boolean
  /** Whether the upstream is asked, so that a bare forwarder is the baseline. */
  hasFloor?: boolean
}

const chat = (content: string) => JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] })
const questions = Array.from({ length: 200 }, (_, i) => {
  const series = String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26)).repeat(2)
  return `How do I replace the water filter of a coffee machine of series ${series}?`
})
/** More than are asked in a turn. */
const VARIED_A_TURN = 6_000
const varied = listQuestions(200_000)
function takeVaried(): string[] {
  if (varied.length < VARIED_A_TURN)
    throw new Error('Every question has been asked once: fewer --rounds, --connections or --checkouts take fewer')
  return varied.splice(0, VARIED_A_TURN).map(chat)
}
const SCENARIOS: Record<string, Scenario> = {
  exact: { bodies: questions.map(chat), expects: 'HIT', isSemantic: true },
  semantic: {
    bodies: questions.map(question => chat(question.replace('?', ', please?'))),
    expects: 'HIT-SEMANTIC',
    isSemantic: true,
  },
  miss: {
    bodies: [chat('Tell me something about number {{n}}.')],
    expects: 'MISS',
    isSemantic: true,
    hasFloor: true,
  },
  // As people ask: the group is as large, its prompts differ in more than a number.
  'miss-varied': { bodies: takeVaried, expects: 'MISS', isSemantic: true, hasFloor: true },
  'miss-off': {
    bodies: [chat('Tell me something about number {{n}}.')],
    expects: 'MISS',
    isSemantic: false,
    hasFloor: true,
  },
}

async function start(pair: string, upstreamUrl: string): Promise<Version> {
  const [name = '', folder = '.'] = pair.split('=')
  const root = resolve(home, folder)
  // Each version's schema comes from its own checkout.
  process.chdir(root)
  const { prepareStores } = (await import(`${root}/scripts/bench/stores.ts`)) as typeof import('./stores.ts')
  const { startProxyProcess: startOwn } = (await import(`${root}/scripts/bench/processes.ts`)) as {
    startProxyProcess: typeof startProxyProcess
  }
  const stores = await prepareStores()
  const port = findFreePort()
  const environment = { ...stores.environment, AGGREGATOR_BASE_URL: upstreamUrl, AGGREGATOR_API_KEY: 'bench' }
  const version = { name, stores, port, proxy: await startOwn(environment, port) }
  process.chdir(home)
  for (const body of questions.map(chat)) {
    const { status } = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: headersOf(version),
      body,
    })
    if (status !== 200) throw new Error(`${name}: warming failed with status ${status}`)
  }
  return version
}

async function startForwarder(upstreamUrl: string): Promise<Version> {
  const port = findFreePort()
  const environment = { UPSTREAM_BASE_URL: upstreamUrl, PORT: String(port) }
  const { process: proxy } = await startAndRead('scripts/bench/peers/forwarder.ts', [], environment)
  return { name: 'forwarder', proxy, port, stores: null }
}

function headersOf({ stores }: Version): Record<string, string> {
  return { authorization: `Bearer ${stores?.key ?? 'bench'}`, 'content-type': 'application/json' }
}

async function setSemantic({ environment }: BenchStores, isOn: boolean): Promise<void> {
  const database = openRealDatabase({ url: environment.DATABASE_URL, maxConnections: 1 })
  await database.runScript(`select set_setting('bench', 'semantic_enabled', '${isOn}')`)
  await database.close()
}

async function load(version: Version, scenario: Scenario, connections: number, seconds: number): Promise<LoadResult> {
  const order: LoadOrder = {
    host: '127.0.0.1',
    port: version.port,
    path: '/v1/chat/completions',
    headers: { ...headersOf(version), ...scenario.headers },
    bodies: typeof scenario.bodies === 'function' ? scenario.bodies() : scenario.bodies,
    connections,
    warmupMs: 0,
    measureMs: seconds * 1000,
  }
  return runLoadProcess(order)
}

interface Total {
  requests: number
  proxy: number
  postgres: number
  redis: number
  rates: number[]
  others: number
}

async function compare(versions: readonly Version[], name: string, scenario: Scenario, connections: number) {
  const totals = versions.map((): Total => ({ requests: 0, proxy: 0, postgres: 0, redis: 0, rates: [], others: 0 }))
  for (let round = 0; round < Number(options.rounds); round++) {
    const turns = versions.map((version, i) => [version, totals[i] as Total] as const)
    for (const [version, total] of round % 2 ? turns.toReversed() : turns) {
      const before = readAll(version)
      const result = await load(version, scenario, connections, Number(options.seconds))
      // Records are written twice a second, after their requests, and belong to the cost.
      await Bun.sleep(700)
      const after = readAll(version)
      total.proxy += after.proxy - before.proxy
      total.postgres += after.postgres - before.postgres
      total.redis += after.redis - before.redis
      total.requests += result.requests
      total.rates.push(result.requestsPerSecond)
      total.others += result.requests - (result.cacheResults[version.stores ? scenario.expects : '-'] ?? 0)
    }
  }
  const [floor] = totals.filter((_, i) => versions[i]?.stores === null).map(({ proxy, requests }) => proxy / requests)
  for (const [i, version] of versions.entries()) print(name, connections, version.name, totals[i] as Total, floor)
}

/** For PostgreSQL, only this version's connections; Redis has no such split, so nothing else may use it. */
function readAll({ proxy, stores }: Version): Pick<Total, 'proxy' | 'postgres' | 'redis'> {
  const { postgres, redis } = stores ? findStoreProcesses(stores.environment) : { postgres: [], redis: [] }
  return {
    proxy: readProcessorTime(proxy.pid),
    postgres: sumProcessorTime(postgres),
    redis: sumProcessorTime(redis),
  }
}

function print(scenario: string, connections: number, version: string, total: Total, floor: number | undefined): void {
  const each = [total.proxy, total.postgres, total.redis].map(time => time / total.requests)
  const cells = [...each, each.reduce((a, b) => a + b)].map(value => value.toFixed(0).padStart(9))
  const rate = total.rates.toSorted((a, b) => a - b)[Math.floor(total.rates.length / 2)] ?? 0
  const note = total.others > 0 ? `  (${total.others} of ${total.requests} were something else)` : ''
  const about = [scenario.padEnd(10), String(connections).padStart(5), version.padEnd(10), rate.toFixed(0).padStart(8)]
  const ratio = floor ? (each.reduce((a, b) => a + b) / floor).toFixed(1) : ''
  process.stdout.write(`${about.join(' ')}${cells.join('')}${ratio.padStart(10)}${note}\n`)
}

const home = process.cwd()
const upstream = await startAndRead('test/standin/main.ts', ['--port', '0'])
const versions: Version[] = []
const upstreamUrl: string = JSON.parse(upstream.firstLine).baseUrl
const forwarder = await startForwarder(upstreamUrl)
try {
  for (const pair of options.checkouts.split(',')) versions.push(await start(pair, upstreamUrl))
  process.stdout.write(
    'scenario    at   version         1/s    proxy postgres    redis together  of floor (processor µs a request)\n',
  )
  for (const name of options.scenarios.split(',')) {
    const scenario = SCENARIOS[name]
    if (!scenario) throw new Error(`There is no scenario ${name}`)
    const measured = scenario.hasFloor ? [...versions, forwarder] : versions
    for (const version of measured) {
      if (version.stores) await setSemantic(version.stores, scenario.isSemantic)
      await load(version, scenario, 32, Number(options['warm-up']))
    }
    for (const connections of options.connections.split(','))
      await compare(measured, name, scenario, Number(connections))
  }
} finally {
  await Promise.all([stop(upstream.process), ...[forwarder, ...versions].map(version => stop(version.proxy))])
  for (const { stores } of versions) await stores?.drop()
}
