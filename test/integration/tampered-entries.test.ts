import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import { installationPrefix } from '../../src/stores/redis/redis-store.ts'
import { describeReal } from '../harness/backends.ts'
import { textOf } from '../harness/chat.ts'
import { type Answer, ask, post, readAnswer } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const QUESTION = 'What is the capital of France?'
const REWORDED = 'what is the capital of France'

describeReal('entries that another program has written into Redis', backend => {
  let proxy: TestProxy
  let redis: Redis
  let prefix: string

  beforeAll(async () => {
    const stores = await backend.open()
    prefix = installationPrefix(await callFunction(stores.database, 'installation_id', {}))
    proxy = await startProxy({ stores })
    redis = new Redis(stores.redisUrl ?? '')
  })
  afterAll(async () => {
    redis.disconnect()
    await proxy.stop()
  })

  async function openProject() {
    const key = await proxy.createKey({ type: 'test' })
    const [{ id = 0 } = {}] = await proxy.query<{ id: number }>('select max(id)::integer as id from projects')
    const names = () => redis.keys(`${prefix}{${id}}:E:*`)
    return { key, id, names }
  }

  async function learn(key: string): Promise<Answer> {
    const first = await ask(proxy, key, QUESTION)
    expect(first.cache).toBe('MISS')
    return first
  }

  test('a changed response is not served: the right one comes from PostgreSQL, and replaces it', async () => {
    const { key, names } = await openProject()
    const first = await learn(key)
    const [name = ''] = await names()
    const stored = await redis.getBuffer(name)
    const forged = String(stored?.toString('latin1')).replaceAll('Paris', 'Lyons').replaceAll('[sandbox]', '(sandbox)')
    await redis.set(name, Buffer.from(forged, 'latin1'), 'KEEPTTL')

    const again = await ask(proxy, key, QUESTION)
    expect([again.cache, textOf(again)]).toEqual(['HIT', textOf(first)])
    await waitUntil('the entry is repaired', async () => !(await redis.getBuffer(name))?.includes('(sandbox)'))
    const [{ count = 1 } = {}] = await proxy.query<{ count: number }>(
      `with gone as (delete from cache_entries returning 1) select count(*)::integer as count from gone`,
    )
    expect(count).toBeGreaterThan(0)
    await waitUntil('the response is a hit', async () => (await ask(proxy, key, QUESTION)).cache === 'HIT')
  })

  test('a response under another question’s name is not served', async () => {
    const { key, names } = await openProject()
    await learn(key)
    const [name = ''] = await names()
    const other = await ask(proxy, key, 'Who wrote Faust?')
    const otherName = (await names()).find(each => each !== name) ?? ''
    await redis.copy(name, otherName, 'REPLACE')
    const again = await ask(proxy, key, 'Who wrote Faust?')
    expect([again.cache, textOf(again)]).toEqual(['HIT', textOf(other)])
  })

  test('a wording keeps its own entry: an alias of another is not followed', async () => {
    const { key, names } = await openProject()
    await learn(key)
    const other = await ask(proxy, key, 'Who wrote Faust?')
    const before = new Set(await names())
    expect((await ask(proxy, key, REWORDED)).cache).toBe('HIT-SEMANTIC')
    let alias = ''
    await waitUntil('the wording has a copy', async () => {
      alias = (await names()).find(each => !before.has(each)) ?? ''
      return alias !== ''
    })
    const [otherName = ''] = await Promise.all(
      [...before].map(async each => ((await redis.getBuffer(each))?.includes('Faust') ? each : '')),
    ).then(found => found.filter(Boolean))
    const line = (await redis.getBuffer(alias))?.toString('latin1') ?? ''
    const forged = line.replace(/\{\d+\}:E:\d+:[0-9a-f]{64}/, otherName.replace(/^mp:[^:]*:/, ''))
    await redis.set(alias, Buffer.from(forged, 'latin1'), 'KEEPTTL')
    const again = await ask(proxy, key, REWORDED)
    expect(textOf(again)).not.toBe(textOf(other))
  })

  test('a changed vector is not served', async () => {
    const { key, id } = await openProject()
    const body = { model: 'openai/text-embedding-3-small', input: 'A text.' }
    const embed = async () => readAnswer(await post(proxy, key, '/embeddings', body))
    const first = await embed()
    expect(first.status).toBe(200)
    const [name = ''] = await redis.keys(`mp:*:{${id}}:V:*`)
    const stored = (await redis.getBuffer(name)) ?? Buffer.alloc(0)
    await redis.set(name, Buffer.concat([stored.subarray(0, -64), Buffer.alloc(64)]), 'KEEPTTL')
    expect((await embed()).json.data).toEqual(first.json.data)
  })
})
