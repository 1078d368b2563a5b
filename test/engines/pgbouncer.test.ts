import { afterAll, beforeEach, expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { buildStartupParameters } from '../../src/postgres/session-settings.ts'
import { openAccounts } from '../faults/accounts.ts'
import { spawnProxy, startProxyProcess } from '../faults/proxy-process.ts'
import { startPostgres, startRedis } from '../faults/servers.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { describeEngines } from './engines.ts'
import { type Pooler, startPgBouncer } from './pgbouncer.ts'

const CLIENTS = 24
const REQUESTS = 600
const IGNORED = Object.keys(buildStartupParameters(1, false)).join(', ')

describeEngines('PgBouncer in transaction mode', ['pgbouncer', 'redis-server'], () => {
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const direct = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 2 }))
  const poolers: Pooler[] = []

  beforeEach(() =>
    direct.runScript('alter role postgres reset all; alter role postgres in database model_proxy reset all'),
  )
  afterAll(() => Promise.all(poolers.map(pooler => pooler.remove())))

  async function startPooler(settings: readonly string[] = []): Promise<Pooler> {
    const pooler = await startPgBouncer(postgres.url, settings)
    poolers.push(pooler)
    return pooler
  }

  const keepsPrepared = ({ version }: Pooler) => {
    const [major = 0, minor = 0] = version.split('.').map(Number)
    return major > 1 || minor >= 21
  }

  /** Two proxies migrate and serve through the pooler. Each successful request is counted and recorded once. */
  async function serveThrough(pooler: Pooler, environment: Record<string, string>): Promise<string> {
    const start = () => startProxyProcess({ DATABASE_URL: pooler.url, REDIS_URL: redis.url, ...environment })
    const proxies = await Promise.all([start(), start()])
    const accounts = openAccounts(direct)
    const account = await accounts.create()
    let left = REQUESTS
    let answered = 0
    const client = async (i: number) => {
      for (; left > 0; ) {
        const n = left--
        const proxy = proxies[i % 2] as (typeof proxies)[0]
        const { status, headers } = await ask(proxy, account.key, `Pooled ${n % 3 === 0 ? n : 0}?`)
        // A busy machine can reject a request with Retry-After.
        if (status === 503 && headers.has('retry-after')) left++
        else {
          expect(status).toBe(200)
          answered++
        }
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i)))
    for (const proxy of proxies) proxy.signal('SIGTERM')
    for (const proxy of proxies) expect(await proxy.ended()).toBe(0)
    expect(answered).toBe(REQUESTS)
    expect(await accounts.countRecords(account)).toEqual({ 200: answered })
    expect(await accounts.countRequests(account)).toBe(answered)
    return proxies.map(proxy => proxy.output()).join('')
  }

  test('with DATABASE_PREPARED=off, requests are served, counted and recorded, and the missing time limit is logged', async () => {
    const pooler = await startPooler()
    expect(await serveThrough(pooler, { DATABASE_PREPARED: 'off' })).toContain(
      'alter role postgres set statement_timeout',
    )
    await direct.runScript(`alter role postgres set statement_timeout = '10s'`)
    const limited = await startPooler()
    expect(await serveThrough(limited, { DATABASE_PREPARED: 'off' })).not.toContain('statement_timeout')
  })

  test('statements that share a connection all have replies, with parameters and without', async () => {
    const pooler = await startPooler()
    const { port } = new URL(pooler.url)
    const database = openServerDatabase({
      url: `postgres://postgres@127.0.0.1:${port}/model_proxy`,
      maxConnections: 1,
      isPrepared: false,
    })
    const ask = (n: number) =>
      n % 3 === 0
        ? database.call<{ n: number }>(`select ${n} as n`, [])
        : database.call<{ n: number }>('select $1::integer as n', [n])
    const replies = await Promise.all(Array.from({ length: 60 }, (_, n) => ask(n)))
    expect(replies.map(([row]) => row?.n)).toEqual(Array.from({ length: 60 }, (_, n) => n))
    await database.close()
  })

  test('serves with prepared statements if the pooler supports them, and refuses to start if it would lose them', async () => {
    const pooler = await startPooler(['ignore_startup_parameters = statement_timeout'])
    if (keepsPrepared(pooler)) {
      await serveThrough(pooler, {})
      await refusedBy(await startPooler(['max_prepared_statements = 0']))
    } else await refusedBy(pooler)
  })

  test('rejects settings of the role that it does not carry by name, until the printed lines are run', async () => {
    await direct.runScript(`alter role postgres set array_nulls = off; alter role postgres set bytea_output = 'escape';
      alter role postgres set datestyle = 'German, DMY'; alter role postgres set timezone = 'Asia/Tokyo'`)
    const through = async () => {
      const pooler = await startPooler([`ignore_startup_parameters = ${IGNORED}`])
      return spawnProxy({ DATABASE_URL: pooler.url, DATABASE_PREPARED: 'off', PORT: '0', METRICS_PORT: '0' })
    }
    const refused = await through()
    expect(await refused.ended()).toBe(1)
    expect(refused.output()).toContain('the setting array_nulls is "off" in sessions of postgres; "on" is needed')
    const lines = [...refused.output().matchAll(/^ {4}(.*)$/gm)].map(([, line]) => line ?? '')
    // PgBouncer forwards date style and time zone itself.
    expect(lines.map(line => / set (\w+) =/.exec(line)?.[1])).toEqual(['bytea_output', 'array_nulls'])
    for (const line of lines) await direct.runScript(line)
    const served = await through()
    await waitUntil('the proxy listens', () => served.output().includes('"listening"') || served.hasEnded())
    expect(served.hasEnded()).toBe(false)
    served.signal('SIGTERM')
    expect(await served.ended()).toBe(0)
    await direct.runScript('alter role postgres reset all; alter role postgres in database model_proxy reset all')
  })

  async function refusedBy(pooler: Pooler): Promise<void> {
    const proxy = spawnProxy({ DATABASE_URL: pooler.url, REDIS_URL: redis.url })
    await waitUntil('the proxy has ended', () => proxy.hasEnded())
    expect(await proxy.ended()).toBe(1)
    expect(proxy.output()).toContain('DATABASE_PREPARED must be off behind this pooler')
  }

  test('recognizes a server without a pooler', async () => {
    const proxy = await startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: redis.url })
    expect(proxy.output()).not.toContain('pooler')
    proxy.signal('SIGTERM')
    expect(await proxy.ended()).toBe(0)
  })
})
