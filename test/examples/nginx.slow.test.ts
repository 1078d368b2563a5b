/** The nginx of examples/ in front of two proxies. Only ports and paths differ from the example. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import type { Database } from '../../src/postgres/database.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { findEngine } from '../engines/find-engine.ts'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { openAccounts } from '../faults/accounts.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import {
  createServerProcess,
  killWithTests,
  missingServers,
  type PrivateServer,
  startPostgres,
  startRedis,
} from '../faults/servers.ts'
import { question } from '../harness/chat.ts'
import { ask, get, post } from '../harness/client.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { readExample } from './start-example.ts'

const nginx = findEngine('nginx')
const missing = nginx === null ? 'nginx is not installed (apt-get install nginx)' : missingServers
if (missing !== null) process.stdout.write(`The example with nginx is skipped: ${missing}.\n`)

describe.skipIf(missing !== null)(missing === null ? 'two proxies behind nginx' : `skipped: ${missing}`, () => {
  const folder = createTemporaryDirectory()
  const ports = [findFreePort(), findFreePort()] as const
  const port = findFreePort()
  const baseUrl = `http://127.0.0.1:${port}/v1`
  let postgres: PrivateServer
  let redis: PrivateServer
  let database: Database
  let upstream: FakeProvider
  let proxies: ProxyProcess[]
  let balancer: ReturnType<typeof createServerProcess>
  let key: string

  beforeAll(async () => {
    ;[postgres, redis, upstream] = await Promise.all([
      startPostgres(),
      startRedis(),
      startFakeProvider({ flavour: 'aggregator' }),
    ])
    const shared = {
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      ...upstream.environment,
      METRICS_PORT: '0',
      TRUST_PROXY: '1',
    }
    // The first start creates the schema.
    proxies = []
    for (const each of ports) proxies.push(await startProxyProcess({ ...shared, PORT: String(each) }))
    database = openServerDatabase({ url: postgres.url, maxConnections: 1 })
    key = (await openAccounts(database).create({ type: 'project' })).key
    const file = join(folder, 'nginx.conf')
    const configuration = readExample('nginx/nginx.conf')
      .replace('127.0.0.1:3001', `127.0.0.1:${ports[0]}`)
      .replace('127.0.0.1:3002', `127.0.0.1:${ports[1]}`)
      .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
      .replaceAll('/tmp/model-proxy-nginx', `${folder}/nginx`)
    await Bun.write(file, configuration)
    const command = [nginx ?? '', '-e', 'stderr', '-p', folder, '-c', file, '-g', 'daemon off;']
    balancer = createServerProcess({
      command: killWithTests(command),
      stopSignal: 'SIGTERM',
      answers: () =>
        get({ baseUrl }, '/health').then(
          ({ ok }) => ok,
          () => false,
        ),
    })
    await balancer.start()
  }, 240_000)
  afterAll(async () => {
    await balancer?.stop()
    for (const proxy of proxies ?? []) proxy.signal('SIGKILL')
    await database?.close()
    await Promise.all([postgres?.remove(), redis?.remove(), upstream?.stop()])
  })

  test('shares the cache between both', async () => {
    const printed = proxies.map(proxy => proxy.output().length)
    const seen = await Promise.all(Array.from({ length: 8 }, () => ask({ baseUrl }, key, question('The same?'))))
    expect(seen.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(upstream.requests).toHaveLength(1)
    await waitUntil('both have logged requests', () =>
      proxies.every((proxy, index) => proxy.output().length > (printed[index] ?? 0)),
    )
  })

  test('sends a stream as it arrives', async () => {
    upstream.script({ kind: 'hang', after: 3, content: 'One two three four five six seven.' })
    const response = await post({ baseUrl }, key, '/chat/completions', question('A stream?', { stream: true }))
    const reader = response.body?.getReader()
    const first = new TextDecoder().decode((await reader?.read())?.value)
    // The provider hangs, so a buffer would hold these events back.
    expect(first).toContain('data: ')
    await reader?.cancel()
    upstream.reset()
  })

  test('goes on when one of the two is killed', async () => {
    proxies[0]?.signal('SIGKILL')
    await proxies[0]?.ended()
    for (let turn = 0; turn < 10; turn++)
      expect((await ask({ baseUrl }, key, question(`After the kill, question ${turn}?`))).status).toBe(200)
  })
})
