/**
 * `bun test/hostile/event-loop/measure.ts [--only TEXT] [--times N]`: measures how long the largest bodies block the event loop at once, at
 * each endpoint. It measures the processor time of its thread, which is independent of the machine's load. The first row is the reference:
 * reading one body in one go. The application runs in this process, its clients and its provider in others.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startAndRead, stop } from '../../../scripts/bench/processes.ts'
import { prepareStores } from '../../../scripts/bench/stores.ts'
import { startUpstream } from '../../../scripts/bench/targets.ts'
import { workerPool } from '../../../src/event-loop/worker-pool.ts'
import { warmUpTokenizer } from '../../../src/formats/tokens/count-in-worker.ts'
import { openServerDatabase } from '../../../src/postgres/server-database.ts'
import { createFallbackStore } from '../../../src/stores/fallback-store.ts'
import { connectRedis } from '../../../src/stores/redis/connect-redis.ts'
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts'
import { createEntrySigner, createSignedStore } from '../../../src/stores/signed-store.ts'
import { startProxy } from '../../harness/proxy.ts'
import { LARGEST_BODIES } from './largest-bodies.ts'

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, times: { type: 'string', default: '3' } },
})
const BEAT_MS = 2
const READ_AT_ONCE = 'reading one at once'

const upstream = await startUpstream()
const stores = await prepareStores()
const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = stores.environment
const database = openServerDatabase({ url: databaseUrl, maxConnections: 5 })
const redis = createFallbackStore(openRedisStore(connectRedis(redisUrl), crypto.randomUUID()))
const tags = createEntrySigner({ current: Buffer.alloc(32, 1), others: [] }, 'bench')
const store = createSignedStore(redis, { signer: tags, onInvalidSignature: () => {} })
const proxy = await startProxy({
  stores: { database, store, databaseUrl, redisUrl },
  environment: { AGGREGATOR_BASE_URL: upstream.baseUrl, AGGREGATOR_API_KEY: 'k' },
})
const keys = { project: stores.key, test: await proxy.createKey({ project: 'tests', plan: 'bench' }) }
// The worker loads the vocabulary at first use. This must not be measured.
warmUpTokenizer()
await workerPool.whenIdle()
const client = await startAndRead('test/hostile/event-loop/client.ts', [proxy.baseUrl, keys.project, keys.test])
const send = async (door: string) => (await fetch(`${client.firstLine}/${encodeURIComponent(door)}`)).text()

/** The longest block since the last reset, in milliseconds. */
let longestMs = 0
let spentMs = readProcessorMs()
setInterval(() => {
  const nowMs = readProcessorMs()
  longestMs = Math.max(longestMs, nowMs - spentMs)
  spentMs = nowMs
}, BEAT_MS)

try {
  process.stdout.write('| request | longest go, ms: first, again | statuses |\n|---|---|---|\n')
  await send('small')
  process.stdout.write(`| ${READ_AT_ONCE} | ${timeReadingAtOnce().toFixed(1)} | 0 |\n`)
  for (const { name } of LARGEST_BODIES) {
    if (!name.includes(options.only)) continue
    const goes: string[] = []
    const statuses: string[] = []
    for (let i = 0; i < Number(options.times); i++) {
      await Bun.sleep(50)
      Bun.gc(true)
      await Bun.sleep(20)
      longestMs = 0
      statuses.push(await send(name))
      await Bun.sleep(30)
      goes.push(longestMs.toFixed(1))
    }
    process.stdout.write(`| ${name} | ${goes.join(', ')} | ${statuses.join(', ')} |\n`)
  }
} finally {
  await Promise.all([stop(client.process), upstream.stop()])
  await database.close()
  await stores.drop()
}
process.exit()

/** Decodes and parses a body of many texts in one go. Returns the median of five runs. */
function timeReadingAtOnce(): number {
  const body = LARGEST_BODIES.find(({ key }) => key === 'test')?.body()
  const bytes = new TextEncoder().encode(String(body))
  const goes = Array.from({ length: 5 }, () => {
    Bun.gc(true)
    const beganMs = readProcessorMs()
    JSON.parse(new TextDecoder().decode(bytes))
    return readProcessorMs() - beganMs
  })
  return goes.toSorted((a, b) => a - b)[2] ?? 0
}

/** Reads the processor time of the event loop's thread only. */
function readProcessorMs(): number {
  return Number(readFileSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6
}
