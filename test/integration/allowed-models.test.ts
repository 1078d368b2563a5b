/** A project restricts the models that its keys may use. */
import OpenAI, { toFile } from 'openai'
import { beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

describeOnce('allowed models', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let project: string
  let key: string
  let client: OpenAI

  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: key, maxRetries: 0 })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
  })

  const set = (setting: string, value: string) =>
    proxy.query(`select set_setting('${project}', '${setting}', '${value}')`)
  const chat = (model: string, fields = {}) =>
    ask(proxy, key, { model, messages: [{ role: 'user', content: `Hello ${crypto.randomUUID()}` }], ...fields })
  const refused = { error: { code: 'model_not_allowed', param: 'model', type: 'permission_error' } }

  test('apply from the next request on, by the names that clients write', async () => {
    expect((await chat('gpt-4o')).status).toBe(200)
    await set('allowed_models', 'gpt-4o-mini*, anthropic/*')
    for (const model of ['gpt-4o-mini', 'gpt-4o-mini-2024-07-18', 'anthropic/claude-haiku-4.5']) {
      expect((await chat(model)).status).toBe(200)
    }
    upstreams.reset()
    for (const model of ['gpt-4o', 'openai/gpt-4o-mini', 'nobody-has-this']) {
      const answer = await chat(model)
      expect([answer.status, answer.json]).toEqual([
        403,
        expect.objectContaining({ error: expect.objectContaining(refused.error) }),
      ])
    }
    const listed = await chat('anthropic/claude-haiku-4.5', { models: ['anthropic/claude-sonnet-5', 'openai/gpt-4o'] })
    expect([listed.status, listed.json.error.message]).toEqual([403, expect.stringContaining('"openai/gpt-4o"')])
    // Anthropic calls these fallbacks itself.
    for (const [fallbacks, named] of [
      [[{ model: 'claude-opus-5' }], '"claude-opus-5"'],
      [['openai/gpt-4o'], '"openai/gpt-4o"'],
      ['default', '"default"'],
    ] as const) {
      const { status, json } = await chat('anthropic/claude-haiku-4.5', { fallbacks })
      expect([status, json.error.message]).toEqual([403, expect.stringContaining(named)])
    }
    expect([upstreams.openai.requests, upstreams.aggregator.requests]).toEqual([[], []])
    await set('allowed_models', '')
    expect((await chat('gpt-4o')).status).toBe(200)
  })

  test('apply to entries that were cached before', async () => {
    const body = { model: 'gpt-4o', messages: [{ role: 'user', content: project }] }
    expect((await ask(proxy, key, body)).cache).toBe('MISS')
    expect((await ask(proxy, key, body)).cache).toBe('HIT')
    await set('allowed_models', 'gpt-5*')
    expect((await ask(proxy, key, body)).status).toBe(403)
  })

  test('apply to every endpoint, test keys’ too', async () => {
    await set('allowed_models', 'gpt-4o*')
    const tester = new OpenAI({ baseURL: proxy.baseUrl, apiKey: await proxy.createKey({ project }), maxRetries: 0 })
    for (const asking of [client, tester]) {
      const attempts = await Promise.allSettled<unknown>([
        asking.responses.create({ model: 'gpt-5', input: 'x' }),
        asking.embeddings.create({ model: 'text-embedding-3-small', input: 'x' }),
        asking.completions.create({ model: 'gpt-3.5-turbo-instruct', prompt: 'x' }),
        asking.images.generate({ model: 'gpt-image-1', prompt: 'x' }),
        asking.moderations.create({ input: 'x' }),
        asking.audio.transcriptions.create({ model: 'whisper-1', file: await toFile(Buffer.from('x'), 'x.wav') }),
        asking.post('/messages/count_tokens', {
          body: { model: 'claude-haiku-4-5', messages: [{ role: 'user', content: 'x' }] },
        }),
        asking.models.retrieve('gpt-5'),
      ])
      for (const attempt of attempts) expect(attempt).toMatchObject({ status: 'rejected', reason: { status: 403 } })
      const names = (await asking.models.list()).data.map(({ id }) => id)
      expect(names.length).toBeGreaterThan(1)
      for (const name of names) expect(name).toMatch(/^gpt-4o/)
      expect((await asking.models.retrieve('gpt-4o')).id).toBe('gpt-4o')
    }
  })

  test('apply to batches', async () => {
    const lines = (...models: string[]) =>
      toFile(
        Buffer.from(
          models
            .map(model =>
              JSON.stringify({ custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: { model } }),
            )
            .join('\n'),
        ),
        'in.jsonl',
      )
    const upload = async (...models: string[]) =>
      client.files.create({ file: await lines(...models), purpose: 'batch' })
    const start = (input_file_id: string) =>
      client.batches.create({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' })
    const early = await upload('gpt-4o', 'gpt-5')
    await set('allowed_models', 'gpt-4o*,gpt-5')
    await expect(upload('gpt-4o', 'o3')).rejects.toThrow('403 Model "o3" is not allowed')
    await expect(start(early.id)).rejects.toThrow('400 The file was uploaded before')
    const good = await upload('gpt-4o', 'gpt-5')
    expect((await start(good.id)).status).toBe('validating')
    await set('allowed_models', 'gpt-4o*')
    await expect(start(good.id)).rejects.toThrow('403 Model "gpt-5" is not allowed')
    const broken = await toFile(Buffer.from('{"custom_id":"1"}'), 'in.jsonl')
    await expect(client.files.create({ file: broken, purpose: 'batch' })).rejects.toThrow('400 Line 1 of the file')
  })

  test('do not apply to the project’s own fallbacks', async () => {
    await set('allowed_models', 'gpt-4o-mini')
    await set('fallbacks', 'anthropic/claude-haiku-4.5')
    upstreams.openai.script({ kind: 'error', status: 503 })
    const answer = await chat('gpt-4o-mini')
    expect([answer.status, answer.json.model]).toEqual([200, 'anthropic/claude-haiku-4.5'])
  })

  test('bad values are rejected, and change nothing', async () => {
    await set('allowed_models', 'gpt-4o')
    const tooMany = Array.from({ length: 101 }, (_, i) => `m${i}`).join()
    for (const value of ['a b', 'a,,b', 'a,a', tooMany]) {
      await expect(set('allowed_models', value)).rejects.toThrow('up to 100 different model names')
    }
    expect((await chat('gpt-5')).status).toBe(403)
  })
})
