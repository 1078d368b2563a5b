import { expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { divideConnections, pingDatabase } from '../../src/postgres/connection-limits.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { get } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { nameTablesIn } from '../harness/search-path.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { startLoad } from './load.ts'
import { startProxyProcess } from './proxy-process.ts'
import { type PrivateServer, startPostgres, startRedis } from './servers.ts'

describeFaults('a primary and a standby', () => {
  const first = duringTests(startPostgres)
  const second = duringTests(startPostgres)
  const both = duringTests(async () => {
    await setReadOnly(second, true)
    const [a, b] = [new URL(first.url), new URL(second.url)]
    return openServerDatabase({ url: `postgres://postgres@${b.host},${a.host}/model_proxy`, maxConnections: 3 })
  })

  /** Rejects writes, as a standby does, and as a primary that an operator has set to read-only. */
  async function setReadOnly({ url }: PrivateServer, readOnly: boolean): Promise<void> {
    const text = `alter system set default_transaction_read_only = ${readOnly ? 'on' : 'off'}`
    for (const statement of [text, 'select pg_reload_conf()']) {
      const { exitCode } = Bun.spawnSync(['psql', url, '-qAtc', statement], { stdout: 'ignore' })
      expect(exitCode).toBe(0)
    }
  }

  async function portInUse(): Promise<string | undefined> {
    const [row] = await both.call<{ port: string }>(`select current_setting('port') as port`, [])
    return row?.port
  }

  const answers = (port: string) => async () => (await portInUse().catch(() => null)) === port

  test('uses the server that accepts writes, and finds the new one when it changes', async () => {
    await Promise.all(Array.from({ length: 20 }, async () => expect(await portInUse()).toBe(new URL(first.url).port)))
    await pingDatabase(both)
    await first.stop()
    await expect(pingDatabase(both)).rejects.toThrow()
    await setReadOnly(second, false)
    await waitUntil('the second answers', answers(new URL(second.url).port))
    await pingDatabase(both)
  })

  test('notices a primary that is closed to writes, on open connections too, and uses another', async () => {
    await first.start()
    await setReadOnly(second, true)
    await waitUntil('the read-only primary is detected', () =>
      pingDatabase(both).then(
        () => false,
        () => true,
      ),
    )
    // A session whose write is rejected connects to another server.
    await both.call('create table if not exists written ()', []).catch(() => {})
    await waitUntil('the first answers', async () => {
      await both.call('create table if not exists written ()', []).catch(() => {})
      return answers(new URL(first.url).port)()
    })
  })

  test('is reported by health, and named at a start', async () => {
    const proxy = await startProxyProcess({ DATABASE_URL: first.url })
    await setReadOnly(first, true)
    await waitUntil('health is down', async () => (await get(proxy, '/health')).status === 503)
    await setReadOnly(first, false)
    await waitUntil('health is ok', async () => (await get(proxy, '/health')).status === 200)
  })

  test('processes share a quarter of the server’s connections, or the configured number', async () => {
    const database = openServerDatabase({ url: first.url, maxConnections: 1 })
    const shares = (budget: number | null) =>
      Promise.all([1, 4, 12, 200].map(workers => divideConnections(database, budget, workers)))
    // Of the 100 connections, three are reserved for superusers.
    expect(await shares(null)).toEqual([5, 5, 2, 1])
    expect(await shares(40)).toEqual([40, 10, 3, 1])
    await database.runScript('alter database model_proxy connection limit 8')
    expect(await shares(null)).toEqual([2, 1, 1, 1])
    await database.close()
  })

  test('processes on several machines share what one would use, and recover it', async () => {
    const redis = await startRedis()
    await setReadOnly(first, false)
    // A quarter of 24 is six.
    const about = openServerDatabase({ url: first.url, maxConnections: 1 })
    await about.runScript('create database shared connection limit 24')
    await about.runScript(nameTablesIn('shared'))
    await about.close()
    const url = first.url.replace('model_proxy', 'shared')
    const budget = openServerDatabase({ url, maxConnections: 1 })
    /** Starts a proxy. `open` returns the number of open connections for requests. */
    const start = async () => {
      const metricsPort = findFreePort()
      const environment = { DATABASE_URL: url, REDIS_URL: redis.url, METRICS_PORT: String(metricsPort) }
      const proxy = await startProxyProcess(environment)
      const open = async () => {
        const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
        return Number(/^model_proxy_database_connections\{state="open"\} (\d+)/m.exec(metrics)?.[1])
      }
      return { ...proxy, open }
    }
    const alone = await start()
    const accounts = openAccounts(budget)
    const account = await accounts.create()
    const { key } = account
    // Lookups repeatedly wait for a lock, so that each process, however slow, uses all connections of its share. Their results are not
    // served.
    const lock = `do 'begin lock table model_proxy.cache_entries in access exclusive mode; perform pg_sleep(0.1); end' \\watch 0.05`
    const pauses = Bun.spawn(['psql', url, '-qAt'], { stdin: Buffer.from(lock), stdout: 'ignore' })
    await accounts.run(
      `select set_settings('${account.project}', '{"semantic_policy": "threshold", "semantic_mode": "shadow"}')`,
    )
    /** The server's count of connections. Two connections of each process are for operators. */
    const connections = async () => {
      const [row] = await budget.call<{ count: number }>(
        `select count(*)::integer as count from pg_stat_activity
          where application_name = 'model-proxy' and datname = current_database() and pid <> pg_backend_pid()`,
        [],
      )
      return row?.count ?? 0
    }
    const load = startLoad({ baseUrl: alone.baseUrl, key, clients: 16, pauseMs: 0 })
    await waitUntil('the process has five connections', async () => (await alone.open()) === 5)
    const others = await Promise.all([start(), start()])
    const loads = others.map(({ baseUrl }) => startLoad({ baseUrl, key, clients: 16, pauseMs: 0 }))
    let seen = { open: [0], onServer: 0 }
    const say = () => `the three share six: they have ${seen.open.join(', ')} open, and the server ${seen.onServer}`
    await waitUntil(say, async () => {
      const open = await Promise.all([alone, ...others].map(each => each.open()))
      seen = { open, onServer: await connections() }
      return seen.open.every(count => count === 2) && seen.onServer <= 6 + 3 * 2
    })
    for (const each of others) each.signal('SIGTERM')
    await waitUntil('the first process has five connections again', async () => (await alone.open()) === 5)
    for (const each of [load, ...loads]) await each.stop()
    pauses.kill()
    const results = [load, ...loads].flatMap(each => each.results)
    const answered = results.filter(({ status }) => status === 200).length
    // On a busy machine, a response may exist for a request whose client timed out.
    const unknown = results.filter(
      ({ status, startedAtMs, endedAtMs }) => status === 0 && endedAtMs - startedAtMs > 5_000,
    ).length
    await waitUntil('successful requests are counted', async () => {
      const counted = await accounts.countRequests(account)
      return counted >= answered && counted <= answered + unknown
    })
    await budget.close()
    await redis.remove()
  }, 300_000)

  test('a process has no more connections than allowed, however many statements wait', async () => {
    const database = openServerDatabase({ url: second.url, maxConnections: 2 })
    await setReadOnly(second, false)
    await waitUntil('the server accepts writes', () =>
      pingDatabase(database).then(
        () => true,
        () => false,
      ),
    )
    const waits = Array.from({ length: 200 }, () => database.call('select pg_sleep(0.002)', []))
    const [row] = await database.call<{ count: number }>(
      `select count(*)::integer as count from pg_stat_activity where application_name = 'model-proxy' and datname = current_database()`,
      [],
    )
    await Promise.all(waits)
    expect(row?.count).toBeLessThanOrEqual(2)
    await database.close()
  })
})
