/** The fake Anthropic rejects what Anthropic rejects, and accepts every request that the translation writes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseApiVersion } from '../../../../src/providers/anthropic/messages-request.ts'
import { translateRequest } from '../../../../src/providers/anthropic/request/translate-request.ts'
import { checkRequest } from '../../../fake-anthropic/check-request.ts'
import type { RecordedRequest } from '../../../fake-provider/recording.ts'

type Body = Record<string, unknown>

function check(body: unknown, headers: Record<string, string> = {}) {
  const request: RecordedRequest = {
    bodyText: '',
    receivedAtMs: 0,
    abortedAtMs: null,
    isAnswered: false,
    method: 'POST',
    query: '',
    path: '/v1/messages',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2026-10-21', 'content-type': 'application/json', ...headers },
    body: JSON.parse(JSON.stringify(body)),
  }
  return checkRequest(request, undefined)
}

const words = fc.constantFrom('', ' ', 'a', 'word', '漢字', '\n', '{"x":1}')
const part = fc.oneof(
  words.map(text => ({ type: 'text', text })),
  fc.constant({ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } }),
  fc.constant({ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0xLjQ=', filename: 'a.pdf' } }),
)
const content = fc.oneof(words, fc.array(part, { maxLength: 3 }))
const plainMessage = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'developer'), content: words }),
  fc.record({ role: fc.constant('user'), content }),
  fc.record({ role: fc.constant('assistant'), content: fc.oneof(words, fc.constant(null)) }),
)

/** Tool calls with a result for each, in any order. */
const exchange = fc
  .record({
    ids: fc.uniqueArray(fc.constantFrom('call_1', 'call_2', 'x|1', 'ä', 'toolu_9'), { minLength: 1, maxLength: 3 }),
    names: fc.infiniteStream(fc.constantFrom('f', 'g', 'gone')),
    content: fc.oneof(words, fc.constant(null)),
    results: fc.infiniteStream(fc.oneof(words, fc.array(part, { maxLength: 2 }))),
    seed: fc.nat(),
  })
  .map(({ ids, names, content: text, results, seed }): Body[] => {
    const calls = ids.map(id => ({
      id,
      type: 'function',
      function: { name: names.next().value, arguments: '{"n":1}' },
    }))
    const answers = ids.map(id => ({ role: 'tool', tool_call_id: id, content: results.next().value }))
    const turned = [...answers.slice(seed % ids.length), ...answers.slice(0, seed % ids.length)]
    return [{ role: 'assistant', content: text, tool_calls: calls }, ...turned]
  })

const question = fc.record({ role: fc.constant('user'), content: fc.constantFrom('Why?', 'f g') })
const messages = fc
  .tuple(
    fc.array(
      fc.oneof(
        plainMessage.map(one => [one]),
        exchange,
      ),
      { maxLength: 6 },
    ),
    fc.oneof(
      question.map(one => [one]),
      exchange,
    ),
  )
  .map(([before, last]) => [...before.flat(), ...last])

const tool = (name: string, extra: Body = {}) => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] },
    ...extra,
  },
})
const settings = fc.record(
  {
    max_tokens: fc.constantFrom(3000, 20_000),
    stop: fc.constantFrom('END', ['a', 'b']),
    tools: fc.constantFrom([tool('f')], [tool('f'), tool('g', { strict: true, description: 'd' })]),
    parallel_tool_calls: fc.boolean(),
    response_format: fc.constantFrom(
      { type: 'text' },
      { type: 'json_object' },
      {
        type: 'json_schema',
        json_schema: {
          name: 'n',
          strict: true,
          schema: {
            type: 'object',
            properties: { a: { type: 'string', maxLength: 3 }, b: { oneOf: [{ type: 'null' }] } },
          },
        },
      },
    ),
    reasoning_effort: fc.constantFrom('minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    user: fc.constant('u'),
    service_tier: fc.constantFrom('auto', 'default'),
    stream: fc.boolean(),
  },
  { requiredKeys: [] },
)
const model = fc.constantFrom(
  'claude-opus-5-5',
  'claude-fable-5-1',
  'claude-sonnet-5-5',
  'claude-haiku-5-5',
  'claude-opus-4-8',
  'claude-sonnet-4-6',
  'claude-haiku-4-5',
)

describe('translating a request', () => {
  test('returns what Anthropic accepts, for any conversation and settings', () => {
    fc.assert(
      fc.property(model, messages, settings, (name, conversation, fields) => {
        const request = translateRequest(
          { model: name, messages: conversation, ...fields },
          { maxOutputTokens: 64_000 },
        )
        expect(check(request, { 'anthropic-version': chooseApiVersion(request) })).toBeNull()
      }),
    )
  })
})

describe('the fake provider rejects, as Anthropic does,', () => {
  const good: Body = { model: 'claude-opus-5-5', max_tokens: 9, messages: [turn('user', say('Hi'))] }
  const call = { type: 'tool_use', id: 't', name: 'f', input: {} }
  const result = { type: 'tool_result', tool_use_id: 't' }
  const tools = [{ name: 'f', input_schema: { type: 'object' } }]
  const open = { type: 'object', properties: {} }

  function say(text: string): Body {
    return { type: 'text', text }
  }
  function turn(role: string, ...blocks: Body[]): Body {
    return { role, content: blocks }
  }

  test('nothing that is valid', () => {
    expect(check(good)).toBeNull()
    const exchanged = [...(good.messages as Body[]), turn('assistant', call), turn('user', result, say('x'))]
    expect(check({ ...good, tools, messages: exchanged })).toBeNull()
  })

  test.each<[string, Body, string]>([
    ['an unknown field', { n: 1 }, 'n: Extra inputs are not permitted'],
    [
      'an unknown nested field',
      { messages: [turn('user', { ...say('x'), detail: 1 })] },
      'Extra inputs are not permitted',
    ],
    ['no max_tokens', { max_tokens: undefined }, 'max_tokens: Field required'],
    ['too many tokens', { max_tokens: 999_999 }, 'maximum allowed'],
    ['no messages', { messages: [] }, 'messages'],
    ['an assistant turn first', { messages: [turn('assistant', say('x')), turn('user', say('y'))] }, 'first message'],
    ['two turns of one role', { messages: [turn('user', say('x')), turn('user', say('y'))] }, 'alternate'],
    ['an empty turn', { messages: [turn('user')] }, 'content'],
    ['blank text', { messages: [turn('user', say(' \n'))] }, 'text'],
    ['a prefilled response', { messages: [turn('user', say('x')), turn('assistant', say('y'))] }, 'prefill'],
    [
      'a call without a result',
      { tools, messages: [turn('user', say('x')), turn('assistant', call), turn('user', say('y'))] },
      'tool_result',
    ],
    ['a result without a call', { tools, messages: [turn('user', result)] }, 'unexpected'],
    [
      'a result after text',
      { tools, messages: [turn('user', say('x')), turn('assistant', call), turn('user', say('y'), result)] },
      'before',
    ],
    [
      'calls without tools',
      { messages: [turn('user', say('x')), turn('assistant', call), turn('user', result)] },
      'define tools',
    ],
    ['a temperature', { temperature: 0.5 }, 'temperature: Extra inputs'],
    ['a forced call with thinking', { tools, tool_choice: { type: 'any' } }, 'not supported'],
    ['a choice without tools', { tool_choice: { type: 'auto' } }, 'providing tools'],
    ['a thinking budget', { thinking: { type: 'enabled', budget_tokens: 1024 } }, 'not supported'],
    [
      'a schema that allows other properties',
      { output_config: { format: { type: 'json_schema', schema: open } } },
      'additionalProperties',
    ],
    [
      'a forged thinking block',
      {
        messages: [
          turn('user', say('x')),
          turn('assistant', { type: 'thinking', thinking: 'a', signature: 'b' }, say('y')),
          turn('user', say('z')),
        ],
      },
      'signature',
    ],
  ])('%s', (_name, fields, message) => {
    expect(check({ ...good, ...fields })).toMatchObject({ status: 400, message: expect.stringContaining(message) })
  })

  test.each<[Record<string, string>, number]>([
    [{ 'anthropic-version': '2020-01-01' }, 400],
    [{ 'content-type': 'text/plain' }, 400],
  ])('the headers %j', (headers, status) => expect(check(good, headers)).toMatchObject({ status }))

  test('an unknown model', () => expect(check({ ...good, model: 'gpt-4o' })).toMatchObject({ status: 404 }))
})
