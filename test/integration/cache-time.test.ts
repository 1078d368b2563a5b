import { expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const A_DAY_MS = 86_400_000

describeBackends('lifetime of cached responses', backend => {
  const upstream = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { ...upstream.environment, EMBEDDINGS_BASE_URL: upstream.baseUrl, EMBEDDINGS_API_KEY: 'k' },
    }),
  )

  const newProject = () => `p-${crypto.randomUUID()}`
  const setSetting = (project: string, setting: string, value: string) =>
    proxy.query(`select set_setting('${project}', '${setting}', '${value}')`)

  /** Sends a request. Returns the time to live of the copy in the fast store. */
  async function ttlOf(key: string, headers: Record<string, string>): Promise<number | null> {
    const { store } = proxy.stores
    const write = store.writeEntry
    let ttl: number | null = null
    store.writeEntry = async (name, bytes, ttlMs) => {
      ttl = ttlMs
      return write(name, bytes, ttlMs)
    }
    try {
      expect((await ask(proxy, key, `How long? ${crypto.randomUUID()}`, headers)).status).toBe(200)
      await proxy.settle()
    } finally {
      store.writeEntry = write
    }
    return ttl
  }

  test('is at most the plan’s, in the fast store’s copy too', async () => {
    const key = await proxy.createKey({ project: newProject(), type: 'project' })
    expect(await ttlOf(key, { 'x-proxy-cache-ttl': '315360000' })).toBeLessThanOrEqual(30 * A_DAY_MS)
    expect(await ttlOf(key, { 'x-proxy-cache-ttl': '60' })).toBeLessThanOrEqual(60_000)
  })

  test('is at most a day for test keys', async () => {
    const key = await proxy.createKey({ project: newProject(), type: 'test' })
    expect(await ttlOf(key, {})).toBeLessThanOrEqual(A_DAY_MS)
    expect(await ttlOf(key, { 'x-proxy-cache-ttl': '315360000' })).toBeLessThanOrEqual(A_DAY_MS)
  })

  test('is zero from the next request on if the project has disabled the cache, whatever the request says', async () => {
    const project = newProject()
    const key = await proxy.createKey({ project, type: 'project' })
    expect(await ttlOf(key, {})).toBeGreaterThan(0)
    await setSetting(project, 'cache_ttl_seconds', '0')
    expect(await ttlOf(key, {})).toBe(null)
    expect(await ttlOf(key, { 'x-proxy-cache-ttl': '60' })).toBe(null)
    await setSetting(project, 'cache_ttl_seconds', '3600')
    expect(await ttlOf(key, {})).toBeGreaterThan(0)
  })

  test('test keys never use an embedder that costs money; equal normalized text is found all the same', async () => {
    const project = newProject()
    const key = await proxy.createKey({ project, type: 'test' })
    upstream.reset()
    const question = 'Explain how photosynthesis works in the leaves of green plants'
    for (const [asked, cache] of [
      [question, 'MISS'],
      [`Could you please ${question.toLowerCase()}?`, 'HIT-SEMANTIC'],
      [`${question}, with a photograph`, 'MISS'],
    ] as const) {
      expect((await ask(proxy, key, asked)).cache).toBe(cache)
      await proxy.settle()
    }
    expect(upstream.counts.total).toBe(0)
    const paying = await proxy.createKey({ project, type: 'project' })
    await ask(proxy, paying, `${question}, with drawings`)
    await proxy.settle()
    expect(upstream.counts.byPath['/v1/embeddings']).toBeGreaterThan(0)
  })
})
