/**
 * Measures how long the dashboard's pages wait for the admin API on a database with millions of usage records.
 *
 * Creates a database on the server of DATABASE_URL, fills it with psql, requests every route that a page uses, and drops it again.
 * BENCH_DATABASE_URL names a filled database, which is kept. Usage: bun scripts/bench/dashboard.ts [RECORDS] [DAYS]
 */

import { migrate } from '../../src/postgres/migrate.ts'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { startProxy } from '../../test/harness/proxy.ts'
import { nameTablesIn } from '../../test/harness/search-path.ts'

const ROUNDS = 7
const LIMIT_MS = 300

const [records = '5000000', days = '390'] = process.argv.slice(2)
const server = process.env.DATABASE_URL
if (!server)
  throw new Error(
    'DATABASE_URL must be set: to a server where databases may be made. scripts/services.sh up prints one.',
  )

const name = `bench_dashboard_${process.pid}`
const existing = process.env.BENCH_DATABASE_URL
const url = existing ?? Object.assign(new URL(server), { pathname: `/${name}` }).href
const admin = openRealDatabase({ url: server, maxConnections: 1 })
if (existing === undefined) {
  await admin.runScript(`create database ${name}`)
  await admin.runScript(nameTablesIn(name))
}
try {
  if (existing === undefined) await fill()
  process.exitCode = (await measure()) ? 0 : 1
} finally {
  if (existing === undefined) await admin.runScript(`drop database ${name} with (force)`)
  await admin.close()
}

async function fill(): Promise<void> {
  const database = openRealDatabase({ url })
  await migrate(database)
  await database.close()
  const seedFile = new URL('seed-usage.sql', import.meta.url).pathname
  const values = ['-v', 'ON_ERROR_STOP=1', '-v', `records=${records}`, '-v', `days=${days}`]
  const psql = Bun.spawnSync(['psql', url, '-qAt', ...values, '-f', seedFile], { stdout: 'inherit', stderr: 'inherit' })
  if (psql.exitCode !== 0) throw new Error('The database could not be filled')
}

/** Returns whether every route was within the limit. */
async function measure(): Promise<boolean> {
  const database = openRealDatabase({ url })
  const stores = { database, store: createInProcessStore(), databaseUrl: url, redisUrl: null }
  const proxy = await startProxy({ dashboard: true, stores })
  await proxy.query(
    `select create_user('bench@localhost', 'owner') where not exists (select from users where email = 'bench@localhost')`,
  )
  const [issued] = await proxy.query<{ key: string }>(`select key from issue_admin_key('bench@localhost', 'bench')`)
  const [largest] = await proxy.query<{ project: number; key: number; records: number }>(
    `select project_id as project, min(key_id) as key, count(*)::integer as records
    from usage_records group by project_id order by count(*) desc limit 1`,
  )
  process.stdout.write(`The largest project has ${largest?.records} records.\n`)
  const root = proxy.baseUrl.slice(0, -'/v1'.length)
  let isWithin = true
  for (const [title, path] of routesOf(`proj_${largest?.project}`, `key_${largest?.key}`)) {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const startedAt = performance.now()
      const response = await fetch(`${root}${path}`, { headers: { authorization: `Bearer ${issued?.key}` } })
      await response.text()
      if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
      times.push(performance.now() - startedAt)
    }
    const median = times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
    const most = Math.max(...times)
    isWithin &&= median < LIMIT_MS
    process.stdout.write(`${median.toFixed(0).padStart(6)} ms  ${most.toFixed(0).padStart(6)} ms at most  ${title}\n`)
  }
  await proxy.stop()
  await Promise.all([database.close(), stores.store.close()])
  return isWithin
}

/** What pages request for the largest project, and what an administrator may request for all projects. */
function routesOf(project: string, key: string): [title: string, path: string][] {
  const now = Math.floor(Date.now() / 1000)
  const day = 86_400
  const own = `/v1/organization/projects/${project}`
  const overview = (title: string, back: number, width: string, of = `&project_id=${project}`): [string, string] => [
    title,
    `/v1/usage?start_time=${now - back * day}&end_time=${now}&width=${width}&time_zone=Asia/Kolkata${of}`,
  ]
  const report = (what: string, query: string): [string, string] => [
    `${what} ${query}`,
    `/v1/organization/${what}?start_time=${now - 30 * day}&${query}`,
  ]
  return [
    overview('overview: a day by the hour', 1, 'hour'),
    overview('overview: a week by the hour', 7, 'hour'),
    overview('overview: 30 days', 30, 'day'),
    overview('overview: 12 months', 365, 'month'),
    overview('overview: 12 months of all projects', 365, 'month', ''),
    overview('overview: 30 days of all projects', 30, 'day', ''),
    overview('overview: a day of all projects, by the hour', 1, 'hour', ''),
    // As the page asks: test keys are left out.
    overview('overview: a day of all projects, without test keys', 1, 'hour', '&key_type=project'),
    overview('overview: 7 days of all projects, without test keys', 7, 'hour', '&key_type=project'),
    overview('overview: 30 days of all projects, without test keys', 30, 'day', '&key_type=project'),
    overview('overview: 12 months of all projects, without test keys', 365, 'month', '&key_type=project'),
    overview('overview: 12 months of all projects, test keys alone', 365, 'month', '&key_type=test'),
    overview('overview: 12 months of one key', 365, 'month', `&project_id=${project}&api_key_id=${key}`),
    ['requests', `/v1/requests?project_id=${project}&limit=50`],
    ['requests: failed', `/v1/requests?project_id=${project}&limit=50&outcome=failed`],
    ['requests: of a model that was never asked', `/v1/requests?project_id=${project}&limit=50&model=none`],
    ['requests: one id', `/v1/requests?project_id=${project}&limit=50&request_id=none`],
    ['cache: stats', `/v1/cache/stats?project_id=${project}`],
    ['cache: matches', `/v1/cache/matches?project_id=${project}`],
    ['cache: near misses', `/v1/cache/near_misses?project_id=${project}`],
    ['cache: calibration', `/v1/cache/calibration?project_id=${project}`],
    ['cache: answers', `/v1/cache/entries?project_id=${project}&limit=50`],
    ['projects', '/v1/organization/projects?limit=100'],
    ['keys', `${own}/api_keys?limit=50`],
    ['provider keys', `${own}/provider_keys`],
    ['settings', `${own}/settings`],
    ['routes', `${own}/routes`],
    ['users', '/v1/organization/users?limit=50'],
    ['limits', `${own}/limits`],
    ['members', `${own}/users`],
    ['audit log', '/v1/organization/audit_logs?limit=50'],
    report('usage/completions', 'limit=31'),
    report('usage/completions', 'limit=31&group_by=project_id&group_by=model'),
    report('usage/completions', 'bucket_width=1h&limit=168'),
    report('usage/embeddings', 'limit=31'),
    report('costs', 'limit=31&group_by=project_id&group_by=line_item'),
    [
      'usage/completions by the minute, a day of all projects',
      `/v1/organization/usage/completions?start_time=${now - day}&bucket_width=1m&limit=1440`,
    ],
  ]
}
