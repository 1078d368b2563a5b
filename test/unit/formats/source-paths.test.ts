import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../src/errors/errors.ts'
import type { JsonObject } from '../../../src/formats/json/canonical.ts'
import { MESSAGE_FIELD_RULES } from '../../../src/formats/messages/message-fields.ts'
import { RESPONSE_FIELD_RULES } from '../../../src/formats/responses/response-fields.ts'
import { resolveClientField } from '../../../src/formats/source-paths.ts'
import { restoreClientFieldNames, translateRequest as translate } from '../../../src/formats/translation.ts'
import { translateRequest } from '../../../src/providers/anthropic/request/translate-request.ts'

const TARGET = {
  endpoint: 'chat' as const,
  maxOutputTokens: null,
  canReason: true,
  supportsCacheControl: false,
  rejectsUnsupportedTools: false,
  extrasKeys: ['p m'],
}
const FIELDS = { responses: RESPONSE_FIELD_RULES, messages: MESSAGE_FIELD_RULES }
type Endpoint = keyof typeof FIELDS

const schema = { type: 'object', properties: { place: { type: 'string' } } }
/** A request with every translated field, for each endpoint. */
const WHOLE: Record<Endpoint, JsonObject> = {
  responses: {
    model: 'claude-haiku-4-5',
    input: 'Hi.',
    instructions: 'Be brief.',
    stream: true,
    max_output_tokens: 5_000,
    temperature: 1,
    top_p: 1,
    top_logprobs: 1,
    include: ['message.output_text.logprobs'],
    tools: [{ type: 'function', name: 'look', parameters: schema }],
    tool_choice: { type: 'function', name: 'look' },
    parallel_tool_calls: false,
    text: { format: { type: 'json_schema', name: 'x', schema }, verbosity: 'low' },
    reasoning: { effort: 'low' },
    user: 'u',
    safety_identifier: 's',
    prompt_cache_key: 'k',
    prompt_cache_retention: '24h',
    prompt_cache_options: {},
    service_tier: 'auto',
  },
  messages: {
    model: 'any',
    messages: [{ role: 'user', content: 'Hi.' }],
    system: 'Be brief.',
    max_tokens: 5_000,
    stream: true,
    stop_sequences: ['.'],
    temperature: 1,
    top_p: 1,
    top_k: 4,
    tools: [{ name: 'look', input_schema: schema }],
    tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    output_config: { format: { type: 'json_schema', schema } },
    output_format: null,
    metadata: { user_id: 'u' },
    service_tier: 'auto',
    cache_control: { type: 'ephemeral' },
  },
}
const ENDPOINTS = Object.keys(FIELDS) as Endpoint[]

test.each(ENDPOINTS)('each chat field of a translated request at /v1/%s has a name in that API', endpoint => {
  const own = WHOLE[endpoint]
  const translated = Object.entries(FIELDS[endpoint]).filter(([, { treatment }]) => treatment === 'translated')
  expect(Object.keys(own)).toEqual(expect.arrayContaining(translated.map(([field]) => field)))
  const { body: chatRequest } = translate(endpoint, own, { ...TARGET, supportsCacheControl: true })
  for (const field of Object.keys(chatRequest)) {
    const [named = ''] = resolveClientField(endpoint, own, chatRequest, field).split('.')
    expect([field, Object.hasOwn(own, named) && Object.hasOwn(FIELDS[endpoint], named)]).toEqual([field, true])
  }
})

/** Returns the value at the path. */
function resolve(value: unknown, path: string): unknown {
  return (path.match(/[^.[\]]+/g) ?? []).reduce((at, step) => (at as JsonObject | undefined)?.[step], value)
}

/** Finds each marked text in the value, with its path. */
function markedTexts(value: unknown, path: string): [path: string, mark: string][] {
  if (typeof value === 'string') return [...value.matchAll(/mark\d+x/g)].map(([mark]) => [path, mark])
  if (Array.isArray(value)) return value.flatMap((item, index) => markedTexts(item, `${path}[${index}]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => markedTexts(item, path === '' ? name : `${path}.${name}`))
}

const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,' }
/** Input items. Each has the mark in all of its texts. */
const RESPONSE_ITEMS: ((mark: string) => JsonObject)[] = [
  mark => ({ role: 'user', content: mark }),
  mark => ({ role: 'developer', content: [{ type: 'input_text', text: mark }] }),
  mark => ({
    role: 'user',
    content: [
      { type: 'input_text', text: 'See:' },
      { type: 'input_image', image_url: `https://${mark}` },
    ],
  }),
  mark => ({ role: 'user', content: [{ type: 'input_file', ...file, filename: mark }] }),
  mark => ({ role: 'assistant', content: [{ type: 'output_text', text: mark }] }),
  mark => ({ type: 'function_call', call_id: mark, name: mark, arguments: `{"a":"${mark}"}` }),
  mark => ({ type: 'function_call_output', call_id: mark, output: mark }),
  mark => ({
    type: 'function_call_output',
    call_id: mark,
    output: [{ type: 'input_image', image_url: `https://${mark}` }],
  }),
]
const RESPONSE_TOOLS: ((mark: string) => JsonObject)[] = [
  mark => ({ type: 'function', name: mark, description: mark, parameters: { type: 'object', title: mark } }),
  mark => ({ type: 'custom', name: mark }),
  mark => ({
    type: 'namespace',
    name: 'space',
    tools: [
      { type: 'custom', name: 'other' },
      { type: 'function', name: mark },
    ],
  }),
  () => ({ type: 'web_search' }),
]
const MESSAGES: ((mark: string) => JsonObject)[] = [
  mark => ({ role: 'user', content: mark }),
  mark => ({
    role: 'user',
    content: [
      { type: 'text', text: 'See:' },
      { type: 'image', source: { type: 'url', url: mark } },
    ],
  }),
  mark => ({ role: 'user', content: [{ type: 'document', title: mark, source: { type: 'url', url: mark } }] }),
  mark => ({
    role: 'user',
    content: [
      {
        type: 'document',
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: mark },
          ],
        },
      },
    ],
  }),
  mark => ({ role: 'assistant', content: [{ type: 'text', text: mark }] }),
  mark => ({ role: 'assistant', content: [{ type: 'tool_use', id: mark, name: mark, input: { a: mark } }] }),
  mark => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: mark, content: mark }] }),
]
const MESSAGE_TOOLS: ((mark: string) => JsonObject)[] = [
  mark => ({ name: mark, description: mark, input_schema: { type: 'object', title: mark } }),
  () => ({ type: 'web_search_20250305', name: 'web_search' }),
]

const REQUESTS: Record<Endpoint, [items: typeof RESPONSE_ITEMS, tools: typeof RESPONSE_TOOLS, field: string]> = {
  responses: [RESPONSE_ITEMS, RESPONSE_TOOLS, 'input'],
  messages: [MESSAGES, MESSAGE_TOOLS, 'messages'],
}

test.each(ENDPOINTS)('an error about a request at /v1/%s names the client’s own field', endpoint => {
  const [items, tools, field] = REQUESTS[endpoint]
  const several = (makers: typeof items) => fc.array(fc.constantFrom(...makers), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(several(items), several(tools), (said, offered) => {
      const base = { ...WHOLE[endpoint], tool_choice: null, instructions: 'mark1000x', system: 'mark1000x' }
      const own: JsonObject = {
        ...base,
        [field]: said.map((write, index) => write(`mark${index}x`)),
        tools: offered.map((write, index) => write(`mark${100 + index}x`)),
      }
      if (endpoint === 'responses') delete own.system
      else delete own.instructions
      const { body: chatRequest } = translate(endpoint, own, TARGET)
      const marks = markedTexts(chatRequest, '')
      expect(marks.length).toBeGreaterThan(1)
      for (const [path, mark] of marks) {
        const place = resolveClientField(endpoint, own, chatRequest, path)
        expect([path, place, JSON.stringify(resolve(own, place)) ?? '']).toEqual([
          path,
          place,
          expect.stringContaining(mark),
        ])
      }
    }),
  )
})

describe('an error of a Claude model at /v1/responses names the client’s own field', () => {
  const image = { type: 'input_image', image_url: 'http://here/a.png' }
  test.each<[param: string, text: string, more: JsonObject]>([
    [
      'input[1].content[1].image_url',
      'http://',
      {
        input: [
          { role: 'user', content: 'a' },
          { role: 'user', content: [{ type: 'input_text', text: 'b' }, image] },
        ],
      },
    ],
    [
      'tools[1].parameters',
      'object',
      { tools: [{ type: 'web_search' }, { type: 'function', name: 'f', parameters: 5 }] },
    ],
    [
      'tool_choice.name',
      'must be the name of one of',
      { tools: [{ type: 'function', name: 'f', parameters: schema }], tool_choice: { type: 'function', name: 'g' } },
    ],
    [
      'text.format.schema',
      'list its object',
      { text: { format: { type: 'json_schema', name: 'x', strict: true, schema: { type: 'object' } } } },
    ],
    ['text.verbosity', 'no such setting', { text: { verbosity: 'low' } }],
    ['reasoning.effort', 'max_output_tokens of at least', { max_output_tokens: 100, reasoning: { effort: 'high' } }],
    ['max_output_tokens', 'whole number', { max_output_tokens: 'x' }],
    ['top_logprobs', 'log probabilities', { top_logprobs: 3 }],
    ['include', 'log probabilities', { include: ['message.output_text.logprobs'] }],
    ['n', 'one response', { n: 2 }],
  ])('%s', (param, text, more) => {
    const own = { model: 'claude-haiku-4-5', input: 'Hi.', ...more }
    let refused: unknown
    try {
      const { body: chatRequest } = translate('responses', own, TARGET)
      translateRequest(chatRequest, { maxOutputTokens: null })
    } catch (error) {
      refused = error
    }
    if (!(refused instanceof ProxyError)) throw new Error('The request was not rejected')
    const restored = restoreClientFieldNames('responses', own, TARGET, refused)
    expect(restored).toEqual({ param, message: expect.stringContaining(text) })
    expect(restored.message).toContain(param)
    expect(restored.message).not.toMatch(/messages|max_completion|response_format|reasoning_effort|image_url\.url/)
  })
})

test('an error of the proxy uses the names of /v1/messages, and quotes values unchanged', () => {
  const own = {
    model: 'any',
    max_tokens: 5,
    messages: [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ],
  }
  const quoted = "Invalid 'messages[1].content': 'max_completion_tokens' is not a user's stop."
  expect(restoreClientFieldNames('messages', own, TARGET, { param: 'messages[1].content', message: quoted })).toEqual({
    param: 'messages[1].content',
    message: "Invalid 'messages[1].content': 'max_tokens' is not a user's stop.",
  })
})
