import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, post } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

/** Less than the proxy waits, with a margin for a busy machine. */
const SLOW_MS = 60

/** On the embedded backend a process is alone. On the real one, without a bus, it cannot know whether it is. */
describeBackends('responses that PostgreSQL is still writing', backend => {
  const isOnlyProcess = backend.name === 'embedded'
  let upstream: FakeProvider
  let proxy: TestProxy | null = null
  let written = 0
  let storing = () => Bun.sleep(SLOW_MS)

  beforeEach(async () => {
    await Promise.all([proxy?.stop(), upstream?.stop()])
    upstream = await startFakeProvider()
    written = 0
    storing = () => Bun.sleep(SLOW_MS)
  })
  afterAll(() => Promise.all([proxy?.stop(), upstream.stop()]))

  /** Starts a proxy whose database takes a while to store a response, or as long as `storing`. */
  async function start({ losesCopies = false } = {}) {
    const stores = await backend.open()
    const database: Database = {
      ...stores.database,
      async call<Row>(...[text, values]: Parameters<Database['call']>) {
        const isStoring = text.includes('.store_cached_responses(')
        if (isStoring) await storing()
        const rows = await stores.database.call<Row>(text, values)
        if (isStoring) written++
        return rows
      },
    }
    const store = losesCopies ? { ...stores.store, writeEntry: async () => false } : stores.store
    proxy = await startProxy({ stores: { ...stores, database, store }, environment: upstream.environment })
    return { proxy, key: await proxy.createKey({ type: 'project' }) }
  }

  /** Sends a request. Where the response does not wait for its write, the write ends some time after the response. */
  async function learn(proxy: TestProxy, key: string, body: Record<string, unknown>): Promise<void> {
    const isHere = Promise.withResolvers<void>()
    if (isOnlyProcess) storing = () => isHere.promise.then(() => Bun.sleep(SLOW_MS))
    expect((await ask(proxy, key, body)).cache).toBe('MISS')
    expect(written).toBe(isOnlyProcess ? 0 : 1)
    isHere.resolve()
  }

  test('are sent before if the process is alone, and equal requests wait for the write', async () => {
    const { proxy, key } = await start()
    await learn(proxy, key, question('How do I change the oil of a mower?'))
    expect((await ask(proxy, key, question('how do I change the oil of a mower'))).cache).toBe('HIT-SEMANTIC')
    expect(written).toBe(1)
    expect(upstream.requests).toHaveLength(1)
  })

  test('are found by a repeated request whose copy was lost', async () => {
    const { proxy, key } = await start({ losesCopies: true })
    await learn(proxy, key, question('Lost?'))
    expect((await ask(proxy, key, question('Lost?'))).cache).toBe('HIT')
    expect(upstream.requests).toHaveLength(1)
  })

  test('are awaited no longer than a lookup may take, which then finds earlier entries', async () => {
    const { proxy, key } = await start()
    const body = question('How do I change the oil of a mower?')
    expect((await ask(proxy, key, body)).cache).toBe('MISS')
    await proxy.settle()
    const held = Promise.withResolvers<void>()
    storing = () => held.promise
    expect((await ask(proxy, key, body, { 'cache-control': 'no-cache' })).cache).toBe('MISS')
    // On a busy machine, the lookup itself may time out.
    const inOtherWords = question('how do I change the oil of a mower')
    const find = () => ask(proxy as TestProxy, key, inOtherWords, { 'cache-control': 'only-if-cached' })
    await expect.poll(async () => (await find()).cache).toBe('HIT-SEMANTIC')
    held.resolve()
    expect(upstream.requests).toHaveLength(2)
  })

  test('are included in the comparison of an explanation', async () => {
    const { proxy, key } = await start()
    await ask(proxy, key, question('How do I change the oil of a mower?'))
    const explained = await post(proxy, key, '/cache/explain', question('how do I change the oil of a mower'))
    expect(await explained.json()).toMatchObject({ decision: { cache: 'HIT-SEMANTIC' } })
  })
})
