/** Aliases: names that a project's clients may use for a model, and that the project maps to one. */
import OpenAI, { toFile } from 'openai'
import { beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { BODIES } from '../harness/bodies.ts'
import { ask, get, post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

const LONG = 'word '.repeat(60_000)

describeOnce('aliases', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let project: string
  let key: string

  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
  })

  const set = (setting: string, value: string) =>
    proxy.query(`select set_setting('${project}', '${setting}', '${value}')`)
  const chat = (model: string, content = 'Hello', fields = {}) => ({
    model,
    messages: [{ role: 'user', content }],
    ...fields,
  })
  const summarize = ({ status, cache, json, headers }: Awaited<ReturnType<typeof ask>>) => [
    status,
    cache,
    json.model,
    headers.get('x-proxy-model'),
  ]
  async function readRecords() {
    await proxy.settle()
    return proxy.query(
      `select u.model, u.asked_model, u.fallbacks from usage_records u join projects p on p.id = u.project_id
      where p.name = '${project}' order by u.recorded_at`,
    )
  }

  test('share entries with the model and with each other, and never serve another model’s', async () => {
    await set('aliases', 'smart=gpt-4o, clever=gpt-4o')
    expect(summarize(await ask(proxy, key, chat('smart')))).toEqual([200, 'MISS', 'gpt-4o', 'gpt-4o'])
    expect(summarize(await ask(proxy, key, chat('smart')))).toEqual([200, 'HIT', 'gpt-4o', 'gpt-4o'])
    expect(summarize(await ask(proxy, key, chat('clever')))).toEqual([200, 'HIT', 'gpt-4o', 'gpt-4o'])
    expect(summarize(await ask(proxy, key, chat('gpt-4o')))).toEqual([200, 'HIT', 'gpt-4o', null])
    await set('aliases', 'smart=gpt-4o-mini')
    expect(summarize(await ask(proxy, key, chat('smart')))).toEqual([200, 'MISS', 'gpt-4o-mini', 'gpt-4o-mini'])
    expect((await ask(proxy, key, chat('clever'))).status).toBe(404)
    expect(await readRecords()).toEqual(
      [
        ['gpt-4o', 'smart'],
        ['gpt-4o', 'smart'],
        ['gpt-4o', 'clever'],
        ['gpt-4o', null],
        ['gpt-4o-mini', 'smart'],
        ['clever', null],
      ].map(([model, asked_model]) => ({ model, asked_model, fallbacks: null })),
    )
  })

  test('reach the provider as the model, in everything that is forwarded, long or with numbers that JavaScript rounds', async () => {
    await set('aliases', 'gpt-3.5-turbo=gpt-4o-mini')
    const bodies = [
      chat('gpt-3.5-turbo', 'Short'),
      chat('gpt-3.5-turbo', LONG),
      `{"model":"gpt-3.5-turbo","messages":[{"role":"user","content":"Exact"}],"seed":12345678901234567891}`,
    ]
    for (const body of bodies)
      expect((await readAnswer(await post(proxy, key, '/chat/completions', body))).status).toBe(200)
    expect(upstreams.openai.requests.map(({ body }) => (body as { model: string }).model)).toEqual(
      Array(3).fill('gpt-4o-mini'),
    )
    expect(upstreams.openai.requests.at(-1)?.bodyText).toContain('12345678901234567891')
  })

  test('at every endpoint', async () => {
    const models: Record<string, string> = Object.fromEntries(
      Object.entries(BODIES).map(([path, { model }]) => [`mine${path.replaceAll('/', '-')}`, String(model)]),
    )
    await set(
      'aliases',
      Object.entries(models)
        .map(pair => pair.join('='))
        .join(','),
    )
    for (const [path, body] of Object.entries(BODIES)) {
      const name = `mine${path.replaceAll('/', '-')}`
      const repeated = path === '/rerank' ? 'MISS' : 'HIT'
      for (const cache of ['MISS', repeated]) {
        const { status, headers, text } = await readAnswer(await post(proxy, key, path, { ...body, model: name }))
        expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, ''])
        expect([path, headers.get('x-proxy-cache'), headers.get('x-proxy-model')]).toEqual([path, cache, models[name]])
      }
      const real = await readAnswer(await post(proxy, key, path, body))
      expect([path, real.cache]).toEqual([path, repeated])
    }
    const rows = (await readRecords()) as { model: string; asked_model: string | null }[]
    expect(rows.filter(row => row.asked_model !== null)).toHaveLength(2 * Object.keys(BODIES).length)
    for (const { model, asked_model } of rows) if (asked_model !== null) expect(model).toBe(models[asked_model])
  })

  test('in forms, in the path, in token counts, in cache explanations, and in a conversation that continues', async () => {
    await set('aliases', 'ears=whisper-1,smart=openai/gpt-4o-mini')
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: key, maxRetries: 0 })
    const file = await toFile(Buffer.from('x'), 'x.wav')
    await client.audio.transcriptions.create({ model: 'ears', file })
    expect(upstreams.openai.requests.at(-1)?.bodyText).toMatch(/name="model"\r\n\r\nwhisper-1\r\n/)
    const { model: _, ...unnamed } = chat('')
    const azure = { baseUrl: proxy.rootUrl }
    const deployed = await post(azure, key, '/openai/deployments/smart/chat/completions?api-version=1', unnamed)
    expect(summarize(await readAnswer(deployed))[2]).toBe('openai/gpt-4o-mini')
    const counted = await post(proxy, key, '/responses/input_tokens', { model: 'smart', input: 'Hello' })
    expect(counted.status).toBe(200)
    const explained = await readAnswer(await post(proxy, key, '/cache/explain', chat('smart')))
    expect(explained.json).toMatchObject({ decision: { cache: 'HIT' } })
    const first = await client.responses.create({ model: 'smart', input: 'One' })
    const next = await client.responses.create({ model: 'smart', input: 'Two', previous_response_id: first.id })
    expect([next.status, next.model]).toEqual(['completed', 'openai/gpt-4o-mini'])
    expect(JSON.stringify(upstreams.aggregator.requests.at(-1)?.body)).toContain('One')
  })

  test('have their own fallbacks, else the project’s', async () => {
    await set('fallbacks', 'openai/gpt-4o-mini')
    await set('aliases', 'own=gpt-4o|openai/gpt-4o, plain=gpt-4o')
    upstreams.openai.script({ kind: 'error', status: 503 })
    for (const [name, fallback] of [
      ['own', 'openai/gpt-4o'],
      ['plain', 'openai/gpt-4o-mini'],
    ] as const) {
      expect(summarize(await ask(proxy, key, chat(name, name)))).toEqual([200, 'MISS', fallback, fallback])
    }
    expect(await readRecords()).toEqual([
      { model: 'openai/gpt-4o', asked_model: 'own', fallbacks: 'openai/gpt-4o' },
      { model: 'openai/gpt-4o-mini', asked_model: 'plain', fallbacks: 'openai/gpt-4o-mini' },
    ])
  })

  test('are what a project allows, not the models behind them', async () => {
    await set('aliases', 'smart=gpt-4o, hidden=gpt-4o')
    await set('allowed_models', 'smart')
    const statuses = await Promise.all(['smart', 'hidden', 'gpt-4o'].map(name => ask(proxy, key, chat(name))))
    expect(statuses.map(({ status }) => status)).toEqual([200, 403, 403])
    const { json } = await readAnswer(await get(proxy, '/models', key))
    expect(json.data).toMatchObject([{ id: 'smart', alias_of: 'gpt-4o', owned_by: 'openai', kind: 'chat' }])
  })

  test('are listed among the models, a model’s own name too', async () => {
    await set('aliases', 'smart=gpt-4o, gpt-4o-mini=gpt-4o, nowhere=no-such-model')
    const { json } = await readAnswer(await get(proxy, '/models', key))
    const aliased = json.data.filter((model: { alias_of?: string }) => model.alias_of !== undefined)
    expect(aliased.map(({ id, alias_of }: Record<string, string>) => [id, alias_of])).toEqual([
      ['gpt-4o-mini', 'gpt-4o'],
      ['smart', 'gpt-4o'],
    ])
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual(
      json.data.map(({ id }: { id: string }) => id).toSorted(),
    )
    expect((await readAnswer(await get(proxy, '/models/smart', key))).json).toMatchObject({ id: 'smart' })
    expect((await get(proxy, '/models/nowhere', key)).status).toBe(404)
  })

  test.each(['smart', 'smart=', '=gpt-4o', 'a=b=c', 'a=b||c', 'a=b,a=c', 'a=b|1|2|3|4|5|6', 'a b=c'])(
    'of the form %s are rejected',
    async value => {
      await expect(set('aliases', value)).rejects.toThrow(/is not valid for setting aliases: use up to 100 names/)
    },
  )

  test('a batch that names one is rejected by its name and place, and one that names its model is not', async () => {
    await storeKey(proxy.stores, project, 'anthropic', 'sk-own')
    await set('aliases', 'smart=gpt-4o, wise=claude-haiku-4-5')
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: key, maxRetries: 0 })
    const upload = (...models: string[]) => {
      const lines = models.map((model, n) =>
        JSON.stringify({ custom_id: `${n}`, method: 'POST', url: '/v1/chat/completions', body: chat(model) }),
      )
      const bytes = Buffer.from(lines.join('\n'))
      return toFile(bytes, 'in.jsonl').then(file => client.files.create({ file, purpose: 'batch' }))
    }
    await expect(upload('gpt-4o', 'smart')).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/Line 2 of the file: smart is an alias.* name its model, gpt-4o/),
    })
    expect((await upload('gpt-4o')).id).toMatch(/^file-/)
    const batch = (model: string) => {
      const params = { model, max_tokens: 5, messages: chat(model).messages }
      const requests = [
        { custom_id: 'a', params: { ...params, model: 'claude-haiku-4-5' } },
        { custom_id: 'b', params },
      ]
      return post(proxy, key, '/messages/batches', { requests }).then(readAnswer)
    }
    const { status, json } = await batch('wise')
    expect([status, json.error.message]).toEqual([
      400,
      expect.stringMatching(/wise is an alias.* name its model, claude-haiku-4-5/),
    ])
    expect((await batch('claude-haiku-4-5')).status).toBe(200)
  })
})
