/**
 * `bun run bench --admin [--records N] [--days N] [--projects N] [--keys N] [--users N] [--out FILE]`: measures what the dashboard reads, in processor time of PostgreSQL for each call, and how long the records take to
 * be added to the sums, on a new database. Only processor time is comparable on a machine that does other work.
 */
import { parseArgs } from 'node:util'
import { type Actor, callAsActor, runAsActor } from '../../src/postgres/admin/call-as.ts'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { listAdminCalls, type Subject } from './admin-calls.ts'
import { findStoreProcesses, readProcessorTime } from './processor-time.ts'
import { type BenchStores, prepareStores } from './stores.ts'
import { insertUsage } from './usage-records.ts'

interface Read {
  title: string
  /** Null: a call failed. */
  ms: number | null
}

/** The number of calls of each kind. The first, which reads from the disk, is not measured. */
const TIMES = 3
const SHOWN = 40
const SAMPLE_EVERY_MS = 20

export async function runAdminBench(): Promise<void> {
  const { values: size } = parseArgs({
    options: {
      admin: { type: 'boolean' },
      records: text('1000000'),
      days: text('62'),
      projects: text('20'),
      // Of each project. Every tenth is a test key.
      keys: text('10'),
      users: text('20000'),
      out: text('bench-admin.json'),
    },
  })
  const stores = await prepareStores()
  const database = openServerDatabase({ url: stores.environment.DATABASE_URL, maxConnections: 1 })
  try {
    await fill(database, stores, size)
    const reads = await measureReads(database, stores)
    reads.sort((one, other) => (other.ms ?? Infinity) - (one.ms ?? Infinity))
    for (const { title, ms } of reads.slice(0, SHOWN))
      process.stdout.write(`${ms === null ? '   failed' : `${String(ms).padStart(6)} ms`}  ${title}\n`)
    process.stdout.write(`The other ${Math.max(0, reads.length - SHOWN)} calls took less. Written to ${size.out}\n`)
    await Bun.write(size.out, `${JSON.stringify({ at: new Date().toISOString(), ...size, reads }, null, 2)}\n`)
  } finally {
    await database.close()
    await stores.drop()
  }
}

function text(value: string) {
  return { type: 'string', default: value } as const
}

async function fill(
  database: Database,
  stores: BenchStores,
  { records, days, projects, keys, users }: Record<'records' | 'days' | 'projects' | 'keys' | 'users', string>,
): Promise<void> {
  await database.runScript(`
    insert into projects (name, plan) select 'grown-' || n, 'bench' from generate_series(1, ${projects}) n;
    insert into api_keys (project_id, key_hash, prefix, type, name, created_at, last_used_at)
    select p.id, sha256(convert_to(p.id || '/' || n, 'UTF8')), 'lgw_proj_' || left(md5(p.id || '/' || n), 8),
      case n % 10 when 0 then 'test' else 'project' end, 'key ' || n, now() - interval '90 days', now()
    from projects p, generate_series(1, ${keys}) n
    where p.name like 'grown-%';
    insert into webhooks (project_id, url, kinds, sealed) select p.id, 'https://example.org/', '{spend.unusual}', '' from projects p where p.name like 'grown-%';
    insert into users (email, role) values ('owner@example.org', 'owner');
  `)
  const usage = { records: Number(records), days: Number(days), endUsers: Number(users), isSummed: true }
  const tookMs = await measureProcessor(stores, () => insertUsage(database, 'grown-', usage))
  process.stdout.write(`${(tookMs / usage.records).toFixed(3)} ms for a record and its sums\n`)
}

/**
 * Returns the processor time in milliseconds that the server processes of a database's connections take for some work. They are read
 * repeatedly, because the pool replaces a connection whose reply is late, and the server then ends its process.
 */
async function measureProcessor(stores: BenchStores, work: () => Promise<unknown>): Promise<number> {
  const usedUs = new Map<number, number>()
  const sample = () => {
    for (const pid of findStoreProcesses(stores.environment).postgres)
      usedUs.set(pid, Math.max(usedUs.get(pid) ?? 0, readProcessorTime(pid)))
    return usedUs.values().reduce((sum, us) => sum + us, 0) / 1000
  }
  const beforeMs = sample()
  const timer = setInterval(sample, SAMPLE_EVERY_MS)
  await work().finally(() => clearInterval(timer))
  return sample() - beforeMs
}

async function measureReads(database: Database, stores: BenchStores): Promise<Read[]> {
  const [subject] = await database.call<Subject & { owner: number }>(
    `select now(), p.id::float8 as project, p.name as project_name, u.id::float8 as owner, k.key, k.test_key, r.*
    from (select * from projects where name = 'grown-1') p
    cross join lateral (
      select (min(id) filter (where type = 'project'))::float8 as key, (min(id) filter (where type = 'test'))::float8 as test_key
      from api_keys where project_id = p.id
    ) k
    cross join lateral (
      select request_id, asked_id, session, end_user from usage_records
      where project_id = p.id and end_user is not null and session is not null
      order by recorded_at desc limit 1
    ) r
    cross join users u`,
    [],
  )
  if (!subject) throw new Error('expected a record of the project grown-1, got none')
  const actor: Actor = { database, name: 'owner', userId: subject.owner, adminKeyId: null, address: '' }
  const reads: Read[] = []
  const measure = async (title: string, run: () => Promise<unknown>) => {
    const repeat = async () => {
      for (let i = 0; i < TIMES; i++) await run()
    }
    try {
      await run()
      reads.push({ title, ms: Math.round((await measureProcessor(stores, repeat)) / TIMES) })
    } catch (error) {
      process.stdout.write(`${title}: ${error}\n`)
      reads.push({ title, ms: null })
    }
  }
  for (const { title, name, given } of listAdminCalls(subject))
    await measure(title, () => callAsActor(actor, name, given as never))
  const month = `"ChargePeriodStart" >= date_trunc('month', now(), 'UTC')`
  for (const [title, where] of [
    ['FOCUS of a month', month],
    ['FOCUS of a month and project', `${month} and "SubAccountId" = 'proj_${subject.project}'`],
  ] as const)
    await measure(title, () => runAsActor(actor, `select * from focus_costs where ${where}`, {}, { reads: true }))
  await measure('alerts', () => callFunction(database, 'measure_alerts', { moment: subject.now }))
  return reads
}
