/**
 * `bun run bench --scale`: what growth costs. Measures each way through the proxy on a nearly empty database, fills that with keys,
 * projects, usage records and stored answers, and measures again; a way that has lost more than a tenth of its throughput is named.
 * Then it prints what a record and a stored answer take, in PostgreSQL and in Redis.
 *
 * Options: --keys N (default 1000000) --projects N (10000) --records N (10000000) --entries N (1000000) --rounds N (default 5)
 * --seconds N (a measurement, default 2) --connections N (default 32). A short run: --keys 1000 --projects 100 --records 10000
 * --entries 1000. PostgreSQL and Redis must run on this machine: processor time is read from /proc.
 */
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import type { Database } from '../../src/postgres/database.ts'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { findFreePort, runLoadProcess, startAndRead, startProxyProcess, stop } from './processes.ts'
import { findStoreProcesses, readProcessorTime, sumProcessorTime } from './processor-time.ts'
import { prepareStores } from './stores.ts'

const { values: options } = parseArgs({
  options: {
    scale: { type: 'boolean' },
    keys: { type: 'string', default: '1000000' },
    projects: { type: 'string', default: '10000' },
    records: { type: 'string', default: '10000000' },
    entries: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' },
  },
})
/** Share of throughput that a path may lose. */
const MAX_LOSS = 0.1
const KEPT_ANSWERS = 500
/** Each is filled by one statement per table. */
const PARTS = 10

const chat = (content: string) => JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] })
const questions = Array.from({ length: KEPT_ANSWERS }, (_, i) => {
  const series = String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26)).repeat(2)
  return `How do I replace the water filter of a coffee machine of series ${series}?`
})
const WAYS = [
  { name: 'exact hit', expects: 'HIT', bodies: questions.map(chat) },
  {
    name: 'semantic hit',
    expects: 'HIT-SEMANTIC',
    bodies: questions.map(question => chat(question.replace('?', ', please?'))),
  },
  { name: 'miss', expects: 'MISS', bodies: [chat('Tell me something about number {{n}}.')] },
] as const

const stores = await prepareStores()
const upstream = await startAndRead('test/standin/main.ts', ['--port', '0'])
const port = findFreePort()
const proxy = await startProxyProcess(
  { ...stores.environment, AGGREGATOR_BASE_URL: JSON.parse(upstream.firstLine).baseUrl, AGGREGATOR_API_KEY: 'bench' },
  port,
)
const database = openRealDatabase({ url: stores.environment.DATABASE_URL, maxConnections: 1 })
const redis = new Redis(stores.environment.REDIS_URL)
const headers = { authorization: `Bearer ${stores.key}`, 'content-type': 'application/json' }
try {
  process.stdout.write(`${await tellKeptAnswer()}\n`)
  const before = await measureAll()
  const startedAtMs = performance.now()
  await fill(database)
  process.stdout.write(`Filled in ${Math.round((performance.now() - startedAtMs) / 1000)} s\n`)
  print(before, await measureAll())
  process.stdout.write(`${await tellStoredBytes()}\n`)
} finally {
  redis.disconnect()
  await database.close()
  await Promise.all([stop(proxy), stop(upstream.process)])
  await stores.drop()
}

/** Asks each question once, and reports the memory of its copy in Redis. */
async function tellKeptAnswer(): Promise<string> {
  let chars = 0
  for (const body of questions.map(chat)) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(`A question was answered with ${response.status}`)
    chars += (await response.bytes()).length
  }
  const sizes: number[] = []
  const { id } = await database.queries.selectFrom('projects').select('id').executeTakeFirstOrThrow()
  for await (const names of redis.scanStream({ match: `*{${id}}:E:*`, count: 1_000 }))
    for (const name of names) sizes.push(Number(await redis.memory('USAGE', name)))
  const bytes = Math.round(sizes.reduce((a, b) => a + b, 0) / sizes.length)
  return `An answer of ${Math.round(chars / KEPT_ANSWERS)} bytes takes ${bytes} bytes in Redis (${sizes.length} answers)`
}

interface Figures {
  requestsPerSecond: number
  /** Microseconds per request, of proxy and stores. */
  processorTime: number
}

async function measureAll(): Promise<Figures[]> {
  const rounds: Figures[][] = WAYS.map(() => [])
  for (const way of WAYS) await measure(way)
  for (let round = 0; round < Number(options.rounds); round++)
    for (const [i, way] of WAYS.entries()) rounds[i]?.push(await measure(way))
  return rounds.map(figures => ({
    requestsPerSecond: median(figures.map(({ requestsPerSecond }) => requestsPerSecond)),
    processorTime: median(figures.map(({ processorTime }) => processorTime)),
  }))
}

async function measure({ name, expects, bodies }: (typeof WAYS)[number]): Promise<Figures> {
  const readTime = () =>
    readProcessorTime(proxy.pid) + sumProcessorTime(Object.values(findStoreProcesses(stores.environment)).flat())
  const before = readTime()
  const result = await runLoadProcess({
    host: '127.0.0.1',
    port,
    path: '/v1/chat/completions',
    headers,
    bodies: [...bodies],
    connections: Number(options.connections),
    warmupMs: 0,
    measureMs: Number(options.seconds) * 1000,
  })
  await Bun.sleep(700)
  // The first request of each rewording is compared, later ones are found by name; a few misses repeat.
  if ((result.cacheResults[expects] ?? 0) < result.requests * 0.9)
    throw new Error(
      `${name}: expected ${expects}, got ${JSON.stringify({ ...result.cacheResults, ...result.statuses })}`,
    )
  return { requestsPerSecond: result.requestsPerSecond, processorTime: (readTime() - before) / result.requests }
}

/** Runs in the server, a tenth at a time, so that no statement takes minutes. */
async function fill(into: Database): Promise<void> {
  const keys = Number(options.keys)
  const projects = Number(options.projects)
  await into.runScript(`
    set local statement_timeout = 0;
    set local synchronous_commit = off;
    insert into projects (name, plan) select 'grown-' || n, 'bench' from generate_series(1, ${projects}) n;
    insert into api_keys (project_id, key_hash, prefix, type, name)
    select p.id, sha256(convert_to(p.id || '/' || n, 'UTF8')), 'lgw_proj_' || left(md5(p.id || '/' || n), 8), 'project', 'key ' || n
    from projects p, generate_series(1, ${Math.ceil(keys / projects)}) n
    where p.name like 'grown-%';
  `)
  const startedAtMs = performance.now()
  const records = Math.ceil(Number(options.records) / PARTS)
  for (let part = 0; part < PARTS; part++) {
    await into.runScript(`
      set local statement_timeout = 0;
      set local synchronous_commit = off;
      -- In the order of their times, as they come: out of it, most of the work would be the indexes'.
      insert into usage_records (recorded_at, request_id, project_id, key_id, endpoint, model, provider, cache_result, status, streamed,
        prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms)
      select m.start + (now() - m.start) * ((${part * records} + n) / ${PARTS * records}::float8), gen_random_uuid()::text,
        p.ids[1 + n % ${projects}], 1, 'chat', 'openai/gpt-4o-mini', 'openrouter', 'MISS', 200, false, 100, 0, 200, 0, 0.0001, 0, 12.5, 13.5
      from (select array_agg(id) as ids from projects where name like 'grown-%') p,
        (select date_trunc('month', now(), 'UTC') as start) m,
        generate_series(1, ${records}) n;
      insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, expires_at, bytes)
      select p.ids[1 + n % ${projects}], sha256(convert_to('${part}/' || n, 'UTF8')), e.endpoint, e.model, e.provider, e.response,
        now() + interval '1 day', e.bytes
      from (select array_agg(id) as ids from projects where name like 'grown-%') p,
        generate_series(1, ${Math.ceil(Number(options.entries) / PARTS)}) n,
        (select * from cache_entries order by id limit 1) e;
    `)
    process.stderr.write(
      `filled ${part + 1} of ${PARTS} after ${Math.round((performance.now() - startedAtMs) / 1000)} s\n`,
    )
  }
  await into.runScript(`
    set local statement_timeout = 0;
    set local synchronous_commit = off;
    insert into cache_prompts (entry_id, project_id, context_hash, normalized_hash, prompt, space_id, embedding, created_at, expires_at)
    select e.id, e.project_id, f.context_hash, e.request_hash, f.prompt, f.space_id, f.embedding, e.created_at, e.expires_at
    from cache_entries e
    join projects p on p.id = e.project_id and p.name like 'grown-%',
      (select * from cache_prompts where embedding is not null order by entry_id limit 1) f;
    analyze;
  `)
}

async function tellStoredBytes(): Promise<string> {
  const [row] = await database.call<{ record: number; answer: number }>(
    `select
      (select sum(pg_total_relation_size(c.oid)) from pg_class c where c.relname like 'usage\\_records\\_%' and c.relkind = 'r')::float8
        / (select count(*) from usage_records) as record,
      (select sum(pg_total_relation_size(c.oid)) from pg_class c where c.relname in ('cache_entries', 'cache_prompts'))::float8
        / (select count(*) from cache_entries) as answer`,
    [],
  )
  return `In PostgreSQL a record takes ${Math.round(row?.record ?? 0)} bytes, a stored answer with its prompt and vector ${Math.round(row?.answer ?? 0)}`
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function print(before: readonly Figures[], after: readonly Figures[]): void {
  for (const [i, { name }] of WAYS.entries()) {
    const [then, now] = [before[i] as Figures, after[i] as Figures]
    const loss = 1 - now.requestsPerSecond / then.requestsPerSecond
    const rates = `${then.requestsPerSecond.toFixed(0)} to ${now.requestsPerSecond.toFixed(0)} requests/s`
    const times = `${then.processorTime.toFixed(0)} to ${now.processorTime.toFixed(0)} µs of processor time`
    process.stdout.write(`${name.padEnd(14)}${rates}, ${times}${loss > MAX_LOSS ? ': more than a tenth lost' : ''}\n`)
  }
}
