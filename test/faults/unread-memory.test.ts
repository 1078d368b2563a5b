/**
 * Clients that request large responses and read nothing. The process's memory for them stays within its budget, and other requests succeed.
 */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { describeReal, type Stores } from '../harness/backends.ts'
import { get, post } from '../harness/client.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { sendWithoutReading } from '../integration/streaming/raw-client.ts'
import { openAccounts } from './accounts.ts'
import { startLargeUpstream } from './large-upstream.ts'
import { startProxyProcess } from './proxy-process.ts'

const MIB = 1024 * 1024
const LARGE_BYTES = 30_000_000
const CLIENTS = 60
const BUDGET_BYTES = 80 * MIB
/** For the copies that a worker and the runtime make of one or two responses at a time, and for garbage. */
const MARGIN_BYTES = 1_000 * MIB

/** Far longer than a small request takes on a busy machine, and far shorter than large ones wait. */
const PROMPT_MS = 5_000
const SAMPLE_EVERY_MS = 100
const LIMIT_MS = 120_000
/** The number of samples without change that count as idle. */
const SAMPLES_OF_REST = 30

interface Health {
  status: string
  streams: { heldBytes: number; isFull: boolean }
}

describeReal('memory of clients that read nothing of large responses', backend => {
  let stores: Stores
  const upstream = duringTests(() => startLargeUpstream(LARGE_BYTES))
  const proxy = duringTests(async () => {
    stores = await backend.open()
    return startProxyProcess({
      DATABASE_URL: stores.databaseUrl ?? '',
      REDIS_URL: stores.redisUrl ?? '',
      OPENAI_BASE_URL: upstream.baseUrl,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      MAX_UNREAD_BYTES: String(BUDGET_BYTES),
    })
  })
  let key: string
  let testKey: string
  let base: number

  beforeAll(async () => {
    const accounts = openAccounts(stores.database)
    const account = await accounts.create({ type: 'project' })
    await storeKey(stores, account.project, 'openai', 'sk-own')
    key = account.key
    testKey = (await accounts.create()).key
    await askSmall()
    base = rss()
  })

  const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${proxy.pid}/status`, 'utf8'))?.[1]) * 1024

  async function readHealth(): Promise<Health> {
    return (await (await get(proxy, '/health')).json()) as Health
  }

  async function askSmall(): Promise<number> {
    const startedMs = performance.now()
    const messages = [{ role: 'user', content: `small ${crypto.randomUUID()}` }]
    const response = await post(proxy, key, '/chat/completions', { model: 'openai/gpt-4o-mini', messages })
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 })
    return performance.now() - startedMs
  }

  /** Samples memory and sends small requests until `isDone`. Returns the maximum of each. */
  async function watch(what: string, isDone: (health: Health) => boolean) {
    let mostBytes = 0
    let slowestMs = 0
    let hasDegraded = false
    for (const startedMs = performance.now(); ; await Bun.sleep(SAMPLE_EVERY_MS)) {
      mostBytes = Math.max(mostBytes, rss() - base)
      slowestMs = Math.max(slowestMs, await askSmall())
      const health = await readHealth()
      hasDegraded ||= health.status === 'degraded'
      if (isDone(health)) break
      if (performance.now() - startedMs > LIMIT_MS)
        throw new Error(`Not within ${LIMIT_MS} ms: ${what}; ${JSON.stringify(health)}`)
    }
    return { mostBytes, slowestMs, hasDegraded }
  }

  /** Returns a condition that holds after enough healthy samples in a row. */
  function atRest(holds = () => true) {
    let samples = 0
    return ({ status }: Health) => {
      samples = status === 'ok' && holds() ? samples + 1 : 0
      return samples === SAMPLES_OF_REST
    }
  }

  function askLarge(path: string, model: string) {
    const body = (n: number) =>
      path.startsWith('/images')
        ? { model, prompt: `Picture ${n}` }
        : { model, messages: [{ role: 'user', content: `Number ${n}` }] }
    return Promise.all(Array.from({ length: CLIENTS }, (_, n) => sendWithoutReading(proxy.port, key, body(n), path)))
  }

  test.each([
    ['pictures', '/images/generations', 'openai/gpt-image-1'],
    ['completions', '/chat/completions', 'openai/gpt-4o-mini'],
  ])(
    'of 60 %s',
    async (what, path, model) => {
      const clients = await askLarge(path, model)
      const seen = await watch(what, atRest())
      expect(seen.mostBytes).toBeLessThan(BUDGET_BYTES + MARGIN_BYTES)
      expect(seen.slowestMs).toBeLessThan(PROMPT_MS)
      expect(seen.hasDegraded).toBe(true)
      for (const client of clients) client.leave()
      await watch('all is given back', ({ status, streams }) => status === 'ok' && streams.heldBytes === 0)
    },
    300_000,
  )

  test('of 60 realtime sessions', async () => {
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => openUnread()))
    const seen = await watch(
      'sessions',
      atRest(() => upstream.ended > CLIENTS / 2),
    )
    expect(seen.mostBytes).toBeLessThan(BUDGET_BYTES + MARGIN_BYTES)
    for (const socket of sockets) socket.destroy()
    await watch('all is given back', ({ status, streams }) => status === 'ok' && streams.heldBytes === 0)
  }, 300_000)

  /** Opens a session over a raw socket and reads only the response head. */
  async function openUnread(): Promise<Socket> {
    const socket = connect(proxy.port, '127.0.0.1')
    socket.on('error', () => {})
    const head = [
      'GET /v1/realtime?model=gpt-realtime-2 HTTP/1.1',
      'host: 127.0.0.1',
      `authorization: Bearer ${key}`,
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    await new Promise<void>(resolve => socket.once('data', () => resolve()))
    socket.pause()
    return socket
  }

  test('of the largest embeddings that a test key may request; no larger ones are created', async () => {
    const embed = (inputs: number, fields: object) => ({
      model: 'text-embedding-3-large',
      input: Array.from({ length: inputs }, (_, n) => `input ${n}`),
      ...fields,
    })
    const refused = await post(proxy, testKey, '/embeddings', embed(2_048, {}))
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { code: 'response_too_large', param: 'input' } })
    const client = await sendWithoutReading(proxy.port, testKey, embed(1_464, {}), '/embeddings')
    const seen = await watch('embeddings', ({ streams }) => streams.heldBytes > MIB)
    expect(seen.mostBytes).toBeLessThan(BUDGET_BYTES + MARGIN_BYTES)
    await client.readAll()
    expect(client.readBytes).toBeGreaterThan(80_000_000)
    await watch('all is given back', ({ status, streams }) => status === 'ok' && streams.heldBytes === 0)
  }, 300_000)

  test('none for a slow but steady reader', async () => {
    const response = await post(proxy, key, '/images/generations', { model: 'openai/gpt-image-1', prompt: 'Slowly' })
    let isFull = false
    async function readSlowly(): Promise<number> {
      let readBytes = 0
      for await (const piece of response.body ?? []) {
        readBytes += piece.length
        // Reads slowly until others fill the budget, and for some time after that.
        if (!isFull || readBytes < LARGE_BYTES / 2) await Bun.sleep(SAMPLE_EVERY_MS)
      }
      return readBytes
    }
    const reading = readSlowly()
    const others = await askLarge('/images/generations', 'openai/gpt-image-1')
    await watch('the budget is full', ({ status }) => status === 'degraded')
    isFull = true
    const readBytes = await reading
    expect(readBytes).toBeGreaterThan(LARGE_BYTES)
    for (const client of others) client.leave()
    await watch('all is given back', ({ status, streams }) => status === 'ok' && streams.heldBytes === 0)
  }, 300_000)
})
