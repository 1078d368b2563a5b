import { beforeEach, describe, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, post, readAnswer } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const LEAVING = 50
const SLOW_MS = 400

describeOnce('calls in flight', backend => {
  const upstream = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstream.environment, UPSTREAM_MAX_RETRIES: '0' } }),
  )
  let project: string
  let key: string

  beforeEach(async () => {
    upstream.reset()
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
  })

  const purge = () => proxy.query(`select purge_cache('${project}')`)

  async function embed(): Promise<string | null> {
    const body = { model: 'openai/text-embedding-3-small', input: 'under way' }
    const { status, cache } = await readAnswer(await post(proxy, key, '/embeddings', body))
    expect(status).toBe(200)
    return cache
  }

  async function waitUntilCalled(times: number): Promise<void> {
    await waitUntil(`upstream is asked ${times} times`, () => upstream.counts.total === times)
  }

  async function countKept(table: 'cache_entries' | 'cached_vectors'): Promise<number> {
    await proxy.settle()
    const rows = await proxy.query(
      `select 1 from ${table} c join projects p on p.id = c.project_id where p.name = '${project}'`,
    )
    return rows.length
  }

  describe('when their project is purged', () => {
    test('leave no entry behind, and are not joined', async () => {
      upstream.script({ kind: 'answer', content: 'slow', firstByteDelayMs: SLOW_MS })
      const before = ask(proxy, key, 'What is slow?')
      await waitUntilCalled(1)
      await purge()
      // The first request after a purge informs the process. It does not join the call from before.
      const after = await ask(proxy, key, 'What is slow?')
      expect([(await before).cache, after.cache]).toEqual(['MISS', 'MISS'])
      expect(upstream.counts.total).toBe(2)
      expect(await countKept('cache_entries')).toBe(1)
      expect((await ask(proxy, key, 'What is slow?')).cache).toBe('HIT')
    })

    test('leave nothing behind when no later request arrives', async () => {
      upstream.script({ kind: 'answer', content: 'slow', firstByteDelayMs: SLOW_MS })
      const before = ask(proxy, key, 'What is slow?')
      await waitUntilCalled(1)
      await purge()
      await before
      expect(await countKept('cache_entries')).toBe(0)
      expect((await ask(proxy, key, 'What is slow?')).cache).toBe('MISS')
    })

    test('leave no vectors behind', async () => {
      upstream.script({ kind: 'answer', firstByteDelayMs: SLOW_MS })
      const before = embed()
      await waitUntilCalled(1)
      await purge()
      expect(await before).toBe('MISS')
      expect(await countKept('cached_vectors')).toBe(0)
      expect(await embed()).toBe('MISS')
    })
  })

  test('whose clients disconnect are counted and recorded once the upstream was called', async () => {
    const left = Promise.withResolvers<void>()
    upstream.script(async () => {
      await left.promise
      return { kind: 'answer', content: 'slow' }
    })
    const clients = Array.from({ length: LEAVING }, (_, i) => {
      const leaving = new AbortController()
      const body = question(`Who leaves? ${i} ${crypto.randomUUID()}`)
      const asking = post(proxy, key, '/chat/completions', body, { signal: leaving.signal }).then(
        () => 'answered',
        () => 'gone',
      )
      return { leaving, asking }
    })
    await waitUntilCalled(LEAVING)
    for (const { leaving } of clients) leaving.abort()
    expect(new Set(await Promise.all(clients.map(client => client.asking)))).toEqual(new Set(['gone']))
    // The cost is settled from their responses.
    left.resolve()

    const where = `where p.name = '${project}'`
    const readBooks = async () => {
      await proxy.settle()
      const [counter] = await proxy.query<{ requests: number }>(
        `select c.requests::integer from monthly_counters c join projects p on p.id = c.project_id ${where}`,
      )
      const records = await proxy.query<{ cost_usd: string }>(
        `select u.cost_usd from usage_records u join projects p on p.id = u.project_id ${where}`,
      )
      const charged = records.filter(({ cost_usd }) => Number(cost_usd) > 0)
      return [counter?.requests, records.length, charged.length]
    }
    await expect.poll(readBooks, { interval: 50 }).toEqual([LEAVING, LEAVING, LEAVING])
    expect(upstream.counts.total).toBe(LEAVING)
  })
})
