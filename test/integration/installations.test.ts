import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { type Backend, describeReal, openBus } from '../harness/backends.ts'
import { question, textOf } from '../harness/chat.ts'
import { ask, post, readAnswer } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

/** One database with its proxy and its provider. All installations share one Redis. */
interface Installation {
  proxy: TestProxy
  upstream: FakeProvider
  key: string
  close(): Promise<void>
}

async function openInstallation(backend: Backend): Promise<Installation> {
  const stores = await backend.open()
  // Both installations have the same ids, so that only the installation's prefix distinguishes their names in Redis.
  await stores.database.runScript('truncate projects, api_keys restart identity cascade')
  const bus = await openBus(stores)
  const upstream = await startFakeProvider()
  const proxy = await startProxy({ stores, environment: upstream.environment, bus })
  await stores.database.runScript(`insert into plans values ('ten', 10, 1000, 1000, 10, 1000) on conflict do nothing`)
  const key = await proxy.createKey({ plan: 'ten', type: 'project' })
  return {
    proxy,
    upstream,
    key,
    async close() {
      await proxy.stop()
      await bus.close()
      await upstream.stop()
    },
  }
}

describeReal('two installations on one Redis', first => {
  describeReal('each newly created', second => {
    let ours: Installation
    let theirs: Installation

    beforeAll(async () => {
      ours = await openInstallation(first)
      theirs = await openInstallation(second)
    })
    beforeEach(() => {
      ours.upstream.reset()
      theirs.upstream.reset()
    })
    afterAll(() => Promise.all([ours.close(), theirs.close()]))

    test('have projects and keys of the same ids', async () => {
      const read = ({ proxy }: Installation) => proxy.query('select id, project_id from api_keys')
      expect(await read(ours)).toEqual(await read(theirs))
    })

    test('never serve each other', async () => {
      const body = question('Whose answer is this?')
      ours.upstream.script({ kind: 'answer', content: 'ours' })
      theirs.upstream.script({ kind: 'answer', content: 'theirs' })
      expect((await ask(ours.proxy, ours.key, body)).cache).toBe('MISS')
      const first = await ask(theirs.proxy, theirs.key, body)
      expect([first.cache, textOf(first)]).toEqual(['MISS', 'theirs'])
      expect(textOf(await ask(ours.proxy, ours.key, body))).toBe('ours')
    })

    test('never follow each other', async () => {
      for (const { upstream } of [ours, theirs]) {
        upstream.script({ kind: 'answer', content: 'slow', firstByteDelayMs: 300 })
      }
      const answers = await Promise.all([ours, theirs].map(({ proxy, key }) => ask(proxy, key, 'Who leads?')))
      expect(answers.map(answer => answer.cache)).toEqual(['MISS', 'MISS'])
      expect([ours.upstream.counts.total, theirs.upstream.counts.total]).toEqual([1, 1])
    })

    test('never share a vector', async () => {
      async function embed({ proxy, key }: Installation): Promise<string | null> {
        const body = { model: 'openai/text-embedding-3-small', input: 'text' }
        return (await readAnswer(await post(proxy, key, '/embeddings', body))).cache
      }
      expect([await embed(ours), await embed(theirs), await embed(ours)]).toEqual(['MISS', 'MISS', 'HIT'])
    })

    test('never count for each other', async () => {
      const spend = async ({ proxy, key }: Installation) => (await ask(proxy, key, 'Any room?')).status
      let status = 200
      for (let i = 0; i < 12 && status === 200; i++) status = await spend(ours)
      expect(status).toBe(429)
      expect(await spend(theirs)).toBe(200)
    })
  })
})
