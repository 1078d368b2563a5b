/** An answer with thoughts and a call: live, plain and replayed it is the same, field by field, at both translated doors. */
import Anthropic from '@anthropic-ai/sdk'
import type { ContentBlock } from '@anthropic-ai/sdk/resources/messages'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnce, type Stores } from '../harness/backends.ts'
import { startUpstreams, storeKey, type Upstreams } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

const THOUGHT = 'Let me look at the sky first.'
const SAID = 'I look it up.'
const DETAILS = [{ type: 'reasoning.text', text: THOUGHT, signature: 'c2ln', index: 0 }]

describeOnce('an answer', backend => {
  let upstreams: Upstreams
  let stores: Stores
  let proxy: TestProxy

  beforeAll(async () => {
    upstreams = await startUpstreams()
    stores = await backend.open()
    proxy = await startProxy({ stores, environment: upstreams.environment })
  })
  afterAll(async () => {
    await proxy.stop()
    await upstreams.stop()
  })

  function script(model: string): void {
    if (model.startsWith('claude')) {
      const content = [
        { type: 'thinking', thinking: THOUGHT, signature: 'c2ln' },
        { type: 'text', text: SAID },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sky' }, caller: { type: 'direct' } },
      ] as ContentBlock[]
      upstreams.anthropic.scriptOnce({ kind: 'answer', content })
      return
    }
    const standin = model.includes('/') ? upstreams.aggregator : upstreams.groq
    const messageFields = model.includes('/') ? { reasoning_details: DETAILS } : {}
    const toolCalls = [{ id: 'call_1', name: 'look', arguments: { at: 'sky' } }]
    standin.scriptOnce({ kind: 'answer', content: SAID, reasoning: THOUGHT, toolCalls, messageFields })
  }

  /** Without what differs between two calls of a provider. */
  const comparable = (value: unknown) =>
    JSON.parse(
      JSON.stringify(value, (name, field) =>
        [
          'id',
          'created_at',
          'completed_at',
          '_request_id',
          'output_text',
          'parsed',
          'parsed_arguments',
          'parsed_output',
          'output_parsed',
        ].includes(name)
          ? undefined
          : field,
      ),
    )

  test.each(
    ['openai/gpt-4o-mini', 'claude-haiku-4-5', 'llama-3.3-70b-versatile'].flatMap(model => [
      [model, 'responses'] as const,
      [model, 'messages'] as const,
    ]),
  )('of %s at %s', async (model, door) => {
    const project = `p-${crypto.randomUUID()}`
    const apiKey = await proxy.createKey({ project, type: 'project' })
    for (const provider of ['openai', 'anthropic', 'groq'] as const) await storeKey(stores, project, provider, 'sk-own')
    const openai = new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
    const anthropic = new Anthropic({ baseURL: proxy.baseUrl.replace(/\/v1$/, ''), apiKey, maxRetries: 0 })
    const asked = `Hello ${crypto.randomUUID()}`
    const schema = { type: 'object' as const, properties: {} }
    const responses = {
      model,
      input: asked,
      tools: [{ type: 'function' as const, name: 'look', parameters: schema, strict: false }],
    }
    const messages = {
      model,
      max_tokens: 500,
      messages: [{ role: 'user' as const, content: asked }],
      tools: [{ name: 'look', input_schema: schema }],
    }
    const plain = (headers: Record<string, string>) =>
      door === 'responses'
        ? openai.responses.create(responses, { headers })
        : anthropic.messages.create(messages, { headers })
    const streamed = () =>
      door === 'responses'
        ? openai.responses.stream(responses).finalResponse()
        : anthropic.messages.stream(messages).finalMessage()
    script(model)
    const alone = comparable(await plain({ 'cache-control': 'no-store' }))
    script(model)
    const live = comparable(await streamed())
    const replayed = comparable(await streamed())
    expect(live).toEqual(alone)
    expect(replayed).toEqual(alone)
    expect(comparable(await plain({}))).toEqual(alone)
    const isProved = !model.startsWith('llama') && !(door === 'messages' && model.startsWith('claude'))
    if (isProved) expect(JSON.stringify(alone)).toContain('"mp1.')
    for (const part of [THOUGHT, SAID, 'sky']) expect(JSON.stringify(alone)).toContain(part)
  })
})
