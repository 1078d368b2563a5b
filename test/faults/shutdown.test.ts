import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { describeReal } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { type Account, type Accounts, openAccounts } from './accounts.ts'
import { type ProxyProcess, startProxyProcess } from './proxy-process.ts'

/** Far longer than the running requests take, so that a shutdown that waits for its limit is visible. */
const SHUTDOWN_LIMIT_MS = 60_000

describeReal('shutdown', backend => {
  let fakeProvider: FakeProvider
  let accounts: Accounts
  let account: Account
  let stores: Record<string, string>

  beforeEach(async () => {
    const { database, databaseUrl, redisUrl } = await backend.open()
    fakeProvider = await startFakeProvider({ flavour: 'aggregator' })
    stores = {
      DATABASE_URL: databaseUrl ?? '',
      REDIS_URL: redisUrl ?? '',
      ...fakeProvider.environment,
    }
    accounts = openAccounts(database)
    account = await accounts.create({ type: 'project' })
  })
  const idle = new Set<Socket>()
  afterEach(async () => {
    for (const socket of idle) socket.destroy()
    await fakeProvider.stop()
  })
  afterAll(() => idle.clear())

  function askFor(proxy: ProxyProcess, content: string, stream = false) {
    const messages = [{ role: 'user', content }]
    return ask(proxy, account.key, { model: 'openai/gpt-4o-mini', messages, stream })
  }

  async function waitForUpstream(requests: number): Promise<void> {
    await waitUntil(`${requests} requests arrived at the provider`, () => fakeProvider.requests.length >= requests)
  }

  /** Opens a connection and keeps it for a next request. */
  async function keepIdle(port: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1')
    idle.add(socket)
    socket.write('GET /v1/health HTTP/1.1\r\nhost: proxy\r\n\r\n')
    await new Promise(resolve => socket.once('data', resolve))
    return socket
  }

  /** Returns whether connections are refused. */
  function isRefused(port: number): Promise<boolean> {
    const socket = connect(port, '127.0.0.1')
    return new Promise<boolean>(resolve => {
      socket.once('connect', () => resolve(false))
      socket.once('error', () => resolve(true))
    }).finally(() => socket.destroy())
  }

  test('requests in flight are finished and recorded, failed ones are refunded, new ones are rejected', async () => {
    const proxy = await startProxyProcess({ ...stores, SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_LIMIT_MS) })
    const kept = await keepIdle(proxy.port)
    fakeProvider.script(async ({ body }) => {
      await waitForUpstream(8)
      const text = JSON.stringify(body)
      if (text.includes('fail')) return { kind: 'error', status: 500, firstByteDelayMs: 900 }
      if (text.includes('stream')) return { kind: 'answer', content: 'one two three four five six', chunkPauseMs: 100 }
      return { kind: 'answer', content: 'late', firstByteDelayMs: 900 }
    })
    const plain = ['pears', 'plums', 'quinces'].map(fruit => askFor(proxy, `Tell me of ${fruit}.`))
    const streamed = ['oaks', 'elms', 'limes'].map(tree => askFor(proxy, `A stream of ${tree}.`, true))
    const failing = ['iron', 'lead'].map(metal => askFor(proxy, `To fail: ${metal}.`))
    await waitForUpstream(8)

    proxy.signal('SIGTERM')
    const keptClosed = new Promise(resolve => kept.once('close', resolve))
    await waitUntil('new connections are refused', () => isRefused(proxy.port))
    await expect(askFor(proxy, 'Too late?')).rejects.toThrow()
    for (const answer of await Promise.all(plain)) expect(answer).toMatchObject({ status: 200, cache: 'MISS' })
    for (const { status, text } of await Promise.all(streamed)) {
      expect(status).toBe(200)
      expect(text).toMatch(/data: \[DONE\]\n\n$/)
    }
    for (const { status } of await Promise.all(failing)) expect(status).toBe(500)
    // The process ends before the limit, despite idle connections.
    expect(await proxy.ended(SHUTDOWN_LIMIT_MS / 2)).toBe(0)
    await keptClosed
    expect(await accounts.countRequests(account)).toBe(6)
    expect(await accounts.countRecords(account)).toEqual({ 200: 6, 500: 2 })
  })

  test('SHUTDOWN_TIMEOUT_MS cuts long requests, which are not counted', async () => {
    const proxy = await startProxyProcess({ ...stores, SHUTDOWN_TIMEOUT_MS: '400' })
    fakeProvider.script({ kind: 'hang', after: 'nothing' })
    const cut = askFor(proxy, 'For ever?').catch(() => 'cut')
    await waitForUpstream(1)
    proxy.signal('SIGTERM')
    // The provider never responds, so the limit ends the process.
    expect(await proxy.ended()).toBe(0)
    expect(await cut).toBe('cut')
    expect(await accounts.countRequests(account)).toBe(0)
    expect(await accounts.countRecords(account)).toEqual({ 499: 1 })
  })

  test('a second signal ends it at once; the same one forwarded twice does not', async () => {
    const proxy = await startProxyProcess(stores)
    fakeProvider.script({ kind: 'hang', after: 'nothing' })
    const cut = askFor(proxy, 'For long?').catch(() => 'cut')
    await waitForUpstream(1)
    proxy.signal('SIGINT')
    proxy.signal('SIGTERM')
    // Far longer than the time within which two signals count as one.
    await Bun.sleep(2_500)
    await expect(proxy.ended(50)).rejects.toThrow('still runs')
    proxy.signal('SIGTERM')
    // Otherwise the process would wait for the provider and exit with 0.
    expect(await proxy.ended()).toBe(1)
    expect(await cut).toBe('cut')
  })
})
