import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeReal, openBus } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { createRandom } from '../harness/random.ts'

type Scope = 'project' | 'key' | 'user'

interface Caller {
  key: 'one' | 'other'
  user: string | null
}

interface Probe extends Caller {
  /** The caller that the response was made for, from the request that the provider received. */
  madeFor: Caller
  cache: string | null
  concernsCaller: boolean
}

const PROBES_A_SCOPE = 3_400
const AT_ONCE = 24
const USERS = ['alice', 'bob', 'carol', null]
/** This policy ignores the words, so only the caller keeps responses apart. */
const SETTINGS = { semantic_policy: 'threshold', semantic_threshold: '0' }
const QUESTIONS = [
  'What is a widget',
  'Tell me what a widget is',
  'Who am I',
  'What is on my account',
  'Explain widgets',
]

/** Each proxy has its own bus, as each process has. The last one has lost its Redis. */
describeReal('responses over four processes', backend => {
  const random = createRandom(11)
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
  const proxies: TestProxy[] = []
  const opened: { close(): unknown }[] = []
  const keys = { one: '', other: '' }
  const upstreams = duringTests(startUpstreams)

  beforeAll(async () => {
    // The provider's response repeats the caller.
    upstreams.openai.script(({ body }) => ({
      kind: 'answer',
      content: String((body as { metadata?: { who?: string } }).metadata?.who),
      firstByteDelayMs: 5 + Math.floor(random() * 20),
    }))
    const stores = await backend.open()
    for (let i = 0; i < 4; i++) {
      const bus = await openBus(stores)
      opened.push(bus)
      const lost = async () => Promise.reject(new Error('Redis is away'))
      const store = i < 3 ? stores.store : { ...stores.store, readEntries: lost, writeEntry: lost, writeEntries: lost }
      proxies.push(
        await startProxy({
          stores: { ...stores, store },
          environment: upstreams.environment,
          bus,
        }),
      )
    }
    const [proxy] = proxies as [TestProxy]
    keys.one = await proxy.createKey({ project: 'probed', type: 'project', settings: SETTINGS })
    keys.other = await proxy.createKey({ project: 'probed', type: 'project' })
    await storeKey(proxy.stores, 'probed', 'openai', 'sk-openai')
  })
  afterAll(async () => {
    await Promise.all(proxies.map(proxy => proxy.stop()))
    await Promise.all(opened.map(each => each.close()))
  })

  const query = (sql: string) => (proxies[0] as TestProxy).query(sql)

  /** Sends a random wording to a random endpoint of a random process. */
  async function probe(): Promise<Probe> {
    const caller: Caller = { key: pick(['one', 'other']), user: pick(USERS) }
    const words = `${pick(QUESTIONS)}${pick(['', '?', ' please', ', please?'])}`
    const fields = { model: 'gpt-4o-mini', metadata: { who: JSON.stringify(caller) }, ...naming(caller) }
    const [path, body] = pick([
      ['/chat/completions', { ...fields, messages: [{ role: 'user', content: words }] }],
      ['/chat/completions', { ...fields, messages: [{ role: 'user', content: words }], stream: true }],
      ['/responses', { ...fields, input: words, store: false }],
    ] as const)
    const headers = pick([{}, {}, {}, {}, { 'cache-control': 'no-cache' }, { 'x-proxy-cache-ttl': '1' }])
    const answer = await post(pick(proxies), keys[caller.key], path, body, { headers })
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    const cache = answer.headers.get('x-proxy-cache')
    return { ...caller, madeFor: madeFor(text), cache, concernsCaller: /\b(?:I|my)\b/.test(words) }
  }

  function naming({ user }: Caller): object {
    return user === null ? {} : pick([{ user }, { safety_identifier: user }])
  }

  async function probeAll(scope: Scope): Promise<Probe[]> {
    const probes: Probe[] = []
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (probes.length < PROBES_A_SCOPE) {
          probes.push(await probe())
          if (probes.length === PROBES_A_SCOPE / 2) await query(`select purge_cache('probed')`)
        }
      }),
    )
    expect([scope, probes.filter(({ cache }) => cache !== 'MISS').length > PROBES_A_SCOPE / 2]).toEqual([scope, true])
    return probes
  }

  const sharingScope = (scope: Scope, { key, user }: Caller) =>
    scope === 'project' ? '' : scope === 'user' && user !== null ? `user ${user}` : `key ${key}`

  test.each(['user', 'key', 'project', 'user'] as const)(
    'within the scope %s are served to no other caller',
    { timeout: 300_000 },
    async scope => {
      await query(`select set_setting('probed', 'cache_scope', '${scope}')`)
      // Each process reads the new setting.
      for (const proxy of proxies)
        for (const key of Object.values(keys))
          await post(proxy, key, '/responses', { model: 'gpt-4o-mini', input: 'warm' })
      const probes = await probeAll(scope)
      const crossed = probes.filter(each => sharingScope(scope, each) !== sharingScope(scope, each.madeFor))
      expect(crossed).toEqual([])
      if (scope !== 'project') return
      const reworded = probes.filter(({ cache, concernsCaller }) => cache === 'HIT-SEMANTIC' && concernsCaller)
      expect(reworded.length).toBeGreaterThan(0)
      expect(reworded.filter(({ user, madeFor }) => user !== null && user !== madeFor.user)).toEqual([])
    },
  )
})

/** Reads the caller from a plain response's JSON or from the pieces of a stream. */
function madeFor(text: string): Caller {
  const pieces = text.startsWith('{')
    ? text
    : [...text.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map(([, piece]) => piece).join('')
  const [, key, user] = /\{\\+"key\\+":\\+"(\w+)\\+",\\+"user\\+":(?:\\+"(\w+)\\+"|null)\}/.exec(pieces) ?? []
  if (key !== 'one' && key !== 'other') throw new Error(`the response names no caller: ${text.slice(0, 500)}`)
  return { key, user: user ?? null }
}
