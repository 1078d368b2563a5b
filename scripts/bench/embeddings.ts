/**
 * The embeddings part of the benchmark: batches of which all, half or no inputs are cached, beside an upstream that takes 50 ms; the
 * memory of a vector in Redis; and the effect of the largest possible batch on other requests.
 */

import { Redis } from 'ioredis'
import { openRealDatabase } from '../../src/postgres/real.ts'
import type { LoadResult } from './load.ts'
import { runLoadProcess } from './processes.ts'

export interface EmbeddingsBench {
  /** The proxy's port. */
  port: number
  upstreamBaseUrl: string
  key: string
  environment: { DATABASE_URL: string; REDIS_URL: string }
  /** A chat request that is answered from the cache. */
  otherBody: string
  rounds: number
}

export interface EmbeddingsResult {
  batches: BatchResult[]
  redisBytesAVector: number
  large: LargeResult[]
}

interface BatchResult {
  name: string
  form: string
  p50Ms: number
  p99Ms: number
  /** Speed relative to asking the upstream directly. */
  ofDirect: number
}

interface LargeResult {
  form: string
  p50Ms: number
  mostMs: number
  /** Other requests on one connection and on eight: alone, and during the batch. */
  others: { connections: number; aloneP99Ms: number; meanwhileP99Ms: number }[]
}

const MODEL = 'openai/text-embedding-3-small'
const UPSTREAM_DELAY_MS = 50
const BATCH = 256
const LARGE_BATCH = 2_048
const REQUESTS_A_ROUND = 10
const FORMS = ['base64', 'float']
let texts = 0

export async function benchEmbeddings(bench: EmbeddingsBench): Promise<EmbeddingsResult> {
  await fetch(`${bench.upstreamBaseUrl.replace(/\/v1$/, '')}/__script`, {
    method: 'PUT',
    body: JSON.stringify({ kind: 'answer', firstByteDelayMs: UPSTREAM_DELAY_MS }),
  })
  const batches: BatchResult[] = []
  for (const form of FORMS) batches.push(...(await measureBatches(bench, form)))
  const redisBytesAVector = await measureMemory(bench)
  const large: LargeResult[] = []
  for (const form of FORMS) large.push(await measureLarge(bench, form))
  return { batches, redisBytesAVector, large }
}

/** A new text, as long as a short paragraph. */
function newText(): string {
  return `Paragraph ${++texts} of ${crypto.randomUUID()}, about nothing in particular, as long as those that are put into indexes.`
}

const newTexts = (count: number) => Array.from({ length: count }, newText)

interface Timed {
  ms: number
  cache: string | null
}

/** Until the last byte has arrived; the client parses the vectors itself. */
async function embed(baseUrl: string, key: string, input: string[], form: string): Promise<Timed> {
  const body = JSON.stringify({ model: MODEL, input, encoding_format: form })
  const startedAt = performance.now()
  const response = await fetch(`${baseUrl}/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  })
  const { byteLength } = await response.arrayBuffer()
  const ms = performance.now() - startedAt
  if (!response.ok || byteLength < input.length * 8_192)
    throw new Error(`Status ${response.status}, ${byteLength} bytes`)
  return { ms, cache: response.headers.get('x-proxy-cache') }
}

async function measureBatches(bench: EmbeddingsBench, form: string): Promise<BatchResult[]> {
  const proxyUrl = `http://127.0.0.1:${bench.port}/v1`
  const known = newTexts(BATCH)
  await embed(proxyUrl, bench.key, known, form)
  const scenarios = [
    { name: 'direct, 50 ms', baseUrl: bench.upstreamBaseUrl, expects: null, input: () => newTexts(BATCH) },
    { name: 'all known', baseUrl: proxyUrl, expects: 'HIT', input: () => known },
    {
      name: 'half known',
      baseUrl: proxyUrl,
      expects: 'MISS',
      input: () => known.map((text, at) => (at % 2 === 0 ? text : newText())),
    },
    { name: 'none known', baseUrl: proxyUrl, expects: 'MISS', input: () => newTexts(BATCH) },
  ]
  const times = scenarios.map((): number[] => [])
  for (let round = 0; round < bench.rounds; round++) {
    process.stderr.write(`round ${round + 1}: ${BATCH} embeddings as ${form}\n`)
    for (const [at, { baseUrl, expects, input }] of scenarios.entries()) {
      for (let request = 0; request < REQUESTS_A_ROUND; request++) {
        const { ms, cache } = await embed(baseUrl, bench.key, input(), form)
        if (cache !== expects) throw new Error(`Expected ${expects}, got ${cache}`)
        times[at]?.push(ms)
      }
    }
  }
  const directMs = percentile(times[0] ?? [], 0.5)
  return scenarios.map(({ name }, at) => {
    const p50Ms = percentile(times[at] ?? [], 0.5)
    return { name, form, p50Ms, p99Ms: percentile(times[at] ?? [], 0.99), ofDirect: directMs / p50Ms }
  })
}

/** Redis's memory for the project's vectors, including keys, per vector. */
async function measureMemory({ environment }: EmbeddingsBench): Promise<number> {
  const database = openRealDatabase({ url: environment.DATABASE_URL, maxConnections: 1 })
  const projects = await database.queries.selectFrom('projects').select('id').execute()
  await database.close()
  const redis = new Redis(environment.REDIS_URL)
  let bytes = 0
  const vectors = new Set<string>()
  for (const { id } of projects) {
    for await (const keys of redis.scanStream({ match: `mp:*:{${id}}:V:*`, count: 1_000 })) {
      for (const key of keys as string[]) {
        bytes += Number(await redis.memory('USAGE', key))
        vectors.add(key.replace(/\+$/, ''))
      }
    }
  }
  redis.disconnect()
  return bytes / vectors.size
}

async function measureLarge(bench: EmbeddingsBench, form: string): Promise<LargeResult> {
  process.stderr.write(`${LARGE_BATCH} embeddings as ${form}\n`)
  const proxyUrl = `http://127.0.0.1:${bench.port}/v1`
  const known = newTexts(LARGE_BATCH)
  await embed(proxyUrl, bench.key, known, form)
  await Bun.sleep(1_000)
  const times: number[] = []
  for (let request = 0; request < 3 * bench.rounds; request++) {
    const { ms, cache } = await embed(proxyUrl, bench.key, known, form)
    if (cache !== 'HIT') throw new Error(`Expected HIT, got ${cache}`)
    times.push(ms)
  }
  const others: LargeResult['others'] = []
  for (const connections of [1, 8]) {
    const alone = await measureOthers(bench, connections)
    const meanwhile = measureOthers(bench, connections)
    let isOver = false
    void meanwhile.then(() => {
      isOver = true
    })
    while (!isOver) await embed(proxyUrl, bench.key, known, form)
    others.push({ connections, aloneP99Ms: alone.p99Ms, meanwhileP99Ms: (await meanwhile).p99Ms })
  }
  return { form, p50Ms: percentile(times, 0.5), mostMs: Math.max(...times), others }
}

async function measureOthers({ port, key, otherBody }: EmbeddingsBench, connections: number): Promise<LoadResult> {
  return runLoadProcess({
    host: '127.0.0.1',
    port,
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    bodies: [otherBody],
    connections,
    warmupMs: 500,
    measureMs: 4_000,
  })
}

function percentile(values: number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0
}

export function printEmbeddings({ batches, redisBytesAVector, large }: EmbeddingsResult): void {
  const line = (cells: (string | number)[]) =>
    `${cells.map((cell, i) => (i === 0 ? String(cell).padEnd(22) : String(cell).padStart(13))).join('')}\n`
  process.stdout.write(`\n${line([`${BATCH} × 1,536`, 'form', 'p50 ms', 'p99 ms', 'of direct'])}`)
  for (const { name, form, p50Ms, p99Ms, ofDirect } of batches) {
    process.stdout.write(line([name, form, p50Ms.toFixed(1), p99Ms.toFixed(1), `${ofDirect.toFixed(2)} x`]))
  }
  process.stdout.write(`\nRedis memory a vector of 1,536 dimensions: ${Math.round(redisBytesAVector)} bytes\n`)
  process.stdout.write(
    `\n${line([`${LARGE_BATCH} × 1,536, known`, 'form', 'p50 ms', 'most ms', 'connections', 'p99 alone', 'p99 meanwhile'])}`,
  )
  for (const { form, p50Ms, mostMs, others } of large) {
    for (const { connections, aloneP99Ms, meanwhileP99Ms } of others) {
      const cells = [
        form,
        p50Ms.toFixed(0),
        mostMs.toFixed(0),
        connections,
        aloneP99Ms.toFixed(1),
        meanwhileP99Ms.toFixed(1),
      ]
      process.stdout.write(line(['', ...cells]))
    }
  }
}
