/**
 * `bun run bench --peers`: other gateways beside this one, under the same load: a chat request that was never asked before, passed on
 * to the same upstream. One table, processor time a request beside throughput: on a machine that is shared, only that is steady.
 *
 * Options: --folder FOLDER (where the peers are installed: see scripts/bench/peers; default peers) --only forwarder,litellm,… --rounds N
 * (default 3) --seconds N (a measurement, default 3) --connections N (default 32) --address NAME=http://host:port (any that speaks
 * OpenAI's API and asks the upstream that is printed; --key KEY goes along; its processor time is counted where --pid PID is given).
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { findFreePort, runLoadProcess, startAndRead, startProxyProcess, stop } from './processes.ts'
import { findFamily, findStoreProcesses, sumProcessorTime } from './processor-time.ts'
import { prepareStores } from './stores.ts'

const { values: options } = parseArgs({
  options: {
    peers: { type: 'boolean' },
    folder: { type: 'string', default: 'peers' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    address: { type: 'string' },
    key: { type: 'string', default: 'bench' },
    pid: { type: 'string' },
  },
})

const KEY = 'sk-bench'
/** LiteLLM takes a minute on a busy machine. */
const READY_TIME_LIMIT_MS = 300_000

interface Peer {
  name: string
  command: string[]
  /** A path in the folder that exists when it is installed. */
  installed: string | null
  headers(upstreamBaseUrl: string): Record<string, string>
}

const PEERS: Peer[] = [
  {
    name: 'forwarder',
    command: [process.execPath, 'scripts/bench/peers/forwarder.ts'],
    installed: null,
    headers: () => ({}),
  },
  {
    name: 'litellm',
    command: ['scripts/bench/peers/litellm.sh'],
    installed: 'litellm/bin/litellm',
    headers: () => ({}),
  },
  {
    name: 'portkey',
    command: ['scripts/bench/peers/portkey.sh'],
    installed: 'portkey/node_modules/@portkey-ai/gateway',
    headers: url => ({ 'x-portkey-provider': 'openai', 'x-portkey-custom-host': url }),
  },
]

/** One path through one gateway. */
interface Candidate {
  name: string
  url: URL
  headers: Record<string, string>
  /** The gateway's processes, for their processor time. */
  processes(): number[]
  /** Processes of the stores that it uses. */
  storeProcesses(): number[]
  /** Called before the measurement. */
  prepare?(): Promise<void>
}

const isWanted = (name: string) => options.only === undefined || options.only.split(',').includes(name)
const upstream = await startAndRead('test/standin/main.ts', ['--port', '0'])
const upstreamBaseUrl: string = JSON.parse(upstream.firstLine).baseUrl
process.stdout.write(`Upstream: ${upstreamBaseUrl}\n`)
const endings: (() => Promise<void>)[] = []
try {
  const candidates = [...(await startPeers()), ...readAddress(), ...(isWanted('model-proxy') ? await startOurs() : [])]
  const measured = candidates.map(candidate => ({ candidate, rounds: [] as Figures[] }))
  for (const { candidate } of measured) await measure(candidate)
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const { candidate, rounds } of round % 2 ? measured.toReversed() : measured)
      rounds.push(await measure(candidate))
  }
  print(measured)
} finally {
  for (const end of endings) await end()
  await stop(upstream.process)
}

async function startPeers(): Promise<Candidate[]> {
  const candidates: Candidate[] = []
  for (const peer of PEERS.filter(({ name }) => isWanted(name))) {
    if (peer.installed !== null && !existsSync(resolve(options.folder, peer.installed))) {
      process.stdout.write(
        `${peer.name} is not installed in ${options.folder}: scripts/bench/peers/${peer.name}.sh tells how\n`,
      )
      continue
    }
    const port = findFreePort()
    const child = Bun.spawn(peer.command, {
      env: {
        ...process.env,
        UPSTREAM_BASE_URL: upstreamBaseUrl,
        PORT: String(port),
        KEY,
        FOLDER: resolve(options.folder),
      },
      stdout: 'ignore',
      stderr: 'ignore',
      stdin: 'ignore',
    })
    endings.push(() => stop(child))
    const url = new URL(`http://127.0.0.1:${port}/v1/chat/completions`)
    const headers = { authorization: `Bearer ${KEY}`, ...peer.headers(upstreamBaseUrl) }
    await untilAnswers(peer.name, url, headers)
    candidates.push({ name: peer.name, url, headers, processes: () => findFamily(child.pid), storeProcesses: () => [] })
  }
  return candidates
}

function readAddress(): Candidate[] {
  const [name, address] = options.address?.split(/=(.*)/s) ?? []
  if (name === undefined || address === undefined) return []
  const url = new URL(`${address.replace(/\/$/, '')}/v1/chat/completions`)
  const processes = () => (options.pid === undefined ? [] : findFamily(Number(options.pid)))
  return [{ name, url, headers: { authorization: `Bearer ${options.key}` }, processes, storeProcesses: () => [] }]
}

/** This proxy on stores of its own, with every request admitted, counted and recorded. */
async function startOurs(): Promise<Candidate[]> {
  const stores = await prepareStores()
  const port = findFreePort()
  const proxy = await startProxyProcess(
    { ...stores.environment, AGGREGATOR_BASE_URL: upstreamBaseUrl, AGGREGATOR_API_KEY: 'bench' },
    port,
  )
  endings.push(async () => {
    await stop(proxy)
    await stores.drop()
  })
  async function setSemantic(mode: 'on' | 'off'): Promise<void> {
    const database = openRealDatabase({ url: stores.environment.DATABASE_URL, maxConnections: 1 })
    await database.runScript(`select set_setting('bench', 'semantic_mode', '${mode}')`)
    await database.close()
  }
  const ours = {
    url: new URL(`http://127.0.0.1:${port}/v1/chat/completions`),
    headers: { authorization: `Bearer ${stores.key}` },
    processes: () => [proxy.pid],
    storeProcesses: () => Object.values(findStoreProcesses(stores.environment)).flat(),
  }
  return [
    { ...ours, name: 'model-proxy, semantic off', prepare: () => setSemantic('off') },
    { ...ours, name: 'model-proxy, semantic on', prepare: () => setSemantic('on') },
  ]
}

async function untilAnswers(name: string, url: URL, headers: Record<string, string>): Promise<void> {
  const deadline = performance.now() + READY_TIME_LIMIT_MS
  while (performance.now() < deadline) {
    const answered = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: bodyOf('first'),
    }).then(
      response => response.ok,
      () => false,
    )
    if (answered) return
    await Bun.sleep(500)
  }
  throw new Error(`${name} did not answer`)
}

function bodyOf(number: string): string {
  const messages = [{ role: 'user', content: `Tell me something about number ${number}.` }]
  return JSON.stringify({ model: 'openai/gpt-4o-mini', messages })
}

interface Figures {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** Microseconds per request. */
  gateway: number
  stores: number
}

async function measure({ name, url, headers, processes, storeProcesses, prepare }: Candidate): Promise<Figures> {
  await prepare?.()
  const before = [sumProcessorTime(processes()), sumProcessorTime(storeProcesses())] as const
  const result = await runLoadProcess({
    host: url.hostname,
    port: Number(url.port),
    path: url.pathname,
    headers: { 'content-type': 'application/json', ...headers },
    bodies: [bodyOf('{{n}}')],
    connections: Number(options.connections),
    warmupMs: 0,
    measureMs: Number(options.seconds) * 1000,
  })
  // Writes after the requests belong to the cost.
  await Bun.sleep(700)
  if (Object.keys(result.statuses).some(status => status !== '200'))
    throw new Error(`${name}: expected 200, got ${JSON.stringify(result.statuses)}`)
  const { requests, requestsPerSecond, p50Ms, p99Ms } = result
  return {
    requestsPerSecond,
    p50Ms,
    p99Ms,
    gateway: (sumProcessorTime(processes()) - before[0]) / requests,
    stores: (sumProcessorTime(storeProcesses()) - before[1]) / requests,
  }
}

function print(measured: readonly { candidate: Candidate; rounds: readonly Figures[] }[]): void {
  process.stdout.write(
    `${'a miss'.padEnd(28)}${['requests/s', 'p50 ms', 'p99 ms', 'gateway µs', 'stores µs'].map(head => head.padStart(12)).join('')}\n`,
  )
  for (const { candidate, rounds } of measured) {
    const median = (field: keyof Figures) =>
      rounds.map(figures => figures[field]).toSorted((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0
    const cells = [
      median('requestsPerSecond').toFixed(0),
      median('p50Ms').toFixed(1),
      median('p99Ms').toFixed(1),
      median('gateway').toFixed(0),
      median('stores').toFixed(0),
    ]
    process.stdout.write(`${candidate.name.padEnd(28)}${cells.map(cell => cell.padStart(12)).join('')}\n`)
  }
}
