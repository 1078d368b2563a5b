/**
 * `bun scripts/bench/event-loop.ts [--only TEXT] [--times N]`: how long the worst requests block the event loop at a time, in processor time of its
 * thread, which does not depend on how busy the machine is. The application runs in this process, its clients and its upstream in others.
 */

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createEmbedder } from '../../src/cache/embedders/create-embedder.ts'
import { readConfig } from '../../src/config/config.ts'
import { offLoop } from '../../src/event-loop/off-loop.ts'
import { warmCounting } from '../../src/formats/tokens/count-aside.ts'
import { call } from '../../src/postgres/call.ts'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { createApp } from '../../src/process/app.ts'
import { guardStore } from '../../src/stores/guarded-store.ts'
import { connectRedis } from '../../src/stores/redis/connect-redis.ts'
import { openRedisStore } from '../../src/stores/redis/redis-store.ts'
import { createEntryTags, tagEntries } from '../../src/stores/tagged-store.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { CASES } from './event-loop/cases.ts'
import { startAndRead, stop } from './processes.ts'
import { prepareStores } from './stores.ts'

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, times: { type: 'string', default: '3' } },
})
const BEAT_MS = 2

const upstream = await startAndRead('test/standin/main.ts', ['--port', '0'])
const upstreamUrl: string = JSON.parse(upstream.firstLine).baseUrl
const stores = await prepareStores()
const database = openRealDatabase({ url: stores.environment.DATABASE_URL, maxConnections: 5 })
await call(database, 'create_project', { project: 'tests', plan: 'bench' })
const keys = {
  project: stores.key,
  test: await call(database, 'issue_key', { project: 'tests', key_type: 'test', key_name: 'k' }),
}
const log = createLog('silent')
const config = readConfig({ ...stores.environment, AGGREGATOR_BASE_URL: upstreamUrl, AGGREGATOR_API_KEY: 'k' })
const redis = guardStore(openRedisStore(connectRedis(stores.environment.REDIS_URL), crypto.randomUUID()))
const tags = createEntryTags({ current: Buffer.alloc(32, 1), previous: null }, 'bench')
const app = await createApp({
  config,
  database,
  store: tagEntries(redis, { tags, onWrong: () => {} }),
  embedder: await createEmbedder(config.embedder, log),
  log,
})
// Not what is measured: the worker loads the vocabulary at first need.
warmCounting()
await offLoop.idle()
app.http.listen({ port: 0, hostname: '127.0.0.1' })
const baseUrl = `http://127.0.0.1:${app.http.server?.port}/v1`
const client = await startAndRead('scripts/bench/event-loop/client.ts', [
  JSON.stringify({ baseUrl, keys, upstreamUrl }),
])
const clientUrl = client.firstLine

/** The longest block since the last call, in milliseconds. */
let longestMs = 0
let spentMs = readProcessorMs()
setInterval(() => {
  const nowMs = readProcessorMs()
  longestMs = Math.max(longestMs, nowMs - spentMs)
  spentMs = nowMs
}, BEAT_MS)

try {
  process.stdout.write('| request | longest go, ms: first, again | statuses |\n|---|---|---|\n')
  await fetch(`${clientUrl}/${encodeURIComponent(CASES[0]?.name ?? '')}`)
  for (const { name } of CASES) {
    if (!name.includes(options.only)) continue
    const goes: string[] = []
    const told: string[] = []
    for (let i = 0; i < Number(options.times); i++) {
      await Bun.sleep(50)
      Bun.gc(true)
      await Bun.sleep(20)
      longestMs = 0
      told.push(await (await fetch(`${clientUrl}/${encodeURIComponent(name)}`)).text())
      await Bun.sleep(30)
      goes.push(longestMs.toFixed(1))
    }
    process.stdout.write(`| ${name} | ${goes.join(', ')} | ${told.join(', ')} |\n`)
  }
} finally {
  await Promise.all([stop(client.process), stop(upstream.process)])
  await database.close()
  await stores.drop()
}
process.exit()

/** Only the event loop's thread. */
function readProcessorMs(): number {
  return Number(readFileSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6
}
