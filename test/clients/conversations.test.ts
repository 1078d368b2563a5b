/** Conversations by reference at /v1/responses, with models whose providers store no responses: the proxy stores them for the key. */
import OpenAI from 'openai'
import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Script } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

const MODELS = ['openai/gpt-4o-mini', 'claude-haiku-4-5', 'llama-3.3-70b-versatile'] as const

/** Behaves as OpenRouter, which has the Responses API and stores nothing: earlier responses and items without their content are unknown. */
const keepNothing: Script = ({ path, body }) => {
  if (path.endsWith('/input_tokens')) return { kind: 'error', status: 404 }
  if (!path.endsWith('/responses')) return undefined
  const { previous_response_id: previous, input } = body as { previous_response_id?: string; input: unknown }
  const items = Array.isArray(input) ? (input as Record<string, unknown>[]) : []
  const isUnknown = ({ type, role, content, encrypted_content: proof }: Record<string, unknown>) =>
    type === 'item_reference' || (type === 'reasoning' && !proof && !content) || (type === undefined && !role)
  const isRefused = (previous ?? null) !== null || items.some(isUnknown)
  return isRefused ? { kind: 'error', status: 400, message: 'Nothing is kept here.' } : undefined
}

/** OpenAI did not create any of these responses. */
const knowNone: Script = ({ method, path }) =>
  method !== 'POST' && path.includes('/responses/') ? { kind: 'error', status: 404 } : undefined

describe.each(['chat', 'all'])('an aggregator that supports %s', speaks => {
  describeOnce('responses are stored for the key that requested them', backend => {
    const proxy = duringTests(() =>
      startProxy({ stores: backend.open(), environment: { ...upstreams.environment, AGGREGATOR_SPEAKS: speaks } }),
    )
    let client: OpenAI
    let project: string

    beforeEach(async () => {
      upstreams.reset()
      upstreams.aggregator.script(keepNothing)
      upstreams.openai.script(knowNone)
      project = `p-${crypto.randomUUID()}`
      client = await connect()
      for (const provider of ['openai', 'anthropic', 'groq'] as const)
        await storeKey(proxy.stores, project, provider, 'sk-own')
    })

    async function connect(of = project): Promise<OpenAI> {
      const apiKey = await proxy.createKey({ project: of, type: 'project' })
      return new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
    }

    function fakeOf(model: string) {
      if (model.startsWith('claude')) return upstreams.anthropic
      return model.includes('/') ? upstreams.aggregator : upstreams.groq
    }

    const lastAsked = (model: string) => JSON.stringify(fakeOf(model).requests.at(-1)?.body)
    const create = (body: ResponseCreateParamsNonStreaming, by = client) => by.responses.create(body)
    const hello = () => `Hello ${crypto.randomUUID()}`
    const NOT_FOUND = { status: 404, code: 'previous_response_not_found', param: 'previous_response_id' }

    test.each(draw(MODELS))(
      '%s: earlier turns count among the input tokens, for the key that requested them',
      async model => {
        const one = await create({ model, input: 'word '.repeat(300) })
        const [item] = one.output
        const count = async (more: object, by = client) =>
          (await by.responses.inputTokens.count({ model, input: 'And?', ...more })).input_tokens
        const alone = await count({})
        const byId = await count({ previous_response_id: one.id })
        expect(byId - alone).toBeGreaterThan(300)
        const byItem = await count({
          input: [
            { type: 'item_reference', id: item?.id },
            { role: 'user', content: 'And?' },
          ],
        })
        expect([byItem > alone, byItem < byId]).toEqual([true, true])
        const stranger = await connect()
        await expect(count({ previous_response_id: one.id }, stranger)).rejects.toMatchObject(NOT_FOUND)
      },
    )

    test.each(draw(MODELS))('%s continues by previous_response_id, plain and streamed', async model => {
      const [first, second, third] = [hello(), hello(), hello()]
      const one = await create({ model, input: first })
      expect(one).toMatchObject({ store: true })
      const two = await client.responses.stream({ model, input: second, previous_response_id: one.id }).finalResponse()
      expect(two.previous_response_id).toBe(one.id)
      const three = await create({ model, input: [{ role: 'user', content: third }], previous_response_id: two.id })
      for (const text of [first, one.output_text, second, two.output_text, third]) {
        expect(lastAsked(model)).toContain(JSON.stringify(text).slice(1, -1))
      }
      const listed = await client.responses.inputItems.list(three.id, { order: 'asc' })
      expect(listed.data.map(item => JSON.stringify(item))).toMatchObject(
        [first, second, third].map(text => expect.stringContaining(text)),
      )
      const page = await client.responses.inputItems.list(three.id, { limit: 1 })
      expect([JSON.stringify(page.data), page.hasNextPage()]).toMatchObject([expect.stringContaining(third), true])
      expect(JSON.stringify((await page.getNextPage()).data)).toContain(second)
    })

    test.each(draw(MODELS))('%s resolves the items of earlier responses by their ids', async model => {
      const input = hello()
      const one = await client.responses.stream({ model, input }).finalResponse()
      const [item] = one.output.filter(({ type }) => type === 'message')
      const named = { type: 'item_reference' as const, id: String(item?.id) }
      const params = {
        model,
        input: [{ role: 'user' as const, content: input }, named, { role: 'user' as const, content: 'And?' }],
      }
      const { response } = await client.responses.create(params).withResponse()
      expect(lastAsked(model)).toContain(JSON.stringify(one.output_text).slice(1, -1))
      expect(response.headers.get('x-proxy-cache')).toBe('MISS')
      const again = await client.responses.create(params).withResponse()
      expect(again.response.headers.get('x-proxy-cache')).toBe('HIT')
    })

    test('a hit is stored for the key that it was served to, streamed too', async () => {
      const body = { model: MODELS[0], input: hello() }
      const one = await create(body)
      for (const how of ['plain', 'streamed']) {
        const other = await connect()
        const hit = how === 'plain' ? await create(body, other) : await other.responses.stream(body).finalResponse()
        expect(hit.id).toBe(one.id)
        expect(await other.responses.retrieve(hit.id)).toMatchObject({ id: one.id, output: one.output })
        await create({ model: MODELS[0], input: 'On.', previous_response_id: hit.id }, other)
        expect(lastAsked(MODELS[0])).toContain(body.input)
      }
    })

    test('a request that joins a call stores its response, too', async () => {
      const body = { model: MODELS[0], input: hello() }
      const other = await connect()
      upstreams.aggregator.scriptOnce({ kind: 'answer', content: 'Slowly said.', firstByteDelayMs: 2_000 })
      const [mine, theirs] = await Promise.all([create(body), other.responses.stream(body).finalResponse()])
      expect(theirs.id).toBe(mine.id)
      for (const by of [client, other]) expect((await by.responses.retrieve(mine.id)).id).toBe(mine.id)
    })

    test('ids of another key and another project are not found', async () => {
      const one = await create({ model: MODELS[0], input: hello() })
      const item = one.output[0]?.id ?? ''
      for (const by of [await connect(), await connect(`p-${crypto.randomUUID()}`)]) {
        const params = { model: MODELS[0], input: 'And?' }
        await expect(create({ ...params, previous_response_id: one.id }, by)).rejects.toMatchObject(NOT_FOUND)
        const input = [{ type: 'item_reference' as const, id: item }]
        await expect(create({ ...params, input }, by)).rejects.toMatchObject({ status: 404, param: 'input[0].id' })
        await expect(by.responses.retrieve(one.id)).rejects.toMatchObject({ status: 404 })
        await expect(by.responses.inputItems.list(one.id)).rejects.toMatchObject({ status: 404 })
        await expect(by.responses.delete(one.id)).rejects.toMatchObject({ status: 404 })
      }
      expect((await client.responses.retrieve(one.id)).id).toBe(one.id)
      expect(upstreams.aggregator.requests).toHaveLength(1)
    })

    test('stores nothing with store: false', async () => {
      const one = await create({ model: MODELS[0], input: hello(), store: false })
      expect(one).toMatchObject({ store: false })
      await expect(client.responses.retrieve(one.id)).rejects.toMatchObject({ status: 404 })
      const params = { model: MODELS[0], input: 'And?', previous_response_id: one.id }
      await expect(create(params)).rejects.toMatchObject(NOT_FOUND)
      expect(await proxy.query(`select from stored_responses where id = '${one.id}'`)).toHaveLength(0)
    })

    test('a deleted response is gone, and no longer a hit', async () => {
      const body = { model: MODELS[0], input: hello() }
      const one = await create(body)
      const two = await create({ ...body, previous_response_id: one.id })
      await client.responses.delete(one.id)
      await expect(client.responses.retrieve(one.id)).rejects.toMatchObject({ status: 404 })
      await expect(create({ ...body, previous_response_id: two.id })).rejects.toMatchObject(NOT_FOUND)
      expect((await create(body)).id).not.toBe(one.id)
    })

    test('an expired response is not found, and deleted', async () => {
      const one = await create({ model: MODELS[0], input: hello() })
      await proxy.query(`update stored_responses set expires_at = now() - interval '1 hour' where id = '${one.id}'`)
      await expect(client.responses.retrieve(one.id)).rejects.toMatchObject({ status: 404 })
      expect(await proxy.query('select delete_expired_stored_responses(1) as deleted')).toEqual([{ deleted: 1 }])
    })

    test('a conversation continues with a model of OpenAI', async () => {
      const input = hello()
      const one = await create({ model: MODELS[1], input })
      await create({ model: 'gpt-5-mini', input: 'And you?', previous_response_id: one.id })
      expect(upstreams.openai.requests.at(-1)?.body).not.toHaveProperty('previous_response_id')
      expect(JSON.stringify(upstreams.openai.requests.at(-1)?.body)).toContain(input)
    })

    test('reasoning continues with its signature, by reference', async () => {
      const model = 'claude-haiku-4-5'
      const thinking = { type: 'thinking' as const, thinking: 'Hm.', signature: 'c2ln' }
      const call = {
        type: 'tool_use' as const,
        id: 'toolu_1',
        name: 'look',
        input: {},
        caller: { type: 'direct' as const },
      }
      const tools = [
        { type: 'function' as const, name: 'look', parameters: { type: 'object', properties: {} }, strict: false },
      ]
      upstreams.anthropic.scriptOnce({ kind: 'answer', content: [thinking, call] })
      const one = await client.responses
        .stream({ model, input: hello(), tools, reasoning: { effort: 'low' } })
        .finalResponse()
      expect(one.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call'])
      const output = [{ type: 'function_call_output' as const, call_id: 'toolu_1', output: 'Sunny' }]
      await create({ model, tools, input: output, previous_response_id: one.id, reasoning: { effort: 'low' } }).catch(
        () => {},
      )
      expect(lastAsked(model)).toContain(JSON.stringify(thinking).slice(1, -1))
    })

    test('a database failure while a response is stored leaves the response unchanged', async () => {
      await proxy.query(`alter table stored_responses add constraint none check (id = '') not valid`)
      try {
        expect((await create({ model: MODELS[0], input: hello() })).status).toBe('completed')
      } finally {
        await proxy.query('alter table stored_responses drop constraint none')
      }
    })
  })
})
