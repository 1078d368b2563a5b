/**
 * `bun run bench`: requests/s and latency of each path through the proxy, on real stores, beside a baseline of the same run.
 *
 * Proxy, stores, upstream and load generator share this machine's cores. So compare ratios, not figures. Options: --rounds N (default 3;
 * medians are shown), --seconds N (per measurement, default 3), --only NAME (of a scenario, or `embeddings`, or `streams`), --out FILE
 * (default bench.json).
 */
import { parseArgs } from 'node:util'
import { benchEmbeddings, printEmbeddings } from './embeddings.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { findFreePort, runLoadProcess, startAndRead, startProxyProcess, stop } from './processes.ts'
import { prepareStores } from './stores.ts'
import { measureStreams, printStreams, type StreamResult } from './streams.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string' },
    out: { type: 'string', default: 'bench.json' },
  },
})
const CONNECTIONS = [1, 32, 128]
const PROMPTS = 200

interface Scenario {
  name: string
  port: number
  bodies: string[]
  headers?: Record<string, string>
  /** The expected X-Proxy-Cache, because measuring the wrong path is worse than not measuring. */
  expects: string
}

const stores = await prepareStores()
const upstream = await startAndRead('test/standin/main.ts', ['--port', '0'])
const floor = await startAndRead('scripts/bench/floor.ts')
const port = findFreePort()
const proxy = await startProxyProcess(
  { ...stores.environment, AGGREGATOR_BASE_URL: JSON.parse(upstream.firstLine).baseUrl, AGGREGATOR_API_KEY: 'bench' },
  port,
)

const questions = Array.from(
  { length: PROMPTS },
  (_, i) => `How do I replace the water filter of a coffee machine of series ${nameOf(i)}?`,
)
const reworded = questions.map(question => question.replace('How do I', 'What is the way to'))
const scenarios: Scenario[] = [
  { name: 'floor (Elysia echo)', port: Number(floor.firstLine), bodies: questions.map(chat), expects: '-' },
  { name: 'exact hit', port, bodies: questions.map(chat), expects: 'HIT' },
  {
    name: 'semantic hit',
    port,
    bodies: reworded.map(chat),
    headers: { 'x-proxy-cache-threshold': '0.7' },
    expects: 'HIT-SEMANTIC',
  },
  { name: 'miss', port, bodies: [chat('Tell me something about number {{n}}.')], expects: 'MISS' },
].filter(
  scenario => options.only === undefined || scenario.name.startsWith(options.only) || scenario.name.startsWith('floor'),
)

try {
  await warmCache()
  const results = options.only === 'embeddings' || options.only === 'streams' ? [] : await measureAll()
  print(results)
  const embeddings =
    options.only === undefined || options.only === 'embeddings'
      ? await benchEmbeddings({
          ...stores,
          port,
          upstreamBaseUrl: JSON.parse(upstream.firstLine).baseUrl,
          otherBody: chat(questions[0] ?? ''),
          rounds: Number(options.rounds),
        })
      : null
  if (embeddings) printEmbeddings(embeddings)
  const streams = options.only === undefined || options.only === 'streams' ? await benchStreams() : null
  if (streams) printStreams(streams)
  const measured = { at: new Date().toISOString(), results, embeddings, streams }
  await Bun.write(options.out, `${JSON.stringify(measured, null, 2)}\n`)
  process.stdout.write(`\nWritten to ${options.out}\n`)
} finally {
  await Promise.all([stop(proxy), stop(upstream.process), stop(floor.process)])
  await stores.drop()
}

async function benchStreams(): Promise<StreamResult> {
  const { origin, port: upstreamPort } = new URL(JSON.parse(upstream.firstLine).baseUrl)
  const bare = await startAndRead('scripts/bench/bare-forwarder.ts', [origin], stores.environment)
  try {
    return await measureStreams({
      ...stores,
      proxyPort: port,
      proxyPid: proxy.pid,
      barePort: Number(bare.firstLine),
      upstreamPort: Number(upstreamPort),
      rounds: Number(options.rounds),
    })
  } finally {
    await stop(bare.process)
  }
}

/** Letters, because proof treats different numbers as different questions. */
function nameOf(i: number): string {
  return String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26)).repeat(2)
}

function chat(content: string): string {
  return JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] })
}

async function warmCache(): Promise<void> {
  for (const body of questions.map(chat)) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: headersOf({}),
      body,
    })
    if (!response.ok) throw new Error(`Warming failed with status ${response.status}: ${await response.text()}`)
  }
}

function headersOf(extra: Record<string, string>): Record<string, string> {
  return { authorization: `Bearer ${stores.key}`, 'content-type': 'application/json', ...extra }
}

type Row = LoadResult & { scenario: string; connections: number; ofFloor: number }

/** Each round runs all scenarios, so that a noisy minute does not affect only one of them. */
async function measureAll(): Promise<Row[]> {
  const rounds: Row[][] = []
  for (let round = 0; round < Number(options.rounds); round++) {
    const rows: Row[] = []
    for (const connections of CONNECTIONS) {
      for (const scenario of scenarios) {
        process.stderr.write(`round ${round + 1}: ${scenario.name}, ${connections} connections\n`)
        rows.push({ ...(await measure(scenario, connections)), scenario: scenario.name, connections, ofFloor: 0 })
      }
    }
    rounds.push(rows)
  }
  return (rounds[0] ?? []).map((row, i) => {
    const same = rounds.map(rows => rows[i] as Row)
    const floorRate = median(
      rounds.map(rows => rows.find(other => other.connections === row.connections)?.requestsPerSecond ?? 0),
    )
    const requestsPerSecond = median(same.map(other => other.requestsPerSecond))
    return {
      ...row,
      requestsPerSecond,
      p50Ms: median(same.map(other => other.p50Ms)),
      p99Ms: median(same.map(other => other.p99Ms)),
      ofFloor: requestsPerSecond / floorRate,
    }
  })
}

async function measure(scenario: Scenario, connections: number): Promise<LoadResult> {
  const order: LoadOrder = {
    host: '127.0.0.1',
    port: scenario.port,
    path: '/v1/chat/completions',
    headers: headersOf(scenario.headers ?? {}),
    bodies: scenario.bodies,
    connections,
    warmupMs: 1_000,
    measureMs: Number(options.seconds) * 1000,
  }
  const result = await runLoadProcess(order)
  const wrong = Object.keys(result.cacheResults).filter(cache => cache !== scenario.expects)
  if (wrong.length > 0 || Object.keys(result.statuses).some(status => status !== '200')) {
    throw new Error(
      `${scenario.name}: expected ${scenario.expects} and 200, got ${JSON.stringify({ ...result.cacheResults, ...result.statuses })}`,
    )
  }
  return result
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function print(rows: Row[]): void {
  const line = (cells: (string | number)[]) =>
    `${cells.map((cell, i) => (i === 0 ? String(cell).padEnd(22) : String(cell).padStart(13))).join('')}\n`
  process.stdout.write(line(['', 'connections', 'requests/s', 'of floor', 'p50 ms', 'p99 ms']))
  for (const row of rows) {
    process.stdout.write(
      line([
        row.scenario,
        row.connections,
        Math.round(row.requestsPerSecond),
        row.ofFloor.toFixed(3),
        row.p50Ms.toFixed(3),
        row.p99Ms.toFixed(3),
      ]),
    )
  }
}
