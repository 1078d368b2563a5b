import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { type Account, openAccounts } from '../faults/accounts.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { startPostgres } from '../faults/servers.ts'
import { question, textOf } from '../harness/chat.ts'
import { ask, get, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { describeEngines } from './engines.ts'
import { type Certificates, makeCertificates, type RedisCluster, startCluster, startNode } from './redis-servers.ts'

describeEngines('a Redis Cluster of three masters', ['redis-server', 'redis-cli'], () => {
  const postgres = duringTests(startPostgres)
  const upstream = duringTests(startFakeProvider)
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 2 }))
  const accounts = openAccounts(database)
  const cluster = duringTests(() => startCluster())
  let proxies: [ProxyProcess, ProxyProcess]

  beforeAll(async () => {
    const start = () =>
      startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: cluster.url, ...upstream.environment })
    proxies = await Promise.all([start(), start()])
  })

  /** Creates accounts whose rate windows are on each of the masters, in the order of the masters. */
  async function accountsOnAllMasters(limits: { type?: 'project' | 'test'; perMinute?: number }): Promise<Account[]> {
    const found: (Account | undefined)[] = cluster.masters.map(() => undefined)
    while (found.includes(undefined)) {
      const account = await accounts.create(limits)
      const [row] = await database.call<{ id: number }>('select id::integer from projects where name = $1', [
        account.project,
      ])
      const slot = Number(await cluster.masters[0]?.call('cluster', 'keyslot', `{${row?.id}}`))
      const at = Math.floor((slot * cluster.masters.length) / 16_384)
      found[at] ??= account
    }
    return found.filter(account => account !== undefined)
  }

  const healthOf = async (proxy: ProxyProcess) =>
    ((await (await get(proxy, '/health')).json()) as { status: string }).status

  const admitted = (statuses: number[]) => statuses.filter(status => status === 200).length

  /** Sends concurrent requests through both proxies. Returns their statuses. */
  async function storm(account: Account, requests: number): Promise<number[]> {
    const sent = Array.from({ length: requests }, (_, i) => ask(proxies[i % 2] as ProxyProcess, account.key, 'Hello?'))
    return (await Promise.all(sent)).map(({ status }) => status)
  }

  test('projects on different masters in one tick: all are served from Redis, and limits are exact', async () => {
    const limited = await accountsOnAllMasters({ perMinute: 60 })
    for (const account of limited) await ask(proxies[0], account.key, 'Warm?')
    const statuses = await Promise.all(limited.map(account => storm(account, 200)))
    expect(statuses.map(admitted)).toEqual(limited.map(() => 59))
    const open = await accountsOnAllMasters({})
    for (const { key } of open) await ask(proxies[0], key, 'What is on all masters?')
    // Without the rows, a hit comes from Redis.
    await accounts.run('delete from cache_entries')
    const hits = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        ask(proxies[i % 2] as ProxyProcess, open[i % 3]?.key ?? '', 'What is on all masters?'),
      ),
    )
    expect(hits.filter(({ cache }) => cache !== 'HIT')).toEqual([])
    for (const proxy of proxies) {
      expect(await healthOf(proxy)).toBe('ok')
      expect(proxy.output()).not.toContain('Redis is lost')
    }
  })

  test('identical requests over two processes are one upstream call', async () => {
    const { key } = await accounts.create({ type: 'project' })
    upstream.reset()
    upstream.script({ kind: 'answer', content: 'one answer', firstByteDelayMs: 500, chunkPauseMs: 20 })
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        ask(proxies[i % 2] as ProxyProcess, key, question('On a cluster?', { stream: i % 4 < 2 })),
      ),
    )
    expect(new Set(answers.map(textOf))).toEqual(new Set(['one answer']))
    expect(upstream.requests).toHaveLength(1)
  })

  test('a proxy that starts before the cluster knows all slots keeps running, and shares calls once it does', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'model-proxy-node-'))
    const whole = ['--cluster-enabled', 'yes', '--cluster-require-full-coverage', 'no']
    const cluster = [...whole, '--cluster-announce-ip', '127.0.0.1']
    const node = await startNode(folder, { args: [...cluster, '--cluster-port', String(findFreePort())] })
    await node.call('cluster', 'addslotsrange', 0, 99)
    const address = `redis://127.0.0.1:${node.port}`
    const environment = {
      DATABASE_URL: postgres.url,
      REDIS_URL: `${address},${address}`,
      ...upstream.environment,
    }
    const both = await Promise.all([startProxyProcess(environment), startProxyProcess(environment)])
    const { key } = await accounts.create({ type: 'project' })
    for (const proxy of both) expect((await ask(proxy, key, 'Whose slot?')).status).toBe(200)
    await node.call('cluster', 'addslotsrange', 100, 16_383)
    upstream.script({ kind: 'answer', content: 'one answer', firstByteDelayMs: 500 })
    let round = 0
    await waitUntil('they share a call', async () => {
      const before = upstream.requests.length
      round++
      await Promise.all(both.map(proxy => ask(proxy, key, `Together ${round}?`)))
      return upstream.requests.length === before + 1
    })
    upstream.reset()
    for (const proxy of both) proxy.signal('SIGTERM')
    for (const proxy of both) expect(await proxy.ended()).toBe(0)
    await node.kill()
    await rm(folder, { recursive: true, force: true })
  })

  test('moving slots to another master under load costs nothing', async () => {
    const [account] = (await accountsOnAllMasters({ perMinute: 1_000_000 })) as [Account]
    const [from, to] = cluster.masters as [RedisCluster['masters'][0], RedisCluster['masters'][0]]
    const [row] = await database.call<{ id: number }>('select id::integer from projects where name = $1', [
      account.project,
    ])
    const slot = Number(await from.call('cluster', 'keyslot', `{${row?.id}}`))
    const before = proxies.map(proxy => proxy.output().length)
    let isMoving = true
    const statuses: number[] = []
    const client = async (i: number) => {
      while (isMoving) statuses.push((await ask(proxies[i % 2] as ProxyProcess, account.key, `Moving ${i}?`)).status)
    }
    const clients = Array.from({ length: 8 }, (_, i) => client(i))
    await waitUntil('clients are answered', () => statuses.length >= 20)
    const [fromId, toId] = [String(await from.call('cluster', 'myid')), String(await to.call('cluster', 'myid'))]
    await to.call('cluster', 'setslot', slot, 'importing', fromId)
    await from.call('cluster', 'setslot', slot, 'migrating', toId)
    for (;;) {
      const keys = String(await from.call('cluster', 'getkeysinslot', slot, 100))
        .split('\n')
        .filter(Boolean)
      if (keys.length === 0) break
      await from.call('migrate', '127.0.0.1', to.port, '', 0, 5_000, 'replace', 'keys', ...keys)
    }
    for (const node of [to, from, cluster.masters[2]]) await node?.call('cluster', 'setslot', slot, 'node', toId)
    const { length } = statuses
    await waitUntil('they are answered after the move', () => statuses.length >= length + 20)
    isMoving = false
    await Promise.all(clients)
    expect(statuses.length).toBeGreaterThan(20)
    expect(statuses.filter(status => status !== 200)).toEqual([])
    const printed = proxies.map((proxy, i) => proxy.output().slice(before[i])).join('')
    expect(printed).not.toContain('Redis is lost')
    for (const node of [from, to, cluster.masters[2]]) await node?.call('cluster', 'setslot', slot, 'node', toId)
  })

  test('a killed master affects only its own projects until its replica takes over', async () => {
    const open = await accountsOnAllMasters({ perMinute: 300 })
    for (const { key } of open) for (const proxy of proxies) await ask(proxy, key, 'Before?')
    const [dead] = cluster.masters as [RedisCluster['masters'][0]]
    const [replica] = cluster.replicas as [RedisCluster['replicas'][0]]
    const statuses: number[][] = open.map(() => [])
    let isRunning = true
    const client = async (i: number) => {
      while (isRunning) {
        const { status } = await ask(proxies[Math.floor(i / 3) % 2] as ProxyProcess, open[i % 3]?.key ?? '', 'Before?')
        statuses[i % 3]?.push(status)
        await Bun.sleep(20)
      }
    }
    const clients = Array.from({ length: 12 }, (_, i) => client(i))
    await waitUntil('clients are answered', () => statuses.every(({ length }) => length >= 4))
    // The replica takes over once it is thawed, regardless of the time since its last sync.
    await replica.call('config', 'set', 'cluster-replica-validity-factor', 0)
    replica.freeze()
    await dead.kill()
    await waitUntil('health reports the outage', async () => (await healthOf(proxies[0])) === 'degraded')
    const before = statuses.map(({ length }) => length)
    // Each of a project's four clients, through both proxies, gets further responses while no node serves its slots.
    await waitUntil('each client gets responses during the outage', () =>
      statuses.every(({ length }, at) => length >= (before[at] ?? 0) + 8),
    )
    replica.thaw()
    for (const proxy of proxies) await waitUntil('health is ok', async () => (await healthOf(proxy)) === 'ok')
    isRunning = false
    await Promise.all(clients)
    const outcomes = statuses.map(each => ({ admitted: admitted(each), of: each.length }))
    process.stdout.write(`${JSON.stringify(outcomes)}\n`)
    expect(statuses.flat().filter(status => status !== 200 && status !== 429)).toEqual([])
    // The limits of living masters are exact. Two requests came before.
    for (const { admitted, of } of outcomes.slice(1)) expect(admitted).toBe(Math.min(of, 298))
    await dead.start()
  })

  test('a stream is followed while the master of a channel is killed', async () => {
    const { key } = await accounts.create({ type: 'project' })
    upstream.reset()
    upstream.script({ kind: 'answer', contentChars: 800, chunkPauseMs: 100 })
    const bodies = Array.from({ length: 12 }, (_, i) => question(`Killed ${i}?`, { stream: true }))
    const leaders = bodies.map(body => ask(proxies[0], key, body))
    await waitUntil('the requests of the leaders arrived', () => upstream.requests.length === bodies.length)
    const followers = await Promise.all(bodies.map(body => post(proxies[1], key, '/chat/completions', body)))
    const victim = cluster.masters[1] as RedisCluster['masters'][0]
    await victim.kill()
    const texts = await Promise.all(followers.map(response => response.text()))
    const led = await Promise.all(leaders)
    expect(texts.map(text => textOf({ json: null, text }))).toEqual(led.map(textOf))
    expect(upstream.requests).toHaveLength(bodies.length)
    await victim.start()
  })
})

describeEngines('a Redis Cluster with TLS', ['redis-server', 'redis-cli', 'openssl'], () => {
  const postgres = duringTests(startPostgres)
  let certificates: Certificates
  const cluster = duringTests(async () => {
    certificates = await makeCertificates()
    return startCluster(certificates)
  })

  test('that requires certificates and announces names is reached with the files that are set', async () => {
    const proxy = await startProxyProcess({
      DATABASE_URL: postgres.url,
      REDIS_URL: cluster.url,
      REDIS_CA_FILE: certificates.ca,
      REDIS_CERT_FILE: certificates.cert,
      REDIS_KEY_FILE: certificates.key,
    })
    const database = openServerDatabase({ url: postgres.url, maxConnections: 1 })
    const accounts = openAccounts(database)
    await waitUntil(
      'health is ok',
      async () => ((await (await get(proxy, '/health')).json()) as { status: string }).status === 'ok',
    )
    for (let i = 0; i < 6; i++) {
      const { key } = await accounts.create()
      expect((await ask(proxy, key, 'Encrypted?')).cache).toBe('MISS')
      await accounts.run('delete from cache_entries')
      expect((await ask(proxy, key, 'Encrypted?')).cache).toBe('HIT')
    }
    await database.close()
  })

  test('is not reached without them', async () => {
    const proxy = await startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: cluster.url })
    expect(((await (await get(proxy, '/health')).json()) as { status: string }).status).toBe('degraded')
    expect(proxy.output()).toContain('Redis cannot be used at REDIS_URL')
  })
})
