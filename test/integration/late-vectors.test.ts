import { afterAll, beforeEach, expect, test } from 'vitest'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

const FIRST = 'How do I change the oil of a mower?'
/** The first has the same normalized text, the second the same gist. */
const EQUAL = 'how do I change the oil of a mower'
const SIMILAR = 'What is the best way to change the oil of a mower?'
/** A topic word is the same, the question is not. */
const COMPARABLE = 'How do I change the blade of a mower?'

/** A limit for repeated attempts: on a busy machine, a lookup may time out. */
const SOON = { timeout: 20_000 }

/** Vectors are available only after `make`. All are equal. */
describeBackends('vectors that are late', backend => {
  let upstream: FakeProvider
  let proxy: TestProxy | undefined
  let key: string
  let make: () => void = () => {}

  beforeEach(async () => {
    await stop()
    const { promise, resolve } = Promise.withResolvers<Float32Array>()
    make = () => resolve(Float32Array.of(1, 0))
    upstream = await startFakeProvider()
    proxy = await startProxy({
      stores: await backend.open(),
      environment: upstream.environment,
      embedder: {
        space: { model: 'slow', dimensions: 2 },
        isFree: false,
        endpoint: null,
        embed: async () => (Bun.peek.status(promise) === 'pending' ? null : promise),
        embedInBackground: () => promise,
        close: async () => {},
      },
    })
    key = await proxy.createKey({ type: 'project' })
  })
  afterAll(stop)

  async function stop(): Promise<void> {
    make()
    await Promise.all([proxy?.stop(), upstream?.stop()])
  }

  async function find(text: string): Promise<string> {
    const { cache, headers } = await ask(proxy as TestProxy, key, question(text))
    return `${cache} ${headers.get('x-proxy-cache-reason')}`
  }
  /** Sends a request whose response is not stored. */
  function findOnly(text: string): Promise<string> {
    upstream.script({ kind: 'answer', finishReason: 'content_filter' })
    return find(text)
  }
  const count = async () => {
    const rows = await proxy?.query<{ rows: number; vectors: number }>(
      `select count(*)::integer as rows, count(embedding)::integer as vectors from cache_prompts`,
    )
    return rows?.[0]
  }

  test('delay no request that needs none, or has no candidate to compare', async () => {
    expect(await find(FIRST)).toBe('MISS no-candidate')
    await expect.poll(count, SOON).toEqual({ rows: 1, vectors: 0 })
    await expect.poll(() => findOnly(EQUAL), SOON).toBe('HIT-SEMANTIC normalized')
  })

  test('are the reason of a miss until they are created, and then added', async () => {
    await find(FIRST)
    await expect.poll(() => findOnly(SIMILAR), SOON).toBe('MISS no-vector')
    make()
    await proxy?.settle()
    expect(await count()).toEqual({ rows: 1, vectors: 1 })
    await expect.poll(() => findOnly(COMPARABLE), SOON).toBe('MISS unverified:words')
    await expect.poll(() => findOnly(SIMILAR), SOON).toBe('HIT-SEMANTIC verified')
  })
})
