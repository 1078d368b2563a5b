/** Clients that keep their vendor's base path and change only the host. */
import Anthropic from '@anthropic-ai/sdk'
import { createGateway, generateText } from 'ai'
import OpenAI from 'openai'
import { beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

describeOnce('a vendor’s base address', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let root: string
  let apiKey: string

  beforeAll(async () => {
    root = proxy.rootUrl
    apiKey = await proxy.createKey({ type: 'project' })
  })

  test.each([
    ['Gemini’s', '/v1beta/openai/', 'gemini-2.5-flash', 'google/gemini-2.5-flash'],
    ['Groq’s', '/openai/v1', 'llama-3.3-70b-versatile', undefined],
    ['OpenRouter’s', '/api/v1', 'google/gemini-2.5-flash', 'google/gemini-2.5-flash'],
  ])('%s: chat, plain and streamed, embeddings, models', async (_, base, model, expected) => {
    const client = new OpenAI({ baseURL: root + base, apiKey, maxRetries: 0 })
    const { data } = await client.models.list()
    expect(data.length).toBeGreaterThan(0)
    const embedded = await client.embeddings.create({ model: 'openai/text-embedding-3-small', input: 'Hi.' })
    expect(embedded.data).toHaveLength(1)
    // Without a key for Groq, its native model names are unknown.
    if (expected === undefined) return expect(client.models.retrieve(model)).rejects.toThrow('404')
    upstreams.reset()
    const messages = [{ role: 'user' as const, content: `Hello, ${base}` }]
    const plain = await client.chat.completions.create({ model, messages, reasoning_effort: 'low' })
    let text = ''
    for await (const { choices } of await client.chat.completions.create({ model, messages, stream: true }))
      text += choices[0]?.delta.content ?? ''
    expect(text.length).toBeGreaterThan(0)
    expect(plain.choices[0]?.message.content?.length).toBeGreaterThan(0)
    expect(upstreams.aggregator.requests.map(({ body }) => (body as { model: string }).model)).toEqual([
      expected,
      expected,
    ])
  })

  test('of a gateway for Anthropic’s clients: messages, plain and streamed, counts, models, errors', async () => {
    const client = new Anthropic({ baseURL: `${root}/anthropic`, apiKey, maxRetries: 0 })
    const params = { model: 'claude-haiku-4-5', messages: [{ role: 'user' as const, content: 'Hello, gateway' }] }
    const { content } = await client.messages.create({ ...params, max_tokens: 1_000 })
    const streamed = await client.messages.stream({ ...params, max_tokens: 1_000 }).finalMessage()
    expect(streamed.content).toEqual(content)
    expect((await client.messages.countTokens(params)).input_tokens).toBeGreaterThan(0)
    const page = await client.models.list()
    expect([page.has_more, page.data[0]]).toEqual([
      false,
      expect.objectContaining({
        type: 'model',
        display_name: page.first_id,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      }),
    ])
    await expect(client.models.retrieve('no-such')).rejects.toMatchObject({
      status: 404,
      error: { type: 'error', error: { type: 'not_found_error' } },
    })
  })

  test('of an unsupported protocol: the error says what to choose instead', async () => {
    const advice = 'Choose your client’s provider for OpenAI-compatible servers'
    const model = createGateway({ baseURL: `${root}/v1/ai`, apiKey })('openai/gpt-5-mini')
    await expect(generateText({ model, prompt: 'Hi.', maxRetries: 0 })).rejects.toThrow(advice)
  })
})
