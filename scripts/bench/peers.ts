/**
 * `bun run bench --peers`: other gateways beside this one, under the same load, in front of the same upstream: requests that are asked again,
 * where a gateway keeps answers, requests that were never asked before, and streams. One table; processor time of a request beside
 * throughput, because on a machine that is shared only that is steady.
 *
 * Options: --folder FOLDER (where the peers are installed: see scripts/bench/peers; default peers) --only forwarder,gomodel,… --rounds N
 * (default 3) --seconds N (a measurement, default 3) --address NAME=http://host:port (any other that speaks OpenAI's API and asks the
 * upstream that is printed; --key KEY goes along; its processor time is counted where --pid PID is given; --caches where it keeps answers).
 * GOMODEL=/path/to/gomodel: a peer that is built rather than installed.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { findFreePort, runLoadProcess, startAndRead, startProxyProcess, stop } from './processes.ts'
import { findFamily, findStoreProcesses, sumProcessorTime } from './processor-time.ts'
import { prepareStores } from './stores.ts'
import { timeFirstEvents } from './streams.ts'

const { values: options } = parseArgs({
  options: {
    peers: { type: 'boolean' },
    folder: { type: 'string', default: 'peers' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    address: { type: 'string' },
    key: { type: 'string', default: 'bench' },
    pid: { type: 'string' },
    caches: { type: 'boolean', default: false },
  },
})

const KEY = 'sk-bench'
/** LiteLLM takes a minute on a busy machine. */
const READY_TIME_LIMIT_MS = 300_000

const HIT_CONNECTIONS = 128
const MISS_CONNECTIONS = 32
const STREAMS = 100
/** Asked again and again. */
const KNOWN = Array.from({ length: 200 }, (_, i) => bodyOf(`${i} of those that are known`))

const HEADS = [
  `hits/s at ${HIT_CONNECTIONS}`,
  'hit p50 ms',
  `misses/s at ${MISS_CONNECTIONS}`,
  'miss p50 ms',
  'event p50 ms',
]

interface Peer {
  name: string
  command: string[]
  /** What exists when it is installed, from the folder; null where nothing is. */
  installed: string | null
  /** Whether it keeps answers, as it is started here. */
  caches: boolean
  headers(upstreamBaseUrl: string): Record<string, string>
}

const PEERS: Peer[] = [
  {
    name: 'forwarder',
    command: [process.execPath, 'scripts/bench/peers/forwarder.ts'],
    installed: null,
    caches: false,
    headers: () => ({}),
  },
  {
    name: 'gomodel',
    command: ['scripts/bench/peers/gomodel.sh'],
    installed: process.env.GOMODEL ?? 'gomodel',
    caches: true,
    headers: () => ({}),
  },
  {
    name: 'litellm',
    command: ['scripts/bench/peers/litellm.sh'],
    installed: 'litellm/bin/litellm',
    caches: true,
    headers: () => ({}),
  },
  {
    name: 'portkey',
    command: ['scripts/bench/peers/portkey.sh'],
    installed: 'portkey/node_modules/@portkey-ai/gateway',
    caches: false,
    headers: url => ({ 'x-portkey-provider': 'openai', 'x-portkey-custom-host': url }),
  },
]

/** One path through one gateway. */
interface Candidate {
  name: string
  url: URL
  headers: Record<string, string>
  caches: boolean
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
const stores = await prepareStores()
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
  await stores.drop()
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
        ...stores.environment,
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
    // None of them has a database here; Redis serves one gateway at a time.
    const storeProcesses = () => findStoreProcesses(stores.environment).redis
    candidates.push({ ...peer, url, headers, processes: () => findFamily(child.pid), storeProcesses })
  }
  return candidates
}

function readAddress(): Candidate[] {
  const [name, address] = options.address?.split(/=(.*)/s) ?? []
  if (name === undefined || address === undefined) return []
  const url = new URL(`${address.replace(/\/$/, '')}/v1/chat/completions`)
  const processes = () => (options.pid === undefined ? [] : findFamily(Number(options.pid)))
  const headers = { authorization: `Bearer ${options.key}` }
  return [{ name, url, headers, caches: options.caches, processes, storeProcesses: () => [] }]
}

/** This proxy on stores of its own, with every request admitted, counted and recorded. */
async function startOurs(): Promise<Candidate[]> {
  const port = findFreePort()
  const proxy = await startProxyProcess(
    { ...stores.environment, AGGREGATOR_BASE_URL: upstreamBaseUrl, AGGREGATOR_API_KEY: 'bench' },
    port,
  )
  endings.push(() => stop(proxy))
  async function setSemantic(mode: 'on' | 'off'): Promise<void> {
    const database = openRealDatabase({ url: stores.environment.DATABASE_URL, maxConnections: 1 })
    await database.runScript(`select set_setting('bench', 'semantic_mode', '${mode}')`)
    await database.close()
  }
  const ours = {
    url: new URL(`http://127.0.0.1:${port}/v1/chat/completions`),
    headers: { authorization: `Bearer ${stores.key}` },
    caches: true,
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

interface Loaded {
  requestsPerSecond: number
  p50Ms: number
  /** Microseconds per request. */
  gateway: number
  stores: number
}

interface Figures {
  /** Null where nothing is kept. */
  hits: Loaded | null
  hitAlone: Loaded | null
  misses: Loaded
  missAlone: Loaded
  firstEventMs: number
}

async function measure(candidate: Candidate): Promise<Figures> {
  const { name, url, headers, caches, prepare } = candidate
  await prepare?.()
  if (caches) await learn(candidate)
  const asked = await countAsked()
  const hits = caches ? await load(candidate, KNOWN, HIT_CONNECTIONS) : null
  const hitAlone = caches ? await load(candidate, KNOWN, 1) : null
  if ((await countAsked()) !== asked)
    throw new Error(`${name}: the upstream was asked again for an answer that was kept`)
  return {
    hits,
    hitAlone,
    misses: await load(candidate, [bodyOf('{{n}}')], MISS_CONNECTIONS),
    missAlone: await load(candidate, [bodyOf('{{n}}')], 1),
    firstEventMs: await timeFirstEvents(Number(url.port), headers, STREAMS),
  }
}

async function learn({ name, url, headers }: Candidate): Promise<void> {
  for (const body of KNOWN) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    if (!response.ok) throw new Error(`${name}: expected 200, got ${response.status}`)
    await response.bytes()
  }
  // Some keep an answer after it was sent.
  await Bun.sleep(700)
}

/** Requests that have reached the upstream. */
async function countAsked(): Promise<number> {
  const response = await fetch(new URL('/__counts', upstreamBaseUrl))
  return ((await response.json()) as { total: number }).total
}

async function load(
  { name, url, headers, processes, storeProcesses }: Candidate,
  bodies: string[],
  connections: number,
) {
  const before = [sumProcessorTime(processes()), sumProcessorTime(storeProcesses())] as const
  const result = await runLoadProcess({
    host: url.hostname,
    port: Number(url.port),
    path: url.pathname,
    headers: { 'content-type': 'application/json', ...headers },
    bodies,
    connections,
    warmupMs: 0,
    measureMs: Number(options.seconds) * 1000,
  })
  // Writes after the requests belong to the cost.
  await Bun.sleep(700)
  if (Object.keys(result.statuses).some(status => status !== '200'))
    throw new Error(`${name}: expected 200, got ${JSON.stringify(result.statuses)}`)
  const { requests, requestsPerSecond, p50Ms } = result
  if (requests === 0) throw new Error(`${name}: no answer came while it was measured: give it more --seconds`)
  return {
    requestsPerSecond,
    p50Ms,
    gateway: (sumProcessorTime(processes()) - before[0]) / requests,
    stores: (sumProcessorTime(storeProcesses()) - before[1]) / requests,
  }
}

/** In brackets the processor µs of a request, of the gateway and of the stores. */
function print(measured: readonly { candidate: Candidate; rounds: readonly Figures[] }[]): void {
  process.stdout.write(`${''.padEnd(28)}${HEADS.map(head => head.padStart(22)).join('')}\n`)
  for (const { candidate, rounds } of measured) {
    const median = (read: (figures: Figures) => number | undefined) =>
      rounds.flatMap(figures => read(figures) ?? []).toSorted((a, b) => a - b)[Math.floor(rounds.length / 2)]
    const rate = (of: 'hits' | 'misses') => {
      const [perSecond, gateway, used] = (['requestsPerSecond', 'gateway', 'stores'] as const).map(field =>
        median(figures => figures[of]?.[field])?.toFixed(0),
      )
      return perSecond === undefined ? '-' : `${perSecond} (${gateway} + ${used})`
    }
    const ms = (read: (figures: Figures) => number | undefined) => median(read)?.toFixed(2) ?? '-'
    const cells = [
      rate('hits'),
      ms(({ hitAlone }) => hitAlone?.p50Ms),
      rate('misses'),
      ms(({ missAlone }) => missAlone.p50Ms),
      ms(({ firstEventMs }) => firstEventMs),
    ]
    process.stdout.write(`${candidate.name.padEnd(28)}${cells.map(cell => cell.padStart(22)).join('')}\n`)
  }
}
