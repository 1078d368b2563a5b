/** A former primary that comes back after its standby was promoted. It accepts writes and must not be used. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask, get } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { type Account, openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { type ProxyProcess, spawnProxy, startProxyProcess } from './proxy-process.ts'
import { type PrivateServer, startPostgres, startRedis, startStandby } from './servers.ts'

/** The proxy compares hosts every 5 s, as often as it polls Redis. */
const SEEN_WITHIN_MS = 20_000

describeFaults('a primary that was left behind', () => {
  const old = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const promoted = duringTests(() => startStandby(old))
  let both: string
  let database: Database
  let proxy: ProxyProcess
  /** A proxy whose URL contains only the first server. */
  let alone: ProxyProcess
  let kept: Account
  let deactivated: Account

  beforeAll(async () => {
    both = `postgres://postgres@${hostOf(old)},${hostOf(promoted)}/model_proxy`
    proxy = await startProxyProcess({ DATABASE_URL: both, REDIS_URL: redis.url })
    alone = await startProxyProcess({ DATABASE_URL: old.url, REDIS_URL: redis.url })
    const before = openServerDatabase({ url: old.url, maxConnections: 1 })
    const accounts = openAccounts(before)
    ;[kept, deactivated] = [await accounts.create(), await accounts.create()]
    for (const each of [proxy, alone])
      for (const { key } of [kept, deactivated]) expect((await ask(each, key, 'Before?')).status).toBe(200)
    const written = () => psql(old, 'select pg_current_wal_lsn() = replay_lsn from pg_stat_replication')
    await waitUntil('the standby has replayed everything', async () => written() === 't')
    await before.close()
  })
  afterAll(() => database?.close())

  const hostOf = ({ url }: PrivateServer) => new URL(url).host

  function psql({ url }: PrivateServer, statement: string): string {
    return Bun.spawnSync(['psql', url, '-qAtc', statement]).stdout.toString().trim()
  }

  async function healthOf(of: ProxyProcess) {
    const { status, dependencies } = (await (await get(of, '/health')).json()) as {
      status: string
      dependencies: { postgres: { problem?: string } }
    }
    return [status, dependencies.postgres.problem]
  }

  /** Sends enough requests to use each connection. On a busy machine, some are rejected with 503; these are ignored if others succeed. */
  async function statusesOf(of: ProxyProcess, { key }: Account): Promise<Set<number>> {
    const answers = Array.from({ length: 40 }, (_, i) => ask(of, key, `Question ${i % 8}?`))
    const statuses = new Set((await Promise.all(answers)).map(({ status }) => status))
    if (statuses.size > 1) statuses.delete(503)
    return statuses
  }

  test('while both accept writes, all proxies change to the promoted one, those with open connections too', async () => {
    expect(psql(promoted, 'select pg_promote()')).toBe('t')
    const promotedAtMs = performance.now()
    database = openServerDatabase({ url: promoted.url, maxConnections: 1 })
    await database.call('select deactivate_key($1)', [deactivated.key])
    await waitUntil('the second primary is detected', async () => (await healthOf(proxy))[1] === 'two primaries')
    expect(await healthOf(proxy)).toEqual(['degraded', 'two primaries'])
    await waitUntil('the deactivated key is rejected', async () =>
      ask(proxy, deactivated.key, 'Still?').then(({ status }) => status === 403),
    )
    await waitUntil('a proxy that cannot reach the new primary rejects requests', async () =>
      ask(alone, deactivated.key, 'Still?').then(({ status }) => status === 503),
    )
    expect(performance.now() - promotedAtMs).toBeLessThan(SEEN_WITHIN_MS)
    expect(await healthOf(alone)).toEqual(['down', 'old primary'])
    expect(await statusesOf(proxy, deactivated)).toEqual(new Set([403]))
    expect(await statusesOf(proxy, kept)).toEqual(new Set([200]))
  })

  test('a starting proxy uses the promoted one, whatever the order of the hosts', async () => {
    for (const hosts of [both, `postgres://postgres@${hostOf(promoted)},${hostOf(old)}/model_proxy`]) {
      const started = await startProxyProcess({ DATABASE_URL: hosts, REDIS_URL: redis.url })
      expect(await statusesOf(started, deactivated)).toEqual(new Set([403]))
      expect(await healthOf(started)).toEqual(['degraded', 'two primaries'])
      started.signal('SIGTERM')
    }
  })

  test('if only the old one is reachable, none uses it, and none starts with it', async () => {
    await promoted.kill()
    expect(await statusesOf(alone, kept)).toEqual(new Set([503]))
    await waitUntil('health is down', async () => (await healthOf(proxy))[0] === 'down')
    expect(await statusesOf(proxy, kept)).toEqual(new Set([503]))
    await waitUntil('it is named', async () => (await healthOf(proxy))[1] === 'old primary')
    const refused = spawnProxy({ DATABASE_URL: old.url, REDIS_URL: redis.url })
    expect(await refused.ended()).not.toBe(0)
    expect(refused.output()).toContain('the server is an old primary: it is on timeline 1, but timeline 2 is in use')
  })

  test('service is normal again when the promoted one is back and the old one is gone', async () => {
    await Promise.all([promoted.start(), old.kill()])
    await waitUntil('health is ok', async () => (await healthOf(proxy))[0] === 'ok')
    expect(await statusesOf(proxy, kept)).toEqual(new Set([200]))
    expect(await statusesOf(proxy, deactivated)).toEqual(new Set([403]))
  })
})
