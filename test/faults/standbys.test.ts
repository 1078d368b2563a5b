/** Standbys serve operators' reads and nothing else, and only while they follow the primary. */
import { beforeAll, expect, test } from 'vitest'
import { createSessionToken } from '../../src/admin/session-cookie.ts'
import { sha256 } from '../../src/formats/json/canonical.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask, get } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { type ProxyProcess, spawnProxy, startProxyProcess } from './proxy-process.ts'
import { type PrivateServer, startPostgres, startStandby } from './servers.ts'

/** The proxy polls standbys every second. A standby that is five seconds behind is not used. */
const ANSWERED_WITHIN_MS = 5_000
/** The time limit of operators' statements. */
const TIME_LIMIT_MS = 5_000
/** An idle connection reports its function calls after ten seconds, a closed one at once. */
const REPORTED_AFTER_MS = 11_000

const READS = [
  'find_requests',
  'latency_percentiles',
  'paid_again',
  'request_filter_values',
  'usage_buckets',
  'usage_by_tag',
  'usage_overview',
  'usage_shares',
]

describeFaults('reads from standbys', () => {
  const primary = duringTests(startPostgres)
  const database = duringTests(() => openServerDatabase({ url: primary.url, maxConnections: 1 }))
  const one = duringTests(() => {
    psql(primary, `alter system set track_functions = 'all'`)
    psql(primary, 'select pg_reload_conf()')
    return startStandby(primary)
  })
  const other = duringTests(() => startStandby(primary))
  let environment: Record<string, string>
  let proxy: ProxyProcess
  let key: string
  /** Session tokens. A reader without memberships cannot read any project. */
  const tokens = { owner: createSessionToken(), reader: createSessionToken() }
  let projectId: string

  beforeAll(async () => {
    const hostOf = ({ url }: PrivateServer) => new URL(url).host
    environment = {
      DATABASE_URL: `postgres://postgres@${hostOf(primary)},${hostOf(one)}/model_proxy`,
      DATABASE_STANDBY_URL: `postgres://postgres@${hostOf(one)},${hostOf(other)}/model_proxy`,
      REDIS_URL: '',
      DASHBOARD: 'on',
    }
    proxy = await startProxyProcess(environment)
    for (const [role, token] of Object.entries(tokens)) {
      await database.call('select create_user($1, $2)', [`${role}@example.org`, role])
      await database.call(`select open_session($1, $2, '127.0.0.1', 'test', '')`, [
        `${role}@example.org`,
        sha256(token),
      ])
    }
    const account = await openAccounts(database).create()
    key = account.key
    const [project] = await database.call<{ id: number }>('select id from projects where name = $1', [account.project])
    projectId = `proj_${project?.id}`
    for (const question of ['One?', 'Two?', 'Two?']) expect((await ask(proxy, key, question)).status).toBe(200)
    await waitUntil('both are up', async () => (await states()).every(state => state === 'up'))
  })

  function psql({ url }: PrivateServer, statement: string): string {
    const { exitCode, stdout } = Bun.spawnSync(['psql', url, '-qAtc', statement])
    expect(exitCode).toBe(0)
    return stdout.toString().trim()
  }

  async function health() {
    return (await (await get(proxy, '/health')).json()) as {
      status: string
      dependencies: { postgres: { standbys: string[] } }
    }
  }
  const states = async () => (await health()).dependencies.postgres.standbys

  const read = (path: string, token = tokens.owner, of = proxy) =>
    get(of, path, undefined, { headers: { cookie: `model_proxy_session=${token}` } })

  /** Returns the server's count of calls of these functions. It can be REPORTED_AFTER_MS late. */
  const calls = (server: PrivateServer, functions = READS) =>
    Number(
      psql(
        server,
        `select coalesce(sum(calls), 0) from pg_stat_user_functions where funcname in ('${functions.join("', '")}')`,
      ),
    )
  const callsOnStandbys = () => calls(one) + calls(other)

  const doors = () => {
    const now = Math.floor(Date.now() / 1_000)
    const span = `start_time=${now - 3_600}&end_time=${now + 60}`
    const day = `start_time=${now - 86_400}`
    return [
      `/usage?${span}`,
      `/usage?${span}&tags[]=team=a`,
      `/usage/paid_again?${span}&project_id=${projectId}`,
      `/organization/costs?${day}`,
      `/organization/usage/completions?${day}`,
      `/requests?project_id=${projectId}`,
      `/requests/filters?project_id=${projectId}`,
      `/requests/export?project_id=${projectId}&format=json`,
    ]
  }

  test('usage, costs and records are read there, as from the primary, and nothing else', async () => {
    const recorded = 'select count(*) from usage_records'
    await waitUntil('all is recorded', () => psql(one, recorded) === '3' && psql(other, recorded) === '3')
    const alone = await startProxyProcess({ ...environment, DATABASE_STANDBY_URL: '' })
    const answers: [standby: unknown, primary: unknown][] = []
    for (const path of doors()) {
      for (const token of Object.values(tokens)) {
        const [received, expected] = [await read(path, token), await read(path, token, alone)]
        expect([path, received.status]).toEqual([path, expected.status])
        answers.push([await received.json(), await expected.json()])
      }
    }
    for (const [standby, own] of answers) expect(standby).toEqual(own)
    const listed = (await (await read(`/requests?project_id=${projectId}`, tokens.owner, alone)).json()) as {
      data: { id: string }[]
    }
    // Single records and cache statistics come from the primary.
    expect((await read(`/requests/${listed.data[0]?.id}?project_id=${projectId}`)).status).toBe(200)
    expect((await read(`/cache/stats?project_id=${projectId}`)).status).toBe(200)
    await Bun.sleep(REPORTED_AFTER_MS)
    await waitUntil(
      'all calls are reported',
      () => callsOnStandbys() > READS.length && calls(primary) === callsOnStandbys() + 2,
    )
    const onStandbys = callsOnStandbys()
    expect(onStandbys).toBeGreaterThan(READS.length)
    expect(calls(primary)).toBe(onStandbys + 2)
    expect(READS.filter(name => calls(one, [name]) + calls(other, [name]) === 0)).toEqual([])
    expect([calls(one) > 0, calls(other) > 0]).toEqual([true, true])
    expect([one, other, primary].map(server => calls(server, ['cache_stats']))).toEqual([0, 0, 1])
  })

  test('a month’s report is read there', async () => {
    const report = spawnProxy({ ...environment, PORT: '0' }, ['report', '--to', '/tmp/model-proxy-standby-report.html'])
    expect(await report.ended()).toBe(0)
    const of = ['monthly_report']
    expect([calls(one, of) + calls(other, of), calls(primary, of)]).toEqual([1, 0])
  })

  test('a standby that replays nothing is behind, and the primary is read until it has caught up', async () => {
    for (const server of [one, other]) psql(server, 'select pg_wal_replay_pause()')
    await Bun.sleep(7_000)
    await ask(proxy, key, 'Three?')
    await waitUntil('both are behind', async () => (await states()).every(state => state === 'behind'))
    await waitUntil('health is ok', async () => (await health()).status === 'ok')
    await waitUntil('it is recorded', () => psql(primary, 'select count(*) from usage_records') === '4')
    const list = async () =>
      ((await (await read(`/requests?project_id=${projectId}`)).json()) as { data: unknown[] }).data.length
    expect(await list()).toBe(4)
    for (const server of [one, other]) psql(server, 'select pg_wal_replay_resume()')
    await waitUntil('both are up', async () => (await states()).every(state => state === 'up'))
    expect(await list()).toBe(4)
  })

  test('a standby that hangs or is gone costs no read', async () => {
    one.freeze()
    await other.kill()
    const startedAtMs = performance.now()
    const statuses = await Promise.all(doors().map(path => read(path).then(({ status }) => status)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(performance.now() - startedAtMs).toBeLessThan(ANSWERED_WITHIN_MS)
    await waitUntil('both are down', async () => (await states()).every(state => state === 'down'))
    one.thaw()
    await other.start()
    await waitUntil('both are up', async () => (await states()).every(state => state === 'up'))
    expect(proxy.output()).toContain('a standby of DATABASE_STANDBY_URL is not used')
  })

  test('a read that takes a standby too long is not repeated', async () => {
    const locking = database.runScript(
      `set local statement_timeout = '20s'; lock table usage_records; select pg_sleep(12)`,
    )
    // The standbys receive such a lock once it is on disk.
    await waitUntil('both have the lock', () => {
      psql(primary, `select pg_create_restore_point('locked')`)
      const locks = `select count(*) > 0 from pg_locks where mode = 'AccessExclusiveLock' and relation = 'usage_records'::regclass`
      return psql(one, locks) === 't' && psql(other, locks) === 't'
    })
    const startedAtMs = performance.now()
    expect((await read(`/requests?project_id=${projectId}`)).status).toBe(503)
    expect(performance.now() - startedAtMs).toBeLessThan(2 * TIME_LIMIT_MS)
    await locking
  })

  test('a promoted server is no standby, nor is one that follows the server it left behind', async () => {
    expect(psql(one, 'select pg_promote()')).toBe('t')
    await waitUntil('the proxy has gone over', async () => (await health()).status === 'degraded')
    await waitUntil('neither is one', async () => (await states()).every(state => state === 'no standby'))
    psql(primary, 'create table written_on_the_old ()')
    const follows = () => psql(other, `select to_regclass('written_on_the_old') is not null`) === 't'
    await waitUntil('the other follows the old one', follows)
    await Bun.sleep(2_500)
    expect(await states()).toEqual(['no standby', 'no standby'])
    expect((await read(doors()[0] ?? '')).status).toBe(200)
  })
})
