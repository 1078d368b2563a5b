import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { type Accounts, openAccounts } from '../faults/accounts.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { createServerProcess, killWithTests, startPostgres, startRedis } from '../faults/servers.ts'
import { question } from '../harness/chat.ts'
import { get, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { describeEngines } from './engines.ts'
import { engineAt } from './find-engine.ts'

const CLIENTS = 24
/** Only the balancer routes requests. It is not notified of a restart. */
const BALANCERS = [
  {
    name: 'haproxy',
    // By default a server is down after three failed checks, two seconds apart.
    delayMs: 8_000,
    configure: (port: number, ports: readonly number[]) => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend proxies
  bind 127.0.0.1:${port}
  default_backend proxies
backend proxies
  option httpchk GET /readyz
  option redispatch
  retry-on conn-failure empty-response
${ports.map((each, i) => `  server proxy${i} 127.0.0.1:${each} check`).join('\n')}
`,
    command: (file: string) => [engineAt('haproxy'), '-db', '-f', file],
  },
  {
    name: 'nginx',
    // nginx has no readiness checks, so the way in which the listener closes matters.
    delayMs: 500,
    configure: (port: number, ports: readonly number[], folder: string) => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(each => `  ${each}_temp_path ${folder}/${each};`).join('\n')}
  upstream proxies {
${ports.map(each => `    server 127.0.0.1:${each};`).join('\n')}
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://proxies;
      proxy_buffering off;
    }
  }
}
`,
    command: (file: string, folder: string) => [
      engineAt('nginx'),
      '-e',
      `${folder}/error.log`,
      '-p',
      folder,
      '-c',
      file,
    ],
  },
] as const

describeEngines('a rolling restart', ['haproxy', 'nginx', 'redis-server'], () => {
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 1 }))
  let accounts: Accounts
  const folder = createTemporaryDirectory()

  afterAll(() => rm(folder, { recursive: true, force: true }))

  const start = (port: number, delayMs: number) =>
    startProxyProcess({
      PORT: String(port),
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      SHUTDOWN_DELAY_MS: String(delayMs),
    })

  test.each(BALANCERS)(
    'behind $name with defaults loses no request',
    async ({ name, delayMs, configure, command }) => {
      const ports = [findFreePort(), findFreePort()]
      const proxies: ProxyProcess[] = []
      for (const port of ports) proxies.push(await start(port, delayMs))
      accounts = openAccounts(database)
      const { key } = await accounts.create()
      const port = findFreePort()
      const baseUrl = `http://127.0.0.1:${port}/v1`
      const file = join(folder, `${name}.conf`)
      await Bun.write(file, configure(port, ports, folder))
      const balancer = createServerProcess({
        command: killWithTests(command(file, folder)),
        stopSignal: 'SIGTERM',
        answers: () =>
          get({ baseUrl }, '/health').then(
            ({ ok }) => ok,
            () => false,
          ),
      })
      await balancer.start()

      const outcomes: string[] = []
      let isRunning = true
      const client = async (i: number) => {
        for (let turn = 0; isRunning; turn++) {
          const content = turn % 3 === 0 ? `New ${crypto.randomUUID()}?` : `Same ${i}?`
          outcomes.push(
            await post({ baseUrl }, key, '/chat/completions', question(content, { stream: turn % 2 === 0 })).then(
              async response =>
                (await response.text().then(text => text !== '')) && response.ok ? 'ok' : String(response.status),
              error => String(error),
            ),
          )
          await Bun.sleep(10)
        }
      }
      const clients = Array.from({ length: CLIENTS }, (_, i) => client(i))
      for (const [i, old] of proxies.entries()) {
        old.signal('SIGTERM')
        await waitUntil(
          'it reports that it is not ready',
          async () =>
            (await fetch(`http://127.0.0.1:${old.port}/readyz`).then(
              ({ status }) => status,
              () => 503,
            )) === 503,
        )
        expect(await old.ended()).toBe(0)
        const fresh = await start(old.port, delayMs)
        proxies[i] = fresh
        // The next proxy restarts once the balancer uses this one again. Each request is a line of its log.
        await waitUntil('the restarted proxy gets requests', () => fresh.output().split('\n').length > 50)
      }
      isRunning = false
      await Promise.all(clients)
      await balancer.stop()
      for (const proxy of proxies) proxy.signal('SIGKILL')
      process.stdout.write(`${name}: ${outcomes.length} requests over 2 restarts\n`)
      expect(outcomes.filter(outcome => outcome !== 'ok')).toEqual([])
    },
    240_000,
  )

  test('behind HAProxy, a killed proxy loses no request whose response has not begun', async () => {
    const [{ configure, command, name }] = BALANCERS
    const ports = [findFreePort(), findFreePort()]
    const proxies = [await start(ports[0] ?? 0, 0), await start(ports[1] ?? 0, 0)]
    const { key } = await openAccounts(database).create()
    const port = findFreePort()
    const baseUrl = `http://127.0.0.1:${port}/v1`
    const file = join(folder, `${name}-killed.conf`)
    await Bun.write(file, configure(port, ports))
    const answers = () =>
      get({ baseUrl }, '/health').then(
        ({ ok }) => ok,
        () => false,
      )
    const balancer = createServerProcess({ command: killWithTests(command(file)), stopSignal: 'SIGTERM', answers })
    await balancer.start()
    const statuses: number[] = []
    let isRunning = true
    const client = async () => {
      while (isRunning) {
        const response = await post({ baseUrl }, key, '/chat/completions', question(`New ${crypto.randomUUID()}?`))
        await response.arrayBuffer()
        statuses.push(response.status)
      }
    }
    const clients = Array.from({ length: CLIENTS }, client)
    await waitUntil('both are busy', () => statuses.length > 100)
    proxies[0]?.signal('SIGKILL')
    const atKill = statuses.length
    await waitUntil('the other has taken over', () => statuses.length > atKill + 200)
    isRunning = false
    await Promise.all(clients)
    await balancer.stop()
    proxies[1]?.signal('SIGKILL')
    expect(statuses.filter(status => status !== 200)).toEqual([])
  }, 120_000)
})
