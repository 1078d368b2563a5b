/** A response with reasoning and a call is the same live, plain and replayed, field by field, at both translated endpoints. */
import Anthropic from '@anthropic-ai/sdk'
import type { ContentBlock } from '@anthropic-ai/sdk/resources/messages'
import OpenAI from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const THOUGHT = 'Let me look at the sky first.'
const SAID = 'I look it up.'
const thought = (thinking: string, signature: string): ContentBlock => ({ type: 'thinking', thinking, signature })
const look = (id: string): ContentBlock => {
  return { type: 'tool_use', id, name: 'look', input: { at: 'sky' }, caller: { type: 'direct' } }
}
const SAYS: ContentBlock = { type: 'text', text: SAID, citations: null }
/** Content of Claude's responses. */
const CONTENTS: Record<string, ContentBlock[]> = {
  'one thought': [thought(THOUGHT, 'c2ln'), SAYS, look('toolu_1')],
  'a thought before each step': [thought(THOUGHT, 'c2ln'), SAYS, thought('So.', 'c2lnMg'), look('toolu_1')],
  'thoughts between calls, without text': [
    thought('', 'c2ln'),
    look('toolu_1'),
    thought('', 'c2lnMg'),
    look('toolu_2'),
  ],
  'a thought that is hidden': [{ type: 'redacted_thinking', data: 'aGlk' }, thought(THOUGHT, 'c2ln'), SAYS],
}
const DETAILS = [{ type: 'reasoning.text', text: THOUGHT, signature: 'c2ln', index: 0 }]

describeOnce('a response', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))

  function script(model: string, content: ContentBlock[]): void {
    if (model.startsWith('claude')) {
      upstreams.anthropic.scriptOnce({ kind: 'answer', content })
      return
    }
    const fakeProvider = model.includes('/') ? upstreams.aggregator : upstreams.groq
    const messageFields = model.includes('/') ? { reasoning_details: DETAILS } : {}
    const toolCalls = [{ id: 'call_1', name: 'look', arguments: { at: 'sky' } }]
    fakeProvider.scriptOnce({ kind: 'answer', content: SAID, reasoning: THOUGHT, toolCalls, messageFields })
  }

  /** Removes fields that differ between two calls of a provider. */
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

  const MODELS = [
    ['openai/gpt-4o-mini', undefined],
    ['llama-3.3-70b-versatile', undefined],
    ...Object.keys(CONTENTS).map(name => ['claude-haiku-4-5', name] as const),
  ] as const

  async function connect() {
    const project = `p-${crypto.randomUUID()}`
    const apiKey = await proxy.createKey({ project, type: 'project' })
    for (const provider of ['openai', 'anthropic', 'groq'] as const)
      await storeKey(proxy.stores, project, provider, 'sk-own')
    const openai = new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
    const anthropic = new Anthropic({ baseURL: proxy.rootUrl, apiKey, maxRetries: 0 })
    return { openai, anthropic }
  }

  test.each(
    MODELS.flatMap(([model, content]) => [
      [model, 'responses', content] as const,
      [model, 'messages', content] as const,
    ]),
  )('of %s at %s: %s', async (model, door, content) => {
    const { openai, anthropic } = await connect()
    const prompt = `Hello ${crypto.randomUUID()}`
    const schema = { type: 'object' as const, properties: {} }
    const responses = {
      model,
      input: prompt,
      tools: [{ type: 'function' as const, name: 'look', parameters: schema, strict: false }],
    }
    const messages = {
      model,
      max_tokens: 500,
      messages: [{ role: 'user' as const, content: prompt }],
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
    const blocks = CONTENTS[content ?? 'one thought'] ?? []
    script(model, blocks)
    const alone = comparable(await plain({ 'cache-control': 'no-store' }))
    script(model, blocks)
    const live = comparable(await streamed())
    const replayed = comparable(await streamed())
    expect(live).toEqual(alone)
    expect(replayed).toEqual(alone)
    expect(comparable(await plain({}))).toEqual(alone)
    const isProved = !model.startsWith('llama') && !(door === 'messages' && model.startsWith('claude'))
    if (isProved) expect(JSON.stringify(alone)).toContain('"mp1.')
    const parts = content === undefined ? [THOUGHT, SAID, 'sky'] : blocks.flatMap(block => tellingPart(block))
    for (const part of parts) expect(JSON.stringify(alone)).toContain(part)
  })

  /** Returns the parts of a block that a client sees at either endpoint. */
  function tellingPart(block: ContentBlock): string[] {
    if (block.type === 'text') return [block.text]
    if (block.type === 'thinking') return [JSON.stringify(block.thinking).slice(1, -1)]
    return block.type === 'tool_use' ? ['sky'] : []
  }

  const piece = (detail: object) => ({ reasoning_details: [{ type: 'reasoning.text', index: 0, ...detail }] })
  const CALL = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } }
  const OPENING = { role: 'assistant', content: '' }
  const SIGNATURE = { signature: 'c2ln' }
  const THINKS = { reasoning: THOUGHT, ...piece({ text: THOUGHT }) }
  const THINKS_AGAIN = [
    { reasoning: 'So.', ...piece({ index: 1, text: 'So.' }) },
    piece({ index: 1, signature: 'c2lnMg' }),
  ]
  const STEPS = { content: SAID }
  const LOOKS = { tool_calls: [CALL] }

  test.each(
    [
      ['before the text', [OPENING, THINKS, piece(SIGNATURE), STEPS, LOOKS], 1],
      ['after the text', [OPENING, THINKS, STEPS, piece(SIGNATURE), LOOKS], 1],
      ['after the call', [OPENING, THINKS, STEPS, LOOKS, piece(SIGNATURE)], 1],
      ['of two thoughts', [OPENING, THINKS, piece(SIGNATURE), STEPS, ...THINKS_AGAIN, LOOKS], 2],
    ].flatMap(([where, deltas, count]) =>
      (['responses', 'messages'] as const).map(door => [where, door, deltas as object[], count as number] as const),
    ),
  )(
    'with reasoning signed %s has the same signature from the cache, and is sent back whole, at %s',
    async (_, door, deltas, count) => {
      const { openai, anthropic } = await connect()
      const model = 'anthropic/claude-sonnet-4.5'
      const chunk = (choice: object) =>
        `data: ${JSON.stringify({ id: 'gen-1', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, ...choice }] })}\n\n`
      const chunks = [...deltas.map(delta => chunk({ delta })), chunk({ delta: {}, finish_reason: 'tool_calls' })]
      const headers = { 'content-type': 'text/event-stream' }
      upstreams.aggregator.scriptOnce({ kind: 'raw', headers, parts: [...chunks, 'data: [DONE]\n\n'] })
      const question = { role: 'user' as const, content: `Hello ${crypto.randomUUID()}` }
      const schema = { type: 'object' as const, properties: {} }
      if (door === 'responses') {
        const params = {
          model,
          tools: [{ type: 'function' as const, name: 'look', parameters: schema, strict: false }],
        }
        const live = await openai.responses.stream({ ...params, input: [question] }).finalResponse()
        const replayed = await openai.responses.stream({ ...params, input: [question] }).finalResponse()
        expect(comparable(replayed)).toEqual(comparable(live))
        expect(comparable(await openai.responses.create({ ...params, input: [question] }))).toEqual(comparable(live))
        const thoughts = live.output.filter(item => item.type === 'reasoning')
        expect(thoughts.map(item => typeof item.encrypted_content)).toEqual(Array(count).fill('string'))
        const result = { type: 'function_call_output' as const, call_id: 'call_1', output: 'Blue.' }
        await openai.responses.create({ ...params, input: [question, ...live.output, result] as ResponseInput })
      } else {
        const params = { model, max_tokens: 500, tools: [{ name: 'look', input_schema: schema }] }
        const live = await anthropic.messages.stream({ ...params, messages: [question] }).finalMessage()
        const replayed = await anthropic.messages.stream({ ...params, messages: [question] }).finalMessage()
        expect(comparable(replayed)).toEqual(comparable(live))
        expect(comparable(await anthropic.messages.create({ ...params, messages: [question] }))).toEqual(
          comparable(live),
        )
        const result = { type: 'tool_result' as const, tool_use_id: 'call_1', content: 'Blue.' }
        await anthropic.messages.create({
          ...params,
          messages: [question, { role: 'assistant', content: live.content }, { role: 'user', content: [result] }],
        })
      }
      const { messages } = (upstreams.aggregator.requests.at(-1)?.body ?? {}) as { messages: Record<string, unknown>[] }
      const expected = [
        { type: 'reasoning.text', index: 0, text: THOUGHT, signature: 'c2ln' },
        { type: 'reasoning.text', index: 1, text: 'So.', signature: 'c2lnMg' },
      ]
      expect(messages.flatMap(({ reasoning_details }) => reasoning_details ?? [])).toEqual(expected.slice(0, count))
    },
  )
})
