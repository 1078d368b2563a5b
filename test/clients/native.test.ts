/** Native requests with a shared provider key, with each client's own methods: tool loops, second turns, background responses. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { Agent, tool as agentTool, OpenAIProvider, Runner } from '@openai/agents'
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import type { Response, ResponseInput } from 'openai/resources/responses/responses'
import { beforeEach, describe, expect, test } from 'vitest'
import { messagesFormat } from '../../src/formats/messages/messages-format.ts'
import type { JsonObject, Scenario } from '../fake-provider/scenario.ts'
import type { Script } from '../fake-provider/server.ts'
import { FINAL_TEXT, strictVendorScript, TOOL } from '../fake-provider/strict-vendors.ts'
import { describeOnce } from '../harness/backends.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { type ProxyOptions, startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const MODEL = 'openai/gpt-5-mini'
const SCHEMA = { type: 'object' as const, properties: { at: { type: 'string' as const } } }
const HOW = ['plain', 'streamed'] as const

/**
 * Reasons, calls a tool and then responds, as OpenRouter's Responses API does with OpenAI's models. It stores nothing. It rejects a call
 * without the reasoning before it, reasoning without its encrypted content, and references to stored items. At chat, it requires all fields
 * to come back.
 */
function think(): Script {
  let serial = 0
  const atChat = strictVendorScript()
  return request => {
    const { method, path, body } = request
    if (method !== 'POST' || !path.endsWith('/responses')) return atChat(request)
    const { input, previous_response_id: previous } = body as JsonObject
    const items = Array.isArray(input) ? (input as JsonObject[]) : []
    const isStrange = ({ type, encrypted_content: proof, id }: JsonObject, index: number) => {
      if (type === 'function_call') return items[index - 1]?.type !== 'reasoning'
      if (type === 'reasoning') return !String(proof).startsWith(`proof of ${id}`)
      return type === 'item_reference'
    }
    if ((previous ?? null) !== null || items.some(isStrange))
      return { kind: 'error', status: 400, message: 'Unknown item.' }
    const one = `${++serial}${crypto.randomUUID().slice(0, 8)}`
    const reasoning = { id: `rs_${one}`, type: 'reasoning', summary: [], encrypted_content: `proof of rs_${one}` }
    const call = {
      id: `fc_${one}`,
      type: 'function_call',
      status: 'completed',
      call_id: `call_${one}`,
      name: TOOL,
      arguments: '{}',
    }
    const text = { type: 'output_text', text: FINAL_TEXT, annotations: [], logprobs: [] }
    const message = { id: `msg_${one}`, type: 'message', role: 'assistant', status: 'completed', content: [text] }
    const isLast = items.at(-1)?.type === 'function_call_output'
    return { kind: 'answer', fields: { id: `gen-${one}`, output: [reasoning, isLast ? message : call] } } as Scenario
  }
}

/** Behaves likewise as Anthropic's API. It rejects threads. */
function thinkInMessages(): Script {
  const atChat = strictVendorScript()
  return request => {
    const { path, body } = request
    if (path.endsWith('/count_tokens')) return { kind: 'error', status: 404 }
    if (!path.endsWith('/messages')) return atChat(request)
    const { messages, stream, thread, model } = body as JsonObject
    const blocks = (messages as { content: unknown }[]).flatMap(({ content }) =>
      Array.isArray(content) ? (content as JsonObject[]) : [],
    )
    const isStrange =
      (thread ?? null) !== null ||
      blocks.some(({ type }, i) => type === 'tool_use' && blocks[i - 1]?.type !== 'thinking')
    if (isStrange) return { kind: 'error', status: 400, message: 'thread: Extra inputs are not permitted' }
    const one = crypto.randomUUID().slice(0, 8)
    const calls = blocks.filter(({ type }) => type === 'tool_use').length
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: `signed ${one}` },
      calls < 2 ? { type: 'tool_use', id: `toolu_${one}`, name: TOOL, input: {} } : { type: 'text', text: FINAL_TEXT },
    ]
    const usage = { input_tokens: 9, output_tokens: 9 }
    const end = { stop_reason: calls < 2 ? 'tool_use' : 'end_turn', stop_sequence: null, usage }
    const message = { id: `msg_${one}`, type: 'message', role: 'assistant', model, content, ...end }
    const parts = stream === true ? [messagesFormat.replay(message, true)] : [JSON.stringify(message)]
    const headers = { 'content-type': stream === true ? 'text/event-stream' : 'application/json' }
    return {
      kind: 'raw',
      headers,
      parts: parts.map(part => (typeof part === 'string' ? part : new TextDecoder().decode(part))),
    }
  }
}

describe.each(['chat', 'all'])('with an aggregator that supports %s', speaks => {
  describeOnce('a conversation continues', backend => {
    const upstreams = duringTests(startUpstreams)
    const proxy = duringTests(() =>
      startProxy({ stores: backend.open(), environment: { ...upstreams.environment, AGGREGATOR_SPEAKS: speaks } }),
    )
    let project: string
    let apiKey: string
    let client: OpenAI
    let question: string

    beforeEach(async () => {
      upstreams.reset()
      upstreams.aggregator.script(think())
      project = `p-${crypto.randomUUID()}`
      apiKey = await proxy.createKey({ project, type: 'project' })
      client = new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
      question = `What colour is it? ${crypto.randomUUID()}`
    })

    const tools = [{ type: 'function' as const, name: TOOL, parameters: SCHEMA, strict: false }]
    const STATES = {
      'without storing': { store: false, include: ['reasoning.encrypted_content' as const] },
      'with all items, stored': {},
      'by the previous response id': { previous: true },
      'by item ids': { references: true },
      'with only the calls, stored': { bare: true },
    }

    test.each(draw(HOW.flatMap(how => Object.keys(STATES).map(state => [how, state] as const))))(
      '%s, %s',
      async (how, state) => {
        const { previous, references, bare, ...fields } = STATES[state as keyof typeof STATES] as {
          previous?: boolean
          bare?: boolean
          references?: boolean
        }
        const input: ResponseInput = [{ role: 'user', content: question }]
        let own: ResponseInput = input
        let before: string | null = null
        for (let step = 0; step < 4; step++) {
          const params: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
            ...{ model: MODEL, tools, ...fields },
            input: previous ? own : input,
            previous_response_id: before,
          }
          const response: Response =
            how === 'plain'
              ? await client.responses.create(params)
              : await client.responses.stream(params as Parameters<typeof client.responses.stream>[0]).finalResponse()
          expect(response.previous_response_id).toBe(before)
          if (previous) before = response.id
          const call = response.output.find(({ type }) => type === 'function_call') as { call_id?: string } | undefined
          own = call
            ? [{ type: 'function_call_output', call_id: String(call.call_id), output: 'Blue.' }]
            : [{ role: 'user', content: 'And now?' }]
          const items = references
            ? response.output.map(({ id }) => ({ type: 'item_reference' as const, id: String(id) }))
            : response.output.filter(({ type }) => !bare || type !== 'reasoning')
          input.push(...(items as ResponseInput), ...own)
        }
        expect(upstreams.aggregator.requests).toHaveLength(4)
        const last = upstreams.aggregator.requests.at(-1)?.bodyText
        expect(last).toContain(question)
        expect(last).toContain('And now?')
      },
    )

    test.each(draw(HOW))('with the AI SDK, two turns and their loops, %s', async how => {
      const messages: ModelMessage[] = []
      for (const content of [question, 'And now?']) {
        messages.push({ role: 'user', content })
        const params = {
          model: createOpenAI({ baseURL: proxy.baseUrl, apiKey })(MODEL),
          ...{ messages, maxRetries: 0, stopWhen: stepCountIs(5) },
          tools: {
            [TOOL]: tool({ description: 'Looks.', inputSchema: jsonSchema(SCHEMA), execute: async () => 'Blue.' }),
          },
        }
        const answer = how === 'plain' ? await generateText(params) : streamText(params)
        expect((await answer.text).length).toBeGreaterThan(5)
        messages.push(...(await answer.responseMessages))
      }
      expect(upstreams.aggregator.requests).toHaveLength(4)
    })

    test.each(draw(HOW))('with an agent of OpenAI’s SDK, two turns, %s', async how => {
      const provider = new OpenAIProvider({ openAIClient: client as never, useResponses: true })
      const runner = new Runner({ modelProvider: provider, tracingDisabled: true })
      const parameters = { ...SCHEMA, required: [], additionalProperties: true as const }
      const look = agentTool({ name: TOOL, description: 'Looks.', parameters, strict: false, execute: () => 'Blue.' })
      const agent = new Agent({ name: 'a', instructions: 'Look.', model: MODEL, tools: [look] })
      const run = async (input: Parameters<typeof runner.run>[1], previousResponseId?: string) => {
        const more = previousResponseId === undefined ? {} : { previousResponseId }
        if (how === 'plain') return runner.run(agent, input, more)
        const result = await runner.run(agent, input, { ...more, stream: true })
        await result.completed
        return result
      }
      const first = await run(question)
      expect(String(first.finalOutput).length).toBeGreaterThan(5)
      await run([...first.history, { role: 'user', content: 'And now?' }])
      await run('And by its id?', first.lastResponseId)
      expect(upstreams.aggregator.requests).toHaveLength(speaks === 'chat' ? 5 : 6)
      expect(upstreams.aggregator.requests.at(-1)?.bodyText).toContain(question)
    })

    test.each(draw(HOW))('at /v1/messages with Anthropic’s tool runner, and the AI SDK, %s', async how => {
      upstreams.aggregator.script(thinkInMessages())
      const anthropic = new Anthropic({ baseURL: proxy.rootUrl, apiKey, maxRetries: 0 })
      const look = betaTool({ name: TOOL, description: 'Looks.', inputSchema: SCHEMA, run: () => 'Blue.' })
      const params = {
        model: MODEL,
        max_tokens: 500,
        messages: [{ role: 'user' as const, content: question }],
        tools: [look],
      }
      const last =
        how === 'plain'
          ? await anthropic.beta.messages.toolRunner(params)
          : await anthropic.beta.messages.toolRunner({ ...params, stream: true }).runUntilDone()
      expect(last.content).toContainEqual(expect.objectContaining({ type: 'text', text: FINAL_TEXT }))
      const { input_tokens } = await anthropic.messages.countTokens({ model: MODEL, messages: params.messages })
      expect(input_tokens).toBeGreaterThan(3)
      const loop = {
        model: createAnthropic({ baseURL: proxy.baseUrl, apiKey })(MODEL),
        ...{ prompt: question, maxRetries: 0, stopWhen: stepCountIs(5) },
        tools: {
          [TOOL]: tool({ description: 'Looks.', inputSchema: jsonSchema(SCHEMA), execute: async () => 'Blue.' }),
        },
      }
      expect(how === 'plain' ? (await generateText(loop)).text : await streamText(loop).text).toBe(FINAL_TEXT)
    })

    test('omits reasoning that is no longer stored', async () => {
      const input = [
        { role: 'user' as const, content: question },
        { type: 'reasoning' as const, id: 'rs_elsewhere', summary: [{ type: 'summary_text' as const, text: 'Hm.' }] },
        { role: 'user' as const, content: 'Go on.' },
      ]
      expect((await client.responses.create({ model: MODEL, input })).status).toBe('completed')
      expect(upstreams.aggregator.requests.at(-1)?.bodyText).not.toContain('rs_elsewhere')
    })

    test('rejects a response id that does not exist or belongs to another project', async () => {
      const { id, output } = await client.responses.create({ model: MODEL, tools, input: question })
      const countBefore = upstreams.aggregator.requests.length
      for (const of of [project, `p-${crypto.randomUUID()}`]) {
        const other = new OpenAI({
          ...{ baseURL: proxy.baseUrl, maxRetries: 0 },
          apiKey: await proxy.createKey({ project: of, type: 'project' }),
        })
        const go = (more: object) => other.responses.create({ model: MODEL, input: 'On.', ...more })
        await expect(go({ previous_response_id: id })).rejects.toMatchObject({ status: 404 })
        const reference = { type: 'item_reference', id: output[0]?.id }
        await expect(go({ input: [reference] })).rejects.toMatchObject({ status: 404, param: 'input[0].id' })
        await expect(other.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
        await expect(other.responses.cancel(id)).rejects.toMatchObject({ status: 404 })
        await expect(other.responses.delete(id)).rejects.toMatchObject({ status: 404 })
        await expect(other.responses.inputItems.list(id)).rejects.toMatchObject({ status: 404 })
      }
      expect(upstreams.aggregator.requests).toHaveLength(countBefore)
      expect((await client.responses.retrieve(id)).output).toEqual(output)
      const events = await client.responses.retrieve(id, { stream: true })
      const types = []
      for await (const { type } of events) types.push(type)
      expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed'])
    })
  })
})

describeOnce('a background response under a shared key', backend => {
  const upstreams = duringTests(startUpstreams)
  let options: ProxyOptions
  const proxy = duringTests(async () => {
    const environment = { ...upstreams.environment, AGGREGATOR_SPEAKS: 'responses' }
    options = { stores: await backend.open(), environment }
    return startProxy(options)
  })
  let project: string
  let client: OpenAI
  let question: string

  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
    client = await connect(project)
    question = `What colour is it? ${crypto.randomUUID()}`
  })

  async function connect(of = `p-${crypto.randomUUID()}`): Promise<OpenAI> {
    const apiKey = await proxy.createKey({ project: of, type: 'project' })
    return new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
  }

  const start = (more: object = {}) =>
    client.responses.create({ model: MODEL, input: question, background: true, ...more } as {
      model: string
      input: string
    })
  const listRequests = () =>
    upstreams.aggregator.requests.map(({ method, path }) => `${method} ${path.replace('/v1', '')}`)

  test.each([{}, { store: false }])('is polled until it is complete %j', async more => {
    const { id, status } = await start(more)
    expect(status).toBe('queued')
    expect((await client.responses.retrieve(id)).status).toBe('in_progress')
    const whole = await client.responses.retrieve(id)
    expect([whole.status, whole.output_text]).toEqual(['completed', expect.stringContaining(question)])
    expect(await client.responses.retrieve(id)).toEqual(whole)
    // The completed response is stored, unless `store` is false.
    expect(listRequests().slice(1)).toEqual(Array(more.store === false ? 3 : 2).fill(`GET /responses/${id}`))
    const kept = JSON.stringify(await proxy.query(`select * from stored_responses where id = '${id}'`))
    expect(kept.includes(question)).toBe(more.store !== false)
    const stranger = await connect()
    await expect(stranger.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
  })

  test('is continued once it is complete, and deleted', async () => {
    const { id } = await start()
    const go = () => client.responses.create({ model: MODEL, input: 'And now?', previous_response_id: id })
    await expect(go()).rejects.toMatchObject({ status: 409 })
    expect((await go()).previous_response_id).toBe(id)
    const last = upstreams.aggregator.requests.at(-1)
    expect(JSON.stringify(last?.body)).toContain(question)
    expect(last?.body).not.toHaveProperty('previous_response_id')
    expect((await client.responses.inputItems.list(id)).data).toHaveLength(1)
    await client.responses.delete(id)
    expect(listRequests().at(-1)).toBe(`DELETE /responses/${id}`)
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
  })

  test('is streamed and left, then fetched', async () => {
    upstreams.aggregator.scriptOnce({ kind: 'answer', chunkPauseMs: 50 })
    const events = await client.responses.create({ model: MODEL, input: question, background: true, stream: true })
    let id = ''
    for await (const event of events) {
      if (event.type !== 'response.created') continue
      id = event.response.id
      break
    }
    expect((await client.responses.retrieve(id)).status).toBe('in_progress')
    expect((await client.responses.retrieve(id)).output_text).toContain(question)
  })

  test.each([true, false])('is streamed to its end, and then stored if allowed: %s', async store => {
    const asking = { model: MODEL, input: question, background: true, store }
    const { id, status } = await client.responses.stream(asking).finalResponse()
    expect(status).toBe('completed')
    expect(
      JSON.stringify(await proxy.query(`select * from stored_responses where id = '${id}'`)).includes(question),
    ).toBe(store)
    expect((await client.responses.retrieve(id)).id).toBe(id)
    expect(listRequests().slice(1)).toHaveLength(store ? 0 : 1)
  })

  test('costs what its provider reports in the end, whether or not a client fetches it', async () => {
    await start({ service_tier: 'default' })
    await proxy.settle()
    const readUsage = () =>
      proxy.query<{ estimated: string | null; usd: number }>(
        `select cost_estimated as estimated, cost_usd::float8 as usd from usage_records where project_id = find_project('${project}')`,
      )
    const [estimated] = await readUsage()
    expect(estimated?.estimated).toBe('not_reported')
    const following = await startProxy({ ...options, reconcileEveryMs: 100 })
    await waitUntil('the provider reported the usage', async () => (await readUsage())[0]?.estimated === null)
    await following.stop()
    expect((await readUsage())[0]?.usd).not.toBe(estimated?.usd)
  })

  test('is cancelled at its provider', async () => {
    const { id } = await start()
    const cancelled = JSON.stringify({ id, object: 'response', background: true, status: 'cancelled', output: [] })
    const raw: Scenario = { kind: 'raw', headers: { 'content-type': 'application/json' }, parts: [cancelled] }
    upstreams.aggregator.scriptOnce(raw)
    expect((await client.responses.cancel(id)).status).toBe('cancelled')
    // A second cancellation returns the result without a request to the provider.
    expect((await client.responses.cancel(id)).status).toBe('cancelled')
    expect(listRequests().slice(1)).toEqual([`POST /responses/${id}/cancel`])
    const { id: other } = await client.responses.create({ model: MODEL, input: question })
    await expect(client.responses.cancel(other)).rejects.toMatchObject({ status: 400 })
  })

  test('with a tool that its provider runs, is continued with what it created, and no other project can name it', async () => {
    const text = { type: 'output_text', text: 'Done.', annotations: [], logprobs: [] }
    const output = [
      { id: 'rs_kept', type: 'reasoning', summary: [] },
      {
        id: 'ci_1',
        type: 'code_interpreter_call',
        status: 'completed',
        code: '1',
        container_id: 'cntr_1',
        outputs: [],
      },
      { id: 'msg_kept', type: 'message', role: 'assistant', status: 'completed', content: [text] },
    ]
    upstreams.aggregator.scriptOnce({ kind: 'answer', fields: { id: `gen-${crypto.randomUUID()}`, output } })
    const { id } = await client.responses.create({ model: MODEL, input: question })
    const items = [{ role: 'user' as const, content: question }, ...(output as ResponseInput)]
    const go = (more: object, by = client) => by.responses.create({ model: MODEL, input: 'On.', ...more })
    await go({ previous_response_id: id })
    await go({ input: [...items, { role: 'user', content: 'On.' }] })
    const [, ...later] = upstreams.aggregator.requests
    for (const { bodyText } of later)
      for (const made of ['rs_kept', 'cntr_1', 'msg_kept']) expect(bodyText).toContain(made)
    const stranger = await connect()
    await expect(go({ input: items }, stranger)).rejects.toMatchObject({ status: 400, param: 'input[1].container_id' })
    expect(later).toHaveLength(2)
  })

  test('reveals nothing of an operator’s key that is rejected', async () => {
    const { id } = await start()
    upstreams.aggregator.scriptOnce({ kind: 'error', status: 401, message: 'Incorrect API key provided.' })
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 502 })
  })
})
