/**
 * Tool loops of two calls with vendors that require all fields of their messages and calls to come back, at every endpoint, with each
 * client's own methods.
 */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { type FunctionCall, GoogleGenAI, type PartListUnion } from '@google/genai'
import { Agent, tool as agentTool, OpenAIProvider, Runner } from '@openai/agents'
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { beforeEach, expect, test } from 'vitest'
import { createChatAssembler } from '../../src/formats/chat/assemble-chat.ts'
import { FINAL_TEXT, STRICT_VENDORS, strictVendorScript, TOOL } from '../fake-provider/strict-vendors.ts'
import { describeOnce } from '../harness/backends.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const SCHEMA = { type: 'object' as const, properties: { at: { type: 'string' as const } } }
const RESULT = 'Blue.'
const HOW = ['plain', 'streamed'] as const
const VENDORS = STRICT_VENDORS.flatMap(({ name, model }) => HOW.map(how => [name, how, model] as const))

describeOnce('provider extras of a message return to the provider', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let apiKey: string
  let openai: OpenAI
  let anthropic: Anthropic
  let question: string

  beforeEach(async () => {
    upstreams.reset()
    upstreams.aggregator.script(strictVendorScript())
    apiKey = await proxy.createKey({ project: `p-${crypto.randomUUID()}`, type: 'project' })
    openai = new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
    anthropic = new Anthropic({ baseURL: proxy.rootUrl, apiKey, maxRetries: 0 })
    question = `What colour is it? ${crypto.randomUUID()}`
  })

  /** The provider received three requests, so none was repeated. */
  function expectSteps(): void {
    expect(upstreams.aggregator.requests).toHaveLength(3)
  }

  test.each(draw(VENDORS))('%s at chat, %s', async (_, how, model) => {
    const tools = [{ type: 'function' as const, function: { name: TOOL, parameters: SCHEMA } }]
    const messages: object[] = [{ role: 'user', content: question }]
    for (let step = 0; step < 3; step++) {
      const answer = await fetch(`${proxy.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ model, tools, messages, stream: how === 'streamed' }),
      })
      const text = await answer.text()
      expect(answer.status, text).toBe(200)
      const assembler = createChatAssembler()
      for (const line of text.split('\n')) if (line.startsWith('data: ')) assembler.push(line.slice(6))
      const { choices } = (how === 'plain' ? JSON.parse(text) : assembler.finish().body) as OpenAI.ChatCompletion
      const message = choices[0]?.message
      messages.push(message ?? {})
      const calls = message?.tool_calls ?? []
      messages.push(...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: RESULT })))
      if (calls.length === 0) expect(message?.content).toBe(FINAL_TEXT)
    }
    expectSteps()
  })

  const tools = [{ type: 'function' as const, name: TOOL, parameters: SCHEMA, strict: false }]
  /** The ways in which a client continues a conversation. */
  const STATES = {
    'without storing': { store: false },
    'without storing, with encrypted reasoning': { store: false, include: ['reasoning.encrypted_content' as const] },
    'with all items, stored': {},
    'by the previous response id': { previous: true },
    'by item ids': { references: true },
    'with only the calls, stored': { bare: true },
  }

  test.each(
    draw(VENDORS.flatMap(([name, how, model]) => Object.keys(STATES).map(state => [name, how, state, model] as const))),
  )('%s at /v1/responses, %s, %s', async (_, how, state, model) => {
    const { previous, references, bare, ...fields } = STATES[state as keyof typeof STATES] as {
      previous?: boolean
      bare?: boolean
      references?: boolean
    }
    const input: ResponseInput = [{ role: 'user', content: question }]
    let before: string | null = null
    let text = ''
    let own: ResponseInput = input
    for (let step = 0; step < 3; step++) {
      const params: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
        ...{ model, tools, ...fields },
        input: previous ? own : input,
        previous_response_id: before,
      }
      const response: OpenAI.Responses.Response =
        how === 'plain'
          ? await openai.responses.create(params)
          : await openai.responses.stream(params as Parameters<typeof openai.responses.stream>[0]).finalResponse()
      text = response.output_text
      if (previous) before = response.id
      const items = references
        ? response.output.map(({ id }) => ({ type: 'item_reference' as const, id: String(id) }))
        : response.output.filter(({ type }) => !bare || type !== 'reasoning')
      const calls = response.output.filter(
        ({ type }) => type === 'function_call',
      ) as OpenAI.Responses.ResponseFunctionToolCall[]
      own = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: RESULT }))
      input.push(...(items as ResponseInput), ...own)
    }
    expect(text).toBe(FINAL_TEXT)
    expectSteps()
  })

  test.each([
    ['another of the aggregator’s', 'openai/gpt-4o-mini', ''],
    ['OpenAI’s', 'gpt-5-mini', ''],
    ['Claude', 'claude-haiku-4-5', ''],
    ['a Llama', 'llama-3.3-70b-versatile', ''],
    ['OpenAI’s, after a long input', 'gpt-5-mini', 'x'.repeat(300_000)],
    ['Claude, after a long input', 'claude-haiku-4-5', 'x'.repeat(300_000)],
  ])('are not sent to %s, at any endpoint', async (_, other, much) => {
    const project = `p-${crypto.randomUUID()}`
    const own = await proxy.createKey({ project, type: 'project' })
    for (const vendor of ['openai', 'anthropic', 'groq'] as const)
      await storeKey(proxy.stores, project, vendor, 'sk-own')
    const at = { apiKey: own, maxRetries: 0 }
    const { model } = STRICT_VENDORS[0] ?? { model: '' }
    const responses = new OpenAI({ ...at, baseURL: proxy.baseUrl }).responses
    const input: ResponseInput = [{ role: 'user', content: question + much }]
    const { output } = await responses.create({ model, tools, input, store: false })
    expect(JSON.stringify(output)).toContain('"mp1.')
    const result = (id: unknown) => ({ type: 'function_call_output' as const, call_id: String(id), output: RESULT })
    const call = output.find(({ type }) => type === 'function_call') as OpenAI.Responses.ResponseFunctionToolCall
    input.push(...(output as ResponseInput), result(call.call_id))
    await responses.create({ model: other, tools, input, store: false })
    const messages = new Anthropic({ ...at, baseURL: proxy.rootUrl }).messages
    const params = { max_tokens: 500, tools: [{ name: TOOL, input_schema: SCHEMA }] }
    const turns: Anthropic.MessageParam[] = [{ role: 'user', content: question + much }]
    const { content } = await messages.create({ ...params, model, messages: turns })
    expect(JSON.stringify(content)).toContain('"mp1.')
    const use = content.find(({ type }) => type === 'tool_use') as Anthropic.ToolUseBlock
    turns.push({ role: 'assistant', content })
    turns.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: RESULT }] })
    await messages.create({ ...params, model: other, messages: turns })
    const all = [upstreams.aggregator, upstreams.openai, upstreams.anthropic, upstreams.groq].flatMap(each =>
      each.requests.filter(({ body }) => (body as { model?: string })?.model === other),
    )
    expect(all).toHaveLength(2)
    for (const { bodyText } of all) {
      expect(bodyText).not.toContain('mp1.')
      expect(bodyText).not.toContain('reasoning_content')
      expect(bodyText).toContain(RESULT)
    }
  })

  test.each(['fields that it has written itself', 'whatever it is asked'])('a vendor that rejects %s', async what => {
    const { model, message } = STRICT_VENDORS[0] ?? { model: '', message: () => ({}) }
    upstreams.aggregator.script(({ body }) => {
      const { messages } = body as { messages: Record<string, unknown>[] }
      const isFirst = messages.length === 1
      const refuses = what.startsWith('whatever') ? !isFirst : messages.some(each => 'reasoning_content' in each)
      if (refuses)
        return {
          kind: 'error',
          status: 400,
          message: what.startsWith('what') ? 'No.' : "property 'reasoning_content' is unsupported",
        }
      const choices = [{ index: 0, message: message(isFirst ? 0 : 2, 'call_1'), finish_reason: 'stop' }]
      const parts = [JSON.stringify({ id: crypto.randomUUID(), model, choices })]
      return { kind: 'raw', headers: { 'content-type': 'application/json' }, parts }
    })
    const input: ResponseInput = [{ role: 'user', content: question }]
    const { output } = await openai.responses.create({ model, tools, input })
    input.push(...(output as ResponseInput), { type: 'function_call_output', call_id: 'call_1', output: RESULT })
    const response = openai.responses.create({ model, tools, input })
    if (what.startsWith('whatever')) await expect(response).rejects.toThrow('400')
    else expect((await response).output_text).toBe(FINAL_TEXT)
    // The request is sent unchanged; if the error names the provider extras, it is sent again without them.
    expect(upstreams.aggregator.requests).toHaveLength(what.startsWith('whatever') ? 2 : 3)
  })

  test.each(draw(VENDORS))('%s at Gemini’s API, %s', async (_, how, model) => {
    const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: proxy.rootUrl } })
    const tools = [{ functionDeclarations: [{ name: TOOL, parametersJsonSchema: SCHEMA }] }]
    const chat = google.chats.create({ model, config: { tools } })
    let message: PartListUnion = question
    let text = ''
    for (let step = 0; step < 3; step++) {
      const calls: FunctionCall[] = []
      const chunks = how === 'plain' ? [await chat.sendMessage({ message })] : await chat.sendMessageStream({ message })
      text = ''
      for await (const chunk of chunks) {
        for (const part of chunk.candidates?.[0]?.content?.parts ?? []) text += part.text ?? ''
        calls.push(...(chunk.functionCalls ?? []))
      }
      // Clients may omit the id.
      message = calls.map(({ name = '', id = '' }) => ({
        functionResponse: { name, ...(step === 0 && { id }), response: { output: RESULT } },
      }))
    }
    expect(text).toBe(FINAL_TEXT)
    expectSteps()
  })

  test.each(draw(VENDORS))('%s at /v1/messages, %s', async (_, how, model) => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
    let content: Anthropic.ContentBlock[] = []
    for (let step = 0; step < 3; step++) {
      const params = { model, max_tokens: 500, messages, tools: [{ name: TOOL, input_schema: SCHEMA }] }
      const message =
        how === 'plain'
          ? await anthropic.messages.create(params)
          : await anthropic.messages.stream(params).finalMessage()
      content = message.content
      const uses = content.filter(block => block.type === 'tool_use')
      messages.push({ role: 'assistant', content })
      const results = uses.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: RESULT }))
      messages.push({ role: 'user', content: results })
    }
    expect(content).toContainEqual(expect.objectContaining({ type: 'text', text: FINAL_TEXT }))
    expectSteps()
  })

  test.each(
    draw(
      VENDORS.flatMap(([name, how, model]) =>
        (['OpenAI', 'Anthropic'] as const).map(of => [name, how, of, model] as const),
      ),
    ),
  )('%s by the AI SDK, %s, with its package for %s', async (_, how, of, model) => {
    const at = { baseURL: proxy.baseUrl, apiKey }
    const params = {
      model: (of === 'OpenAI' ? createOpenAI(at)(model) : createAnthropic(at)(model)) as LanguageModel,
      prompt: question,
      maxRetries: 0,
      stopWhen: stepCountIs(5),
      tools: {
        [TOOL]: tool({ description: 'Looks.', inputSchema: jsonSchema(SCHEMA), execute: async () => RESULT }),
      },
    }
    const text = how === 'plain' ? (await generateText(params)).text : await streamText(params).text
    expect(text).toBe(FINAL_TEXT)
    expectSteps()
  })

  test.each(draw(VENDORS))('%s by an agent of OpenAI’s SDK, %s', async (_, how, model) => {
    const provider = new OpenAIProvider({ openAIClient: openai as never, useResponses: true })
    const runner = new Runner({ modelProvider: provider, tracingDisabled: true })
    const parameters = { ...SCHEMA, required: [], additionalProperties: true as const }
    const look = agentTool({ name: TOOL, description: 'Looks.', parameters, strict: false, execute: () => RESULT })
    const agent = new Agent({ name: 'a', instructions: 'Look.', model, tools: [look] })
    if (how === 'plain') expect((await runner.run(agent, question)).finalOutput).toBe(FINAL_TEXT)
    else {
      const result = await runner.run(agent, question, { stream: true })
      await result.completed
      expect(result.finalOutput).toBe(FINAL_TEXT)
    }
    expectSteps()
  })

  test.each(draw(VENDORS))('%s by Anthropic’s tool runner, %s', async (_, how, model) => {
    const look = betaTool({ name: TOOL, description: 'Looks.', inputSchema: SCHEMA, run: () => RESULT })
    const params = { model, max_tokens: 500, messages: [{ role: 'user' as const, content: question }], tools: [look] }
    const last =
      how === 'plain'
        ? await anthropic.beta.messages.toolRunner(params)
        : await anthropic.beta.messages.toolRunner({ ...params, stream: true }).runUntilDone()
    expect(last.content).toContainEqual(expect.objectContaining({ type: 'text', text: FINAL_TEXT }))
    expectSteps()
  })
})
