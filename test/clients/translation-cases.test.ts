/**
 * Requests of clients, for each endpoint and provider. The proxy either responds, or rejects a field by the name that the client knows. A
 * provider receives only fields of its own API.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MESSAGE_FIELD_RULES } from '../../src/formats/messages/message-fields.ts'
import { RESPONSE_FIELD_RULES } from '../../src/formats/responses/response-fields.ts'
import { FIELD_RULES } from '../../src/providers/anthropic/field-rules.ts'
import { describeOnce } from '../harness/backends.ts'
import { post, readAnswer } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

type Body = Record<string, unknown>
type EndpointCase = 'chat' | 'responses' | 'messages'

const PATHS: Record<EndpointCase, string> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
}
const MODELS = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-haiku-4-5',
  groq: 'llama-3.1-8b-instant',
  aggregator: 'openai/gpt-4o-mini',
} as const
type ProviderName = keyof typeof MODELS

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = Buffer.from('%PDF-1.4\n%%EOF').toString('base64')

/** A prompt in each endpoint's format. */
const says = (text: string, role = 'user') => ({ role, content: text })
const talk = (...messages: Body[]): Record<EndpointCase, Body> => ({
  chat: { messages },
  responses: { input: messages },
  messages: { messages, max_tokens: 1_000 },
})
const QUESTION = talk(says('Hello.'))
const asks = (fields: Partial<Record<EndpointCase, Body>>): Partial<Record<EndpointCase, Body>> =>
  Object.fromEntries(
    Object.entries(fields).map(([door, each]) => [door, { ...QUESTION[door as EndpointCase], ...each }]),
  )
/** Fields that OpenAI's two APIs share. */
const openAis = (fields: Body) => asks({ chat: fields, responses: fields })
const parts = (chat: Body, responses: Body, messages: Body | null): Partial<Record<EndpointCase, Body>> => ({
  chat: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Look.' }, chat] }] },
  responses: { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Look.' }, responses] }] },
  ...(messages && {
    messages: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Look.' }, messages] }], max_tokens: 1_000 },
  }),
})
const tool = (name: string, parameters: unknown, more: Body = {}) =>
  asks({
    chat: { tools: [{ type: 'function', function: { name, parameters, ...more } }] },
    responses: { tools: [{ type: 'function', name, parameters, strict: null, ...more }] },
    messages: { tools: [{ name, input_schema: parameters, ...more }] },
  })
const PLACE = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }
const NESTED = {
  type: 'object',
  properties: { root: { $ref: '#/$defs/node' } },
  $defs: { node: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } } } },
}
const ANSWER_SCHEMA = {
  type: 'object',
  properties: { n: { type: 'integer', minimum: 1 } },
  required: ['n'],
  additionalProperties: false,
}
const call = (id: string, name = 'f') => ({ id, type: 'function', function: { name, arguments: '{}' } })

const CASES: Record<string, Partial<Record<EndpointCase, Body>>> = {
  'a plain question': QUESTION,
  'a tool': tool('get_weather', PLACE),
  'a tool with dots in its name': tool('weather.of/place', PLACE),
  'a tool with a long name': tool('n'.repeat(90), PLACE),
  'a tool without a name': tool('', PLACE),
  'a tool of anything': tool('any', {}),
  'a schema of alternatives': tool('either', { anyOf: [PLACE, { type: 'object', properties: {} }] }),
  'a schema that refers': tool('refers', { $ref: '#/$defs/place', $defs: { place: PLACE } }),
  'a schema that holds itself': tool('nested', NESTED),
  'a schema of a list': tool('list', { type: 'array', items: { type: 'string' } }),
  'a schema that is a boolean': tool('boolean', true),
  'a tool without parameters': asks({
    chat: { tools: [{ type: 'function', function: { name: 'f' } }] },
    responses: { tools: [{ type: 'function', name: 'f' }] },
  }),
  'a strict tool': tool('strict', { ...PLACE, additionalProperties: false }, { strict: true }),
  'a tool with unknown fields': tool('more', PLACE, { invented: 1, cache_control: { type: 'ephemeral' } }),
  'no parallel calls': asks({
    chat: { tools: [{ type: 'function', function: { name: 'f', parameters: PLACE } }], parallel_tool_calls: false },
    responses: { tools: [{ type: 'function', name: 'f', parameters: PLACE }], parallel_tool_calls: false },
    messages: {
      tools: [{ name: 'f', input_schema: PLACE }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
  }),
  'stop sequences': asks({ chat: { stop: ['END', 'FIN'] }, messages: { stop_sequences: ['END', 'FIN'] } }),
  'a presence penalty': asks({ chat: { presence_penalty: 0.5 } }),
  'a frequency penalty': asks({ chat: { frequency_penalty: 0.5 } }),
  'no penalty': asks({ chat: { presence_penalty: 0, frequency_penalty: 0 } }),
  'a bias': asks({ chat: { logit_bias: { 50256: -100 } } }),
  'two answers': asks({ chat: { n: 2 } }),
  'a seed': asks({ chat: { seed: 7 } }),
  'log probabilities': asks({
    chat: { logprobs: true, top_logprobs: 2 },
    responses: { include: ['message.output_text.logprobs'], top_logprobs: 2 },
  }),
  'a temperature': asks({ ...openAis({ temperature: 0.3 }), messages: { temperature: 0.3 } }),
  'a high temperature': openAis({ temperature: 1.7 }),
  'a schema to answer by': asks({
    chat: { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: ANSWER_SCHEMA, strict: true } } },
    responses: { text: { format: { type: 'json_schema', name: 'n', schema: ANSWER_SCHEMA, strict: true } } },
    messages: { output_config: { format: { type: 'json_schema', schema: ANSWER_SCHEMA } } },
  }),
  'any JSON': asks({
    chat: { response_format: { type: 'json_object' } },
    responses: { text: { format: { type: 'json_object' } } },
  }),
  'an effort': asks({
    chat: { reasoning_effort: 'low', max_completion_tokens: 8_000 },
    responses: { reasoning: { effort: 'low' }, max_output_tokens: 8_000 },
    messages: { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 8_000 },
  }),
  'a picture': parts(
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, detail: 'low' } },
    { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'low' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
  ),
  'a PDF': parts(
    { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } },
    { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } },
  ),
  'a document with citations': {
    messages: {
      max_tokens: 1_000,
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'Grass is green.' },
              citations: { enabled: true },
            },
            { type: 'text', text: 'What is green?' },
          ],
        },
      ],
    },
  },
  sound: parts(
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    null,
  ),
  'a spoken answer': asks({ chat: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } } }),
  'a system message in the middle': {
    chat: { messages: [says('One?'), says('One.', 'assistant'), says('Be brief.', 'system'), says('Two?')] },
    responses: { input: [says('One?'), says('One.', 'assistant'), says('Be brief.', 'developer'), says('Two?')] },
  },
  'empty content': talk(says('One?'), says('', 'assistant'), says('Two?')),
  'no content': { chat: { messages: [says('One?'), { role: 'assistant', content: null }, says('Two?')] } },
  'one role twice': talk(
    says('One?'),
    says('Two?'),
    says('One.', 'assistant'),
    says('Two.', 'assistant'),
    says('Three?'),
  ),
  'an answer begun': talk(says('One?'), says('The answer is', 'assistant')),
  'a result without its call': {
    chat: { messages: [says('One?'), { role: 'tool', tool_call_id: 'c1', content: '7' }] },
    responses: { input: [says('One?'), { type: 'function_call_output', call_id: 'c1', output: '7' }] },
    messages: {
      max_tokens: 1_000,
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '7' }] }],
    },
  },
  'a call without its result': {
    chat: { messages: [says('One?'), { role: 'assistant', content: null, tool_calls: [call('c1')] }, says('Two?')] },
    responses: {
      input: [says('One?'), { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }, says('Two?')],
    },
  },
  'a call and its result': {
    chat: {
      messages: [
        says('One?'),
        { role: 'assistant', content: 'Wait.', tool_calls: [call('c1'), call('c2')] },
        { role: 'tool', tool_call_id: 'c2', content: '2' },
        { role: 'tool', tool_call_id: 'c1', content: '1' },
      ],
    },
    responses: {
      input: [
        says('One?'),
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: '1' },
      ],
    },
    messages: {
      max_tokens: 1_000,
      tools: [{ name: 'f', input_schema: PLACE }],
      messages: [
        says('One?'),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '1' }] },
      ],
    },
  },
  'marks for the cache': {
    chat: {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'One?', cache_control: { type: 'ephemeral' } }] }],
    },
    messages: {
      max_tokens: 1_000,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [says('One?')],
    },
  },
  'tags of the request': asks({
    ...openAis({ metadata: { team: 'search' } }),
    messages: { metadata: { user_id: 'u-1' } },
  }),
  'a tier': asks({ ...openAis({ service_tier: 'default' }), messages: { service_tier: 'standard_only' } }),
  'a dearer tier': openAis({ service_tier: 'priority' }),
  'a user': openAis({ user: 'ann@example.com' }),
  'whom to protect': openAis({ safety_identifier: 'u-1' }),
  'storing it': asks({ chat: { store: true }, responses: { store: true } }),
  'storing nothing': asks({ chat: { store: false }, responses: { store: false } }),
  'a hosted search': asks({
    chat: { web_search_options: {} },
    responses: { tools: [{ type: 'web_search' }] },
    messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  }),
  'an MCP server': asks({
    responses: {
      tools: [{ type: 'mcp', server_label: 's', server_url: 'https://example.com', require_approval: 'never' }],
    },
    messages: { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 's' }] },
  }),
  'a thread': asks({ messages: { thread: { type: 'create' } } }),
  'agents at the provider': asks({ responses: { multi_agent: {} } }),
  'an unknown field': asks({ chat: { invented: 1 }, responses: { invented: 1 }, messages: { invented: 1 } }),
}

/** The top-level fields of each API as its package declares them, and the aggregator's additional ones at chat. */
const OWN_FIELDS: Record<EndpointCase, ReadonlySet<string>> = {
  chat: new Set([...Object.keys(FIELD_RULES).filter(field => !field.includes('[')), 'reasoning', 'cache_control']),
  responses: new Set(Object.keys(RESPONSE_FIELD_RULES)),
  messages: new Set(Object.keys(MESSAGE_FIELD_RULES)),
}
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function']
const PARTS = ['text', 'image_url', 'input_audio', 'file', 'refusal']
const ITEMS = ['message', 'function_call', 'function_call_output']
const ITEM_PARTS = ['input_text', 'input_image', 'input_file', 'output_text']

/** Returns the first part of a chat or Responses request that OpenAI's API does not have; undefined if there is none. */
function findForeign(body: Body): string | undefined {
  const isChat = body.input === undefined
  const messages = (isChat ? body.messages : body.input) as Body[]
  const tools = (body.tools ?? []) as Body[]
  const wrong = [
    ...messages
      .filter(({ role, type }) => !(isChat ? ROLES.includes(String(role)) : ITEMS.includes(String(type))))
      .map(({ role, type }) => `item ${type ?? role}`),
    ...messages
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => !(isChat ? PARTS : ITEM_PARTS).includes(type))
      .map(({ type }) => `part ${type}`),
    ...tools.filter(({ type }) => type !== 'function' && type !== 'custom').map(({ type }) => `tool ${type}`),
  ]
  return wrong[0]
}

const ASKED = Object.entries(CASES).flatMap(([name, doors]) =>
  Object.entries(doors).flatMap(([door, body]) =>
    (Object.keys(MODELS) as ProviderName[]).map(provider => [name, door as EndpointCase, provider, body] as const),
  ),
)

describeOnce('translation', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, MAX_RETRIES: '0' } }),
  )
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ project: 'cases', type: 'project' })
    for (const provider of ['openai', 'anthropic', 'groq'] as const)
      await storeKey(proxy.stores, 'cases', provider, 'sk-own')
  })
  beforeEach(() => upstreams.reset())

  /** Returns whether the proxy forwards the request unchanged, so that the provider validates it. */
  const isAsSent = (door: EndpointCase, provider: ProviderName) =>
    provider === 'anthropic' ? door === 'messages' : door === 'chat' || (door === 'responses' && provider === 'openai')

  test.each(draw(ASKED))('%s, at %s, of %s', async (_, door, provider, body) => {
    const params = { model: MODELS[provider], ...body }
    const { status, text, json } = await readAnswer(
      await post(proxy, key, PATHS[door], params, { headers: { 'cache-control': 'no-store' } }),
    )
    const [request, ...others] = upstreams[provider].requests
    expect(others).toEqual([])
    if (isAsSent(door, provider)) {
      // Both names of the limit are sent if the provider's name for it is unknown.
      const { max_completion_tokens: limit } = params as { max_completion_tokens?: number }
      const both = provider === 'aggregator' && limit !== undefined ? { max_tokens: limit } : {}
      expect(request?.body, text).toEqual({ ...(params as object), ...both })
      return
    }
    if (status !== 200) {
      expect([status, request]).toEqual([400, undefined])
      // The error names the client's field, or chat's field, because Responses reach Claude models through chat.
      const named = json.error.param ?? /^[\w.[\]]+/.exec(json.error.message)?.[0] ?? ''
      const [top = ''] = /^\w+/.exec(named) ?? []
      const isByChat = door === 'responses' && provider === 'anthropic'
      expect([...Object.keys(params), ...(isByChat ? OWN_FIELDS.chat : [])], text).toContain(top)
      return
    }
    const sent = request?.body as Body
    const spoken = provider === 'anthropic' ? 'messages' : sent.input === undefined ? 'chat' : 'responses'
    expect(spoken === 'responses').toBe(door === 'messages' && provider === 'openai')
    const foreign = Object.keys(sent).filter(field => !OWN_FIELDS[spoken].has(field) && !(field in params))
    expect([foreign, spoken === 'messages' ? undefined : findForeign(sent)]).toEqual([[], undefined])
  })

  describe('a field that no vendor has', () => {
    test.each(['chat', 'responses'] as const)('never reaches Anthropic from %s', async door => {
      const params = { model: MODELS.anthropic, ...QUESTION[door], invented: 1 }
      const { status, json } = await readAnswer(await post(proxy, key, PATHS[door], params))
      expect([status, json.error.param, upstreams.anthropic.requests]).toEqual([400, 'invented', []])
    })
  })
})
