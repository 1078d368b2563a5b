/** Tool loops of clients that send a turn back without the provider extras that its vendor requires. */
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { beforeEach, expect, test } from 'vitest'
import { createChatAssembler } from '../../src/formats/chat/assemble-chat.ts'
import { FINAL_TEXT, STRICT_VENDORS, strictVendorScript, TOOL } from '../fake-provider/strict-vendors.ts'
import { describeBackends } from '../harness/backends.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

type Fields = Record<string, unknown>
interface Call {
  id: string
  type: string
  function: { name: string; arguments: string }
}
type Message = Fields & { tool_calls?: Call[] }

const RESULT = 'Blue.'
const SCHEMA = { type: 'object' as const, properties: { at: { type: 'string' as const } } }
const HOW = ['plain', 'streamed'] as const
const VENDORS = STRICT_VENDORS.flatMap(({ name, model }) => HOW.map(how => [name, how, model] as const))

const plainCall = ({ id, type, function: { name, arguments: text } }: Call) => {
  return { id, type, function: { name, arguments: text } }
}
const known = ({ role, content, tool_calls: calls }: Fields & { tool_calls?: Call[] | undefined }): Message => {
  return { role, content, ...(calls && { tool_calls: calls.map(plainCall) }) }
}
const withCalls = (message: Message, change: (calls: Call[]) => Call[]): Message => {
  return { ...message, ...(message.tool_calls && { tool_calls: change(message.tool_calls) }) }
}
const rewrite = (text: string) => JSON.stringify(JSON.parse(text), null, 2)

/** What a client sends back of an assistant's message at chat, and of the results. */
const CHAT_FORMS: Record<string, (message: Message) => Message> = {
  'known fields alone': known,
  'all but the message’s own fields': ({ role, content, tool_calls: calls }) => {
    return { role, content, ...(calls && { tool_calls: calls }) }
  },
  'all but the calls’ own fields': message => withCalls(message, calls => calls.map(plainCall)),
  'no content': ({ role, tool_calls: calls, content }) =>
    known({ role, tool_calls: calls, ...(!calls && { content }) }),
  'an empty text': message => ({ ...known(message), content: message.content ?? '' }),
  'a text in parts': message => ({ ...known(message), content: [{ type: 'text', text: message.content || ' ' }] }),
  'empty extras': message => ({ ...known(message), reasoning_content: null, reasoning: '', reasoning_details: [] }),
  'calls in another order': message => withCalls(known(message), calls => calls.toReversed()),
  'arguments written again': message =>
    withCalls(known(message), calls =>
      calls.map(call => ({ ...call, function: { ...call.function, arguments: rewrite(call.function.arguments) } })),
    ),
  'results in another order': known,
}

/** What a client sends back of a response's output. */
const RESPONSES_FORMS: Record<string, (items: Fields[]) => Fields[]> = {
  'calls alone': items => items.filter(({ type }) => type !== 'reasoning'),
  'calls without ids of items': items =>
    items.filter(({ type }) => type === 'function_call').map(({ id: _, status: __, ...item }) => item),
  'reasoning without its content': items =>
    items.map(item => (item.type === 'reasoning' ? { type: 'reasoning', summary: [] } : item)),
  'calls in another order': items => items.filter(({ type }) => type === 'function_call').toReversed(),
}

/** What a client sends back of a message's content. */
const MESSAGES_FORMS: Record<string, (blocks: Fields[]) => Fields[]> = {
  'no thinking': blocks => blocks.filter(({ type }) => !String(type).includes('thinking')),
  'thinking without its signature': blocks =>
    blocks
      .filter(({ type }) => type !== 'redacted_thinking')
      .map(block => (block.type === 'thinking' ? { ...block, signature: '' } : block)),
  'calls in another order': blocks => blocks.filter(({ type }) => type === 'tool_use').toReversed(),
}

const each = (forms: object) =>
  draw(VENDORS.flatMap(([name, how, model]) => Object.keys(forms).map(form => [name, how, form, model] as const)))

describeBackends('provider extras that a client omits are restored', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let apiKey: string
  let question: string

  beforeEach(async () => {
    upstreams.reset()
    upstreams.aggregator.script(strictVendorScript())
    apiKey = await openKey()
    question = `What colour is it? ${crypto.randomUUID()}`
  })

  const openKey = (project = `p-${crypto.randomUUID()}`) => proxy.createKey({ project, type: 'project' })

  /** The provider received three requests, so none was repeated. */
  const expectSteps = () => expect(upstreams.aggregator.requests).toHaveLength(3)

  async function post(path: string, body: Fields, key = apiKey, sent: Record<string, string> = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...sent }
    return fetch(`${proxy.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  async function chat(model: string, messages: object[], how: string, key = apiKey): Promise<Message> {
    const tools = [{ type: 'function', function: { name: TOOL, parameters: SCHEMA } }]
    const answer = await post('/chat/completions', { model, tools, messages, stream: how === 'streamed' }, key)
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    const assembler = createChatAssembler()
    for (const line of text.split('\n')) if (line.startsWith('data: ')) assembler.push(line.slice(6))
    const { choices } = (how === 'plain' ? JSON.parse(text) : assembler.finish().body) as { choices: Fields[] }
    return choices[0]?.message as Message
  }
  const resultsOf = (message: Message) =>
    (message.tool_calls ?? []).map(({ id }, at) => ({ role: 'tool', tool_call_id: id, content: `${RESULT} ${at}` }))

  test.each(each(CHAT_FORMS))('%s at chat, %s: %s', async (_, how, form, model) => {
    const messages: object[] = [{ role: 'user', content: question }]
    for (let step = 0; step < 3; step++) {
      const message = await chat(model, messages, how)
      if (step === 2) expect(message.content).toBe(FINAL_TEXT)
      const results = resultsOf(message)
      messages.push(CHAT_FORMS[form]?.(message) ?? {}, ...(form.startsWith('results') ? results.toReversed() : results))
    }
    expectSteps()
  })

  test.each(each(RESPONSES_FORMS))('%s at /v1/responses, %s: %s', async (_, how, form, model) => {
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
    const tools = [{ type: 'function' as const, name: TOOL, parameters: SCHEMA, strict: false }]
    const input: ResponseInput = [{ role: 'user', content: question }]
    let text = ''
    for (let step = 0; step < 3; step++) {
      const params = { model, tools, input, ...(step === 0 && { store: false }) }
      const response =
        how === 'plain' ? await client.responses.create(params) : await client.responses.stream(params).finalResponse()
      text = response.output_text
      const items = response.output as unknown as Fields[]
      input.push(...((RESPONSES_FORMS[form]?.(items) ?? []) as unknown as ResponseInput))
      for (const { type, call_id } of items)
        if (type === 'function_call')
          input.push({ type: 'function_call_output', call_id: String(call_id), output: RESULT })
    }
    expect(text).toBe(FINAL_TEXT)
    expectSteps()
  })

  test.each(each(MESSAGES_FORMS))('%s at /v1/messages, %s: %s', async (_, how, form, model) => {
    const client = new Anthropic({ baseURL: proxy.rootUrl, apiKey, maxRetries: 0 })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
    let content: Anthropic.ContentBlock[] = []
    for (let step = 0; step < 3; step++) {
      const params = { model, max_tokens: 500, messages, tools: [{ name: TOOL, input_schema: SCHEMA }] }
      content = (
        how === 'plain' ? await client.messages.create(params) : await client.messages.stream(params).finalMessage()
      ).content
      const uses = content.filter(block => block.type === 'tool_use')
      const kept = MESSAGES_FORMS[form]?.(content as unknown as Fields[]) ?? []
      if (uses.length > 0) messages.push({ role: 'assistant', content: kept as unknown as Anthropic.ContentBlock[] })
      const results = uses.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: RESULT }))
      messages.push({ role: 'user', content: results })
    }
    expect(content).toContainEqual(expect.objectContaining({ type: 'text', text: FINAL_TEXT }))
    expectSteps()
  })

  /** Sends one turn with these ids of calls and reasoning, and returns what the provider then receives of it. */
  async function sendBack(
    id: string,
    {
      key = apiKey as string,
      other = key,
      about = question as string,
      asked = about,
      at = 'sky',
      model = 'deepseek/deepseek-v3.2',
    }: Partial<Record<'key' | 'other' | 'about' | 'asked' | 'at' | 'model', string>> = {},
    message: Fields = {},
  ): Promise<Fields | undefined> {
    const call = { id, type: 'function', function: { name: TOOL, arguments: '{"at":"sky"}' } }
    const turn = { role: 'assistant', content: null, reasoning_content: 'Secret thought.', tool_calls: [call] }
    upstreams.aggregator.script(({ body }) => {
      const { messages } = body as { messages: object[] }
      const choice =
        messages.length === 1
          ? { message: turn, finish_reason: 'tool_calls' }
          : { finish_reason: 'stop', message: { role: 'assistant', content: 'Done.' } }
      const parts = [JSON.stringify({ id: crypto.randomUUID(), model, choices: [{ index: 0, ...choice }] })]
      return { kind: 'raw', headers: { 'content-type': 'application/json' }, parts }
    })
    await chat('deepseek/deepseek-v3.2', [{ role: 'user', content: about }], 'plain', key)
    const back = { ...call, function: { name: TOOL, arguments: JSON.stringify({ at }) } }
    const messages = [
      { role: 'user', content: asked },
      { role: 'assistant', content: null, tool_calls: [back], ...message },
      { role: 'tool', tool_call_id: id, content: RESULT },
    ]
    await chat(model, messages, 'plain', other)
    const { body } = upstreams.aggregator.requests.at(-1) ?? {}
    return (body as { messages: Fields[] }).messages[1]
  }
  const RANDOM_ID = 'call_00_x8Kd92mQp4Zr'
  const restored = { reasoning_content: 'Secret thought.' }
  const empty = { reasoning_content: '' }

  test('reasoning of another key of the same project is not restored, even for the same calls', async () => {
    const project = `p-${crypto.randomUUID()}`
    const [key, other] = [await openKey(project), await openKey(project)]
    expect(await sendBack(RANDOM_ID, { key })).toMatchObject(restored)
    // The other key did not receive the first response.
    expect(await sendBack(RANDOM_ID, { key, other, about: `${question} again` })).toMatchObject(empty)
  })

  test.each(['chat', 'responses', 'messages'])('a cached response counts for the key that gets it, at %s', async at => {
    const project = `p-${crypto.randomUUID()}`
    const model = 'deepseek/deepseek-v3.2'
    const first = { role: 'user', content: question }
    const tool = { name: TOOL, parameters: SCHEMA, input_schema: SCHEMA }
    const body = {
      chat: { model, messages: [first], tools: [{ type: 'function', function: tool }] },
      responses: { model, input: [first], tools: [{ type: 'function', ...tool }], store: false },
      messages: { model, messages: [first], max_tokens: 100, tools: [tool] },
    }[at] as Fields
    const path = at === 'chat' ? '/chat/completions' : `/${at}`
    const [one, other] = [await openKey(project), await openKey(project)]
    const made = await (await post(path, body, one)).text()
    const hit = await post(path, body, other)
    expect([hit.headers.get('x-proxy-cache'), await hit.text()]).toEqual(['HIT', made])
    const { choices, output, content } = JSON.parse(made)
    const call = output?.find(({ type }: Fields) => type === 'function_call')
    const use = content?.find(({ type }: Fields) => type === 'tool_use')
    const next = {
      chat: () => ({ messages: [first, known(choices[0].message), ...resultsOf(choices[0].message)] }),
      responses: () => ({
        input: [first, call, { type: 'function_call_output', call_id: call.call_id, output: RESULT }],
      }),
      messages: () => ({
        messages: [
          ...[first, { role: 'assistant', content: [use] }],
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: RESULT }] },
        ],
      }),
    }[at]
    const answer = await post(path, { ...body, ...next?.() }, other)
    expect(answer.status, await answer.text()).toBe(200)
  })

  test('reasoning is restored only for the same function, arguments and model', async () => {
    expect(await sendBack(RANDOM_ID, { about: `${question} 1`, at: 'sea' })).toMatchObject(empty)
    expect(await sendBack(RANDOM_ID, { about: `${question} 2`, model: 'deepseek/deepseek-chat' })).toMatchObject(empty)
    expect(await sendBack(RANDOM_ID, { about: `${question} 3` })).toMatchObject(restored)
  })

  test('an id that may repeat is restored in its own conversation alone, a random id also in a shortened one', async () => {
    for (const id of [`functions.${TOOL}:0`, 'call_1', '', `${TOOL}0`]) {
      expect(await sendBack(id, { about: `${question} ${id} 1` }), id).toMatchObject(restored)
      expect(await sendBack(id, { about: `${question} ${id} 2`, asked: 'Another.' }), id).toMatchObject(empty)
    }
    expect(await sendBack(RANDOM_ID, { about: `${question} 3`, asked: 'Shortened.' })).toMatchObject(restored)
  })

  test('the client’s own reasoning stays', async () => {
    const own = { reasoning_content: 'My own.' }
    expect(await sendBack(RANDOM_ID, {}, own)).toMatchObject(own)
  })

  test.each(['chat', 'responses', 'messages'])('of a long conversation, at %s', async at => {
    const long = `${question} ${'word '.repeat(60_000)}`
    const model = 'deepseek/deepseek-v3.2'
    if (at === 'chat') {
      const first = { role: 'user', content: long }
      const message = await chat(model, [first], 'plain')
      const second = await chat(model, [first, known(message), ...resultsOf(message)], 'plain')
      expect(second.tool_calls?.[0]?.function.name).toBe(TOOL)
    } else if (at === 'responses') {
      const tools = [{ type: 'function', name: TOOL, parameters: SCHEMA }]
      const input: Fields[] = [{ role: 'user', content: long }]
      const { output } = (await (await post('/responses', { model, tools, input })).json()) as { output: Fields[] }
      const calls = output.filter(({ type }) => type === 'function_call')
      for (const { id: _, ...item } of calls)
        input.push(item, { type: 'function_call_output', call_id: item.call_id, output: RESULT })
      expect((await post('/responses', { model, tools, input })).status).toBe(200)
    } else {
      const tools = [{ name: TOOL, input_schema: SCHEMA }]
      const messages: Fields[] = [{ role: 'user', content: long }]
      const params = { model, tools, max_tokens: 100 }
      const { content } = (await (await post('/messages', { ...params, messages })).json()) as { content: Fields[] }
      const uses = content.filter(({ type }) => type === 'tool_use')
      const results = uses.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: RESULT }))
      messages.push({ role: 'assistant', content: uses }, { role: 'user', content: results })
      expect((await post('/messages', { ...params, messages })).status).toBe(200)
    }
    expect(upstreams.aggregator.requests).toHaveLength(2)
  })

  test('an identical request is still a cache hit', async () => {
    await sendBack(RANDOM_ID)
    const { length } = upstreams.aggregator.requests
    await sendBack(RANDOM_ID)
    expect(upstreams.aggregator.requests).toHaveLength(length)
  })

  test('nothing is restored after a week, or after a purge', async () => {
    const project = `p-${crypto.randomUUID()}`
    const key = await openKey(project)
    const send = async (id: string, forget: string) => {
      const about = crypto.randomUUID()
      await sendBack(id, { key, about })
      await proxy.settle()
      await proxy.query(forget)
      const messages = [
        { role: 'user', content: `${about} later` },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name: TOOL, arguments: '{"at":"sky"}' } }],
        },
        { role: 'tool', tool_call_id: id, content: 'Later.' },
      ]
      await chat('deepseek/deepseek-v3.2', messages, 'plain', key)
      const { body } = upstreams.aggregator.requests.at(-1) ?? {}
      return (body as { messages: Fields[] }).messages[1]
    }
    expect(await send(`${RANDOM_ID}1`, 'select 1')).toMatchObject(restored)
    const expire = `update stored_turns set expires_at = now() where project_id = find_project('${project}')`
    expect(await send(`${RANDOM_ID}2`, expire)).toMatchObject(empty)
    expect(await send(`${RANDOM_ID}3`, `select purge_cache('${project}')`)).toMatchObject(empty)
  })

  test('nothing is stored of a request that forbids it', async () => {
    const project = `p-${crypto.randomUUID()}`
    const key = await openKey(project)
    const stored = async (headers: Record<string, string>) => {
      const tools = [{ type: 'function', function: { name: TOOL, parameters: SCHEMA } }]
      const messages = [{ role: 'user', content: `Look, ${crypto.randomUUID()}` }]
      const answer = await post('/chat/completions', { model: 'deepseek/deepseek-v3.2', tools, messages }, key, headers)
      expect(answer.status, await answer.text()).toBe(200)
      await proxy.settle()
      return (await proxy.query(`select from stored_turns where project_id = find_project('${project}')`)).length
    }
    expect(await stored({ 'cache-control': 'no-store' })).toBe(0)
    expect(await stored({ 'cache-control': 'no-cache' })).toBe(1)
  })

  test('turns are deleted with their key, and a week after their requests', async () => {
    const project = `p-${crypto.randomUUID()}`
    const count = async () => {
      await proxy.settle()
      const turns = `select from stored_turns where project_id = find_project('${project}')`
      return (await proxy.query(turns)).length
    }
    await sendBack(RANDOM_ID, { key: await openKey(project) })
    await sendBack(RANDOM_ID, { key: await openKey(project), about: `${question} again` })
    expect(await count()).toBe(2)
    await proxy.query('select delete_expired_rows(100)')
    expect(await count()).toBe(2)
    await proxy.query(
      `select deactivate_key_with_id(max(id)) from api_keys where project_id = find_project('${project}')`,
    )
    expect(await count()).toBe(1)
    await proxy.query(
      `update stored_turns set expires_at = now() - interval '1 minute' where project_id = find_project('${project}')`,
    )
    await proxy.query('select delete_expired_rows(100)')
    expect(await count()).toBe(0)
  })
})
