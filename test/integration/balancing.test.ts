/** A project with several keys of one provider. */
import OpenAI, { toFile } from 'openai'
import { beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { BODIES } from '../harness/bodies.ts'
import { type Answer, ask, post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

const KEYS = ['one', 'two', 'three'] as const

describeOnce('several keys of one provider', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let project: string
  let key: string

  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    for (const name of KEYS) await storeKey(proxy.stores, project, 'openai', `sk-${name}`, { name })
  })

  const remove = (name: string) => proxy.query(`select remove_provider_key('${project}', 'openai', '${name}')`)
  const chat = (content: string, fields = {}) => ({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content }],
    ...fields,
  })
  const keyOf = ({ headers }: Pick<Answer, 'headers'>) => headers.get('x-proxy-provider-key') ?? ''
  const sentKeys = () =>
    upstreams.openai.requests.map(({ headers }) => headers.authorization?.replace('Bearer sk-', ''))

  /** The provider key that responded, by question. */
  async function spread(questions: readonly string[]): Promise<Map<string, string>> {
    const answers = await Promise.all(
      questions.map(question => ask(proxy, key, chat(question, { seed: Math.random() }))),
    )
    return new Map(questions.map((question, at) => [question, keyOf(answers[at] as Answer)]))
  }

  test('share requests, and requests that begin alike use the same one', async () => {
    const questions = Array.from({ length: 24 }, (_, at) => `Question ${at}`)
    const first = await spread(questions)
    expect(new Set(first.values())).toEqual(new Set(KEYS))
    expect(await spread(questions)).toEqual(first)
    expect(new Set(sentKeys())).toEqual(new Set(KEYS))
    await remove('two')
    const after = await spread(questions)
    for (const [question, name] of first) if (name !== 'two') expect(after.get(question)).toBe(name)
    expect([...after.values()]).not.toContain('two')
    const long = 'The same beginning of a long prompt. '.repeat(60)
    const ends = await spread(Array.from({ length: 8 }, (_, at) => `${long}${at}`))
    expect(new Set(ends.values()).size).toBe(1)
    const named = await Promise.all(
      questions.slice(0, 8).map(question => ask(proxy, key, chat(question, { prompt_cache_key: 'k', seed: 9 }))),
    )
    expect(new Set(named.map(keyOf)).size).toBe(1)
  })

  test.each([401, 403, 429])('a key that gets %i is suspended, and another is used at once', async status => {
    const preferred = keyOf(await ask(proxy, key, chat('Hello', { seed: 1 })))
    upstreams.openai.scriptOnce({ kind: 'error', status })
    const instead = await ask(proxy, key, chat('Hello', { seed: 2 }))
    expect(instead.status).toBe(200)
    expect(keyOf(instead)).not.toBe(preferred)
    expect(sentKeys()).toEqual([preferred, preferred, keyOf(instead)])
    expect(keyOf(await ask(proxy, key, chat('Hello', { seed: 3 })))).toBe(keyOf(instead))
  })

  test('a 403 about the request, or a status that each key gets, is the client’s: no key is suspended', async () => {
    const preferred = keyOf(await ask(proxy, key, chat('Hello', { seed: 1 })))
    const country = 'Country, region, or territory not supported'
    upstreams.openai.script({ kind: 'error', status: 403, message: country })
    const refused = await ask(proxy, key, chat('Hello', { seed: 2 }))
    expect([refused.status, refused.json.error.message]).toEqual([403, country])
    expect(sentKeys()).toEqual([preferred, preferred])
    upstreams.openai.script({ kind: 'error', status: 403, message: 'Forbidden' })
    expect((await ask(proxy, key, chat('Hello', { seed: 3 }))).status).toBe(403)
    expect(new Set(sentKeys().slice(2))).toEqual(new Set(KEYS))
    upstreams.openai.reset()
    expect(keyOf(await ask(proxy, key, chat('Hello', { seed: 4 })))).toBe(preferred)
    const still = await spread(Array.from({ length: 24 }, (_, at) => `Question ${at}?`))
    expect(new Set(still.values())).toEqual(new Set(KEYS))
  })

  async function recordOf(path: string, body: Record<string, unknown>, headers: Record<string, string> = {}) {
    const id = crypto.randomUUID()
    const answer = await readAnswer(await post(proxy, key, path, body, { headers: { 'x-request-id': id, ...headers } }))
    await proxy.settle()
    const [record] = await proxy.query<{ provider_keys: string | null; attempts: number | null }>(
      `select provider_keys, attempts from usage_records where request_id = '${id}'`,
    )
    return { answer, record }
  }

  test.each(Object.keys(BODIES).filter(path => path !== '/rerank'))(
    'at %s: the record names the keys that were used',
    async path => {
      const body = { ...BODIES[path], ...(path === '/messages' && { model: 'gpt-4o-mini' }) }
      upstreams.openai.scriptOnce({ kind: 'error', status: 429 })
      const { answer, record } = await recordOf(path, body)
      const [refused] = sentKeys()
      expect([answer.status, record]).toEqual([200, { provider_keys: `${refused} 429, ${keyOf(answer)}`, attempts: 2 }])
      expect(keyOf(answer)).not.toBe(refused)
      const hit = await recordOf(path, body)
      expect([path, hit.answer.cache, hit.record]).toEqual([path, 'HIT', { provider_keys: null, attempts: null }])
    },
  )

  test('the record of a failure names the keys that were used, too', async () => {
    upstreams.openai.script({ kind: 'error', status: 401 })
    const { record } = await recordOf('/chat/completions', chat('Hello'))
    expect(record).toEqual({
      provider_keys: sentKeys()
        .map(name => `${name} 401`)
        .join(', '),
      attempts: 3,
    })
    upstreams.openai.reset()
    upstreams.openai.script({ kind: 'cut', after: 'nothing' })
    const cut = await recordOf('/chat/completions', chat('Hello', { seed: 2 }))
    expect(cut.record?.provider_keys).toBe(sentKeys().at(-1))
    expect(cut.record?.attempts).toBe(sentKeys().length)
  })

  test('if all are rejected, the client gets the last rejection, and later requests use one of them', async () => {
    upstreams.openai.script({ kind: 'error', status: 401 })
    expect((await ask(proxy, key, chat('Hello', { seed: 1 }))).status).toBe(401)
    expect(new Set(sentKeys())).toEqual(new Set(KEYS))
    upstreams.openai.reset()
    expect((await ask(proxy, key, chat('Hello', { seed: 2 }))).status).toBe(200)
    expect(sentKeys()).toHaveLength(1)
  })

  test('an object is requested with the key that created it, and with any once that key is gone', async () => {
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: key, maxRetries: 0 })
    const made = await Promise.all(
      Array.from({ length: 9 }, (_, at) =>
        client.responses.create({ model: 'gpt-4o-mini', input: `Question ${at}` }).withResponse(),
      ),
    )
    expect(new Set(made.map(({ response }) => keyOf(response)))).toEqual(new Set(KEYS))
    for (const { data, response } of made) {
      upstreams.openai.requests.length = 0
      await client.responses.retrieve(data.id)
      await client.responses.create({ model: 'gpt-4o-mini', input: 'And?', previous_response_id: data.id })
      await client.responses.inputTokens.count({ model: 'gpt-4o-mini', previous_response_id: data.id })
      expect(sentKeys()).toEqual(Array(3).fill(keyOf(response)))
    }
    const jsonl = JSON.stringify({ custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: chat('Hello') })
    for (let at = 0; at < 4; at++) {
      const file = await toFile(Buffer.from(jsonl), `${at}.jsonl`)
      const { data, response } = await client.files.create({ purpose: 'batch', file }).withResponse()
      upstreams.openai.requests.length = 0
      await client.files.retrieve(data.id)
      const batch = await client.batches.create({
        input_file_id: data.id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      })
      await client.batches.retrieve(batch.id)
      expect(sentKeys()).toEqual(Array(3).fill(keyOf(response)))
    }
    const [first] = made
    if (!first) throw new Error('no object was created')
    const owner = keyOf(first.response)
    await remove(owner)
    upstreams.openai.requests.length = 0
    await client.responses.retrieve(first.data.id)
    expect(sentKeys()).not.toContain(owner)
  })

  test('objects created before keys had names stay with the unnamed key', async () => {
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: key, maxRetries: 0 })
    for (const name of KEYS) await remove(name)
    await storeKey(proxy.stores, project, 'openai', 'sk-alone')
    const { data, response } = await client.responses.create({ model: 'gpt-4o-mini', input: 'x' }).withResponse()
    expect(keyOf(response)).toBe('')
    for (const name of KEYS) await storeKey(proxy.stores, project, 'openai', `sk-${name}`, { name })
    upstreams.openai.requests.length = 0
    for (const input of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await client.responses.create({ model: 'gpt-4o-mini', input, previous_response_id: data.id })
    }
    expect(sentKeys()).toEqual(Array(6).fill('alone'))
  })

  test('rejects an invalid name or weight', async () => {
    for (const options of [{ name: 'a b' }, { name: '' }, { name: 'a/b' }, { name: 'x', weight: 0 }]) {
      await expect(storeKey(proxy.stores, project, 'openai', 'sk-x', options)).rejects.toThrow(
        /name must be up to 63 letters/,
      )
    }
    await expect(remove('four')).rejects.toThrow(/has no key named "four" for provider "openai"/)
  })
})
