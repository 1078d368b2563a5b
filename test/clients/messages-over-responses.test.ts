/** Clients of the Messages API with a model whose vendor has Responses: tool loops with encrypted reasoning, as Claude Code has them. */
import Anthropic from '@anthropic-ai/sdk'
import type { BetaMessageParam, MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/beta/messages'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createStrictOpenAi, FINAL_TEXT, type StrictOpenAi } from '../fake-provider/strict-openai.ts'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const HOW = ['plain', 'streamed'] as const
type JsonObject = Record<string, unknown>
const MARK = { cache_control: { type: 'ephemeral' as const } }
const LOOK = {
  name: 'look',
  description: 'Looks.',
  input_schema: { type: 'object' as const, properties: { at: { type: 'string' } } },
}

describeOnce('messages over Responses', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let openai: StrictOpenAi
  let client: Anthropic
  let question: string
  let project: string

  beforeEach(async () => {
    upstreams.reset()
    openai = createStrictOpenAi()
    upstreams.openai.script(openai.script)
    project = `p-${crypto.randomUUID()}`
    const apiKey = await proxy.createKey({ project, type: 'project' })
    for (const vendor of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, vendor, 'sk-own')
    client = new Anthropic({ baseURL: proxy.rootUrl, apiKey, maxRetries: 0 })
    question = `What colour is it? ${crypto.randomUUID()}`
  })

  /** The fields of Claude Code's requests. */
  function claudeCode(model: string, messages: BetaMessageParam[]): MessageCreateParamsNonStreaming {
    return {
      model,
      max_tokens: 16_000,
      betas: ['claude-code-20250219', 'interleaved-thinking-2025-05-14', 'context-management-2025-06-27'],
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1' },
        { type: 'text', text: 'You are Claude Code.', ...MARK },
      ],
      metadata: { user_id: `user_${'0'.repeat(64)}_account__session_${crypto.randomUUID()}` },
      thinking: { type: 'adaptive' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      output_config: { effort: 'medium' },
      tools: [{ ...LOOK, ...MARK }],
      messages,
    }
  }

  async function create(how: (typeof HOW)[number], params: MessageCreateParamsNonStreaming) {
    return how === 'plain'
      ? await client.beta.messages.create(params)
      : await client.beta.messages.stream(params).finalMessage()
  }

  function resultsOf(content: readonly { type: string; id?: string }[]): BetaMessageParam {
    const uses = content.filter(({ type }) => type === 'tool_use')
    const text = [{ type: 'text' as const, text: 'Blue.', ...MARK }]
    return {
      role: 'user',
      content: uses.map(({ id = '' }) => ({ type: 'tool_result' as const, tool_use_id: id, content: text })),
    }
  }

  const asTurn = (content: unknown): BetaMessageParam => ({
    role: 'assistant',
    content: JSON.parse(JSON.stringify(content, (key, value) => (key === 'parsed_output' ? undefined : value))),
  })

  const bodies = () => upstreams.openai.requests.map(({ body }) => body as JsonObject & { input: JsonObject[] })

  test.each(['gpt-5.4', 'gpt-5.6-codex'].flatMap(model => HOW.map(how => [model, how] as const)))(
    '%s in a loop of parallel calls, %s',
    async (model, how) => {
      const messages: BetaMessageParam[] = [{ role: 'user', content: [{ type: 'text', text: question, ...MARK }] }]
      const turns = []
      for (let step = 0; step < 3; step++) {
        const message = await create(how, claudeCode(model, messages))
        turns.push(message)
        messages.push(asTurn(message.content))
        if (message.stop_reason === 'tool_use') messages.push(resultsOf(message.content))
      }
      expect(turns.map(({ stop_reason }) => stop_reason)).toEqual(['tool_use', 'tool_use', 'end_turn'])
      expect(turns.map(({ content }) => content.map(({ type }) => type))).toEqual([
        ['thinking', 'text', 'tool_use', 'tool_use'],
        ['redacted_thinking', 'tool_use', 'thinking', 'tool_use'],
        ['thinking', 'text'],
      ])
      expect(turns[0]?.content[0]).toMatchObject({ thinking: 'Where shall I look?\n\nFirst at the sky, “天空”.' })
      expect(turns[2]?.content.at(-1)).toMatchObject({ type: 'text', text: FINAL_TEXT })
      expect(turns[0]?.usage).toMatchObject({ input_tokens: 300, cache_read_input_tokens: 600, output_tokens: 50 })
      expect(upstreams.openai.requests.map(({ path }) => path)).toEqual(Array(3).fill('/v1/responses'))
      const { input, ...fields } = bodies()[2] ?? { input: [] }
      expect(input.map(({ type, role, phase }) => role ?? phase ?? type)).toEqual([
        ...['system', 'user', 'reasoning', 'assistant', 'function_call', 'function_call'],
        ...['function_call_output', 'function_call_output', 'reasoning', 'function_call', 'reasoning', 'function_call'],
        ...['function_call_output', 'function_call_output'],
      ])
      expect(input[3]).toMatchObject({ phase: 'commentary' })
      expect(fields).toMatchObject({
        store: false,
        include: ['reasoning.encrypted_content'],
        reasoning: { effort: 'medium', summary: 'auto' },
        max_output_tokens: 16_000,
        safety_identifier: expect.stringMatching(/^[0-9a-f]{64}$/),
        tools: [{ type: 'function', name: 'look', parameters: LOOK.input_schema, strict: false }],
      })
    },
  )

  /** Returns the conversation after one step of the loop. */
  async function begin(model: string, how: (typeof HOW)[number] = 'plain'): Promise<BetaMessageParam[]> {
    const messages: BetaMessageParam[] = [{ role: 'user', content: question }]
    const { content } = await create(how, claudeCode(model, messages))
    return [...messages, asTurn(content), resultsOf(content)]
  }

  const typesOf = (input: readonly JsonObject[] = []) => input.map(({ type }) => type)

  test('a forged or foreign signature is omitted', async () => {
    const messages = await begin('gpt-5.4')
    const text = JSON.stringify(messages)
    const signature = /"signature":"(mp1\.[^"]+)"/.exec(text)?.[1] ?? ''
    const forged = text.replace(signature, `${signature.slice(0, 40)}x${signature.slice(41)}`)
    openai.forgetKeys()
    for (const [model, given] of [
      ['gpt-5.4', forged],
      ['gpt-5.6', text],
    ] as const) {
      await create('plain', claudeCode(model, JSON.parse(given)))
      expect(typesOf(bodies().at(-1)?.input)).not.toContain('reasoning')
      expect(upstreams.openai.requests.at(-1)?.bodyText).not.toContain('gAAAA')
    }
    expect(upstreams.openai.requests).toHaveLength(3)
  })

  test('reasoning that the account cannot read is omitted at the second attempt', async () => {
    const messages = await begin('gpt-5.4', 'streamed')
    openai.forgetKeys()
    const { content } = await create('streamed', claudeCode('gpt-5.4', messages))
    expect(content.map(({ type }) => type)).toEqual(['tool_use', 'tool_use'])
    expect(bodies().map(({ input, include }) => [typesOf(input).includes('reasoning'), include !== undefined])).toEqual(
      [
        [false, true],
        [true, true],
        [false, false],
      ],
    )
  })

  test('the request is sent again without what the model or account does not return', async () => {
    const message = 'Your organization must be verified to generate reasoning summaries.'
    upstreams.openai.script(request =>
      request.bodyText.includes('"summary":"auto"') ? { kind: 'error', status: 400, message } : openai.script(request),
    )
    const { content } = await create('plain', claudeCode('gpt-5.4', [{ role: 'user', content: question }]))
    expect(content.at(-1)).toMatchObject({ type: 'tool_use' })
    expect(bodies().map(({ reasoning }) => reasoning)).toEqual([
      { effort: 'medium', summary: 'auto' },
      { effort: 'medium' },
    ])
  })

  test.each(HOW)('another model began the loop, %s', async how => {
    const messages: BetaMessageParam[] = [
      { role: 'user', content: question },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmF0dXJl' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sky' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Blue.', is_error: true }] },
    ]
    const { content, stop_reason } = await create(how, claudeCode('gpt-5.4', messages))
    expect(stop_reason).toBe('tool_use')
    expect(bodies()[0]?.input.slice(2)).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'toolu_1', name: 'look', arguments: '{"at":"sky"}' },
      {
        type: 'function_call_output',
        call_id: 'toolu_1',
        output: [
          { type: 'input_text', text: 'The tool failed.' },
          { type: 'input_text', text: 'Blue.' },
        ],
      },
    ])
    const later = [...messages.slice(0, 1), asTurn(content), resultsOf(content)]
    await client.beta.messages.create({ model: 'claude-haiku-4-5', max_tokens: 99, tools: [LOOK], messages: later })
    expect(upstreams.anthropic.requests).toHaveLength(1)
    expect(upstreams.anthropic.requests[0]?.bodyText).not.toContain('mp1.')
  })

  test('a long conversation is translated in a worker, with its reasoning', async () => {
    question = `What colour is it? ${crypto.randomUUID()} ${'x'.repeat(300_000)}`
    const messages = await begin('gpt-5.4')
    const { stop_reason } = await create('streamed', claudeCode('gpt-5.4', messages))
    expect(stop_reason).toBe('tool_use')
    expect(typesOf(bodies()[1]?.input)).toContain('reasoning')
    expect(bodies()).toHaveLength(2)
  })

  test('a request without tools and thinking gets text alone', async () => {
    upstreams.openai.script({ kind: 'answer' })
    const { content } = await client.messages.create({
      model: 'gpt-5.4',
      max_tokens: 1,
      messages: [{ role: 'user', content: question }],
      ...{ temperature: 1 },
    })
    expect(content.map(({ type }) => type)).toEqual(['text'])
    expect(bodies()).toEqual([
      {
        model: 'gpt-5.4',
        input: [{ type: 'message', role: 'user', content: question }],
        store: false,
        max_output_tokens: 16,
      },
    ])
  })

  test('is recorded with the provider’s usage, and served from the cache', async () => {
    const params = claudeCode('gpt-5.4', [{ role: 'user', content: question }])
    const first = await create('streamed', params)
    expect(await create('plain', params)).toMatchObject({ id: first.id, usage: first.usage, stop_reason: 'tool_use' })
    expect(await create('streamed', params)).toEqual(first)
    expect(upstreams.openai.requests).toHaveLength(1)
    await proxy.settle()
    const rows = await proxy.query<{ prompt_tokens: number; completion_tokens: number }>(
      `select prompt_tokens, completion_tokens from usage_records u join projects p on p.id = u.project_id
       where p.name = '${project}' order by cost_usd desc limit 1`,
    )
    expect(rows).toEqual([{ prompt_tokens: 900, completion_tokens: 50 }])
  })

  test('errors have Anthropic’s form, and name the client’s field', async () => {
    const ask = (content: unknown) =>
      client.messages.create({
        model: 'gpt-5.4',
        max_tokens: 9,
        messages: [{ role: 'user', content: content as string }],
      })
    upstreams.openai.script({ kind: 'error', status: 402, message: 'Pay.' })
    await expect(ask(question)).rejects.toMatchObject({ status: 402, type: 'billing_error' })
    await expect(ask([{ type: 'container_upload', file_id: 'f' }])).rejects.toThrow('messages[0].content[0].type')
  })

  test('tokens are counted by the provider, or estimated', async () => {
    const {
      max_tokens: _limit,
      metadata: _user,
      ...params
    } = claudeCode('gpt-5.4', [{ role: 'user', content: question }])
    expect(await client.beta.messages.countTokens(params)).toEqual({ input_tokens: 42 })
    const long = [{ role: 'user' as const, content: `${question} ${'x'.repeat(300_000)}` }]
    expect(await client.beta.messages.countTokens({ ...params, messages: long })).toEqual({ input_tokens: 42 })
    upstreams.openai.script({ kind: 'error', status: 404 })
    const { input_tokens: estimated } = await client.beta.messages.countTokens(params)
    expect([estimated > 20, estimated === 42]).toEqual([true, false])
    expect(new Set(upstreams.openai.requests.map(({ path }) => path))).toEqual(new Set(['/v1/responses/input_tokens']))
  })

  test.each([1, 4, 9])('a stream that breaks off after %i events is an error', async after => {
    upstreams.openai.script({ kind: 'cut', after })
    const params = claudeCode('gpt-5.4', [{ role: 'user', content: question }])
    await expect(create('streamed', { ...params, tools: [] })).rejects.toBeInstanceOf(Anthropic.AnthropicError)
  })
})

describeOnce('messages at an aggregator that has Responses alone', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, AGGREGATOR_SPEAKS: 'responses' } }),
  )
  let client: Anthropic

  beforeAll(async () => {
    const apiKey = await proxy.createKey({ project: `p-${crypto.randomUUID()}`, type: 'project' })
    client = new Anthropic({ baseURL: proxy.rootUrl, apiKey, maxRetries: 0 })
  })

  test.each(HOW)('call a tool and continue with its result, %s', async how => {
    const model = 'openai/gpt-4o-mini'
    const messages: BetaMessageParam[] = [{ role: 'user', content: `look ${crypto.randomUUID()}` }]
    const params = { model, max_tokens: 900, tools: [LOOK], messages }
    const send = async () =>
      how === 'plain'
        ? await client.beta.messages.create(params)
        : await client.beta.messages.stream(params).finalMessage()
    const { content, stop_reason } = await send()
    expect(stop_reason).toBe('tool_use')
    messages.push({ role: 'assistant', content: content as Anthropic.Beta.BetaContentBlockParam[] })
    const [use] = content.filter(({ type }) => type === 'tool_use') as { id: string }[]
    messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use?.id ?? '', content: 'Blue.' }] })
    expect((await send()).content[0]).toMatchObject({ type: 'text', text: expect.stringMatching(/.{10}/) })
    expect(upstreams.aggregator.requests.slice(-2).map(({ path }) => path)).toEqual(['/v1/responses', '/v1/responses'])
    expect(upstreams.aggregator.requests.at(-1)?.body).toMatchObject({ store: false, max_output_tokens: 900 })
  })
})
