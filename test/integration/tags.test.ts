/** Tags that a client sets for its request are recorded at every endpoint, and change no response. */
import { beforeAll, expect, test } from 'vitest'
import { describeBackends } from '../harness/backends.ts'
import { BODIES } from '../harness/bodies.ts'
import { ask, post, readAnswer } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const HEADERS = { 'x-proxy-tags': 'team=search, env=prod' }

describeBackends('tags', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open() }))
  let key: string
  beforeAll(async () => {
    key = await proxy.createKey()
  })

  test('are recorded at every endpoint', async () => {
    for (const [path, body] of Object.entries(BODIES)) {
      const { status, text } = await readAnswer(await post(proxy, key, path, body, { headers: HEADERS }))
      expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, ''])
    }
    await proxy.settle()
    const rows = await proxy.query<{ tags: unknown }>('select tags from usage_records')
    expect(rows).toHaveLength(Object.keys(BODIES).length)
    for (const { tags } of rows) expect(tags).toEqual({ team: 'search', env: 'prod' })
  })

  test('belong to their request, among many that are written at once', async () => {
    const sent = ['a=1', '', 'a=2', 'a=1', '', 'b=1'].map((tags, at) => ({ tags, id: `many-${at}` }))
    await Promise.all(
      sent.map(({ tags, id }) =>
        ask(proxy, key, 'One of many', { 'x-request-id': id, ...(tags && { 'x-proxy-tags': tags }) }),
      ),
    )
    await proxy.settle()
    const rows = await proxy.query<{ id: string; tags: Record<string, string> | null }>(
      `select request_id as id, tags from usage_records where request_id like 'many-%' order by 1`,
    )
    const written = rows.map(({ id, tags }) => ({
      id,
      tags: tags ? Object.entries(tags).join().replace(',', '=') : '',
    }))
    expect(written).toEqual(sent.map(({ id, tags }) => ({ id, tags })))
  })

  test('are not part of the cache key, in the header or in metadata', async () => {
    const bodyWith = (metadata: Record<string, string>) => ({ ...BODIES['/chat/completions'], seed: 5, metadata })
    expect((await ask(proxy, key, bodyWith({ team: 'ads' }))).cache).toBe('MISS')
    expect((await ask(proxy, key, bodyWith({ team: 'search' }))).cache).toBe('HIT')
    expect((await ask(proxy, key, bodyWith({}), HEADERS)).cache).toBe('HIT')
  })

  test('a bad header is a 400, and does not count', async () => {
    const before = await proxy.query('select sum(requests)::integer as requests from monthly_counters')
    const { status, json } = await ask(proxy, key, 'Once', { 'x-proxy-tags': 'team' })
    expect([status, json.error.param]).toEqual([400, 'X-Proxy-Tags'])
    await proxy.settle()
    expect(await proxy.query('select sum(requests)::integer as requests from monthly_counters')).toEqual(before)
  })
})
