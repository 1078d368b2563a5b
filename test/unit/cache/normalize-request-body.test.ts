import { describe, expect, test } from 'vitest'
import { normalizeRequestBody } from '../../../src/cache/normalize-request-body.ts'

type Fields = Record<string, unknown>

const user = (content: unknown, more: Fields = {}) => ({ role: 'user', content, ...more })
const answer = (content: unknown, more: Fields = {}) => ({ role: 'assistant', content, ...more })
const text = (said: string, more: Fields = {}) => ({ type: 'text', text: said, ...more })
const input = (said: string, more: Fields = {}) => ({ type: 'input_text', text: said, ...more })
const image = (more: Fields = {}) => ({ type: 'image_url', image_url: { url: 'u', ...more } })
const document = (more: Fields = {}) => ({ type: 'document', source: { type: 'url', url: 'u' }, ...more })
const result = (more: Fields) => user([{ type: 'tool_result', tool_use_id: 'a', ...more }])
const output = (said: unknown) => ({ type: 'function_call_output', call_id: 'a', output: said })
const MARK = { cache_control: { type: 'ephemeral' } }

const chat = (...messages: unknown[]) => normalizeRequestBody('chat', { model: 'm', messages })
const messages = (...said: unknown[]) => normalizeRequestBody('messages', { model: 'm', messages: said })
const responses = (said: unknown) => normalizeRequestBody('responses', { model: 'm', input: said })

describe('normalizes equal requests to one text', () => {
  test.each([
    ['a text and a list with the same text', chat(user('a')), chat(user([text('a')]))],
    ['a cache mark of the vendor', chat(user('a')), chat(user([text('a', MARK)]))],
    ['OpenAI’s cache mark', chat(user('a')), chat(user([text('a', { prompt_cache_breakpoint: { ttl: '30m' } })]))],
    ['a cache mark on a message', chat(user('a')), chat(user('a', MARK))],
    [
      'several texts, one with a cache mark',
      chat(user([text('a'), text('b')])),
      chat(user([text('a', MARK), text('b')])),
    ],
    ['a system prompt', chat({ role: 'system', content: 'a' }), chat({ role: 'system', content: [text('a')] })],
    ['a response as SDKs send it back', chat(answer('a')), chat(answer('a', { refusal: null, annotations: [] }))],
    ['a response without text', chat({ role: 'assistant', tool_calls: [1] }), chat(answer(null, { tool_calls: [1] }))],
    ['an image’s default detail', chat(user([image(), text('a')])), chat(user([image({ detail: 'auto' }), text('a')]))],
    ['a text of the Messages API', messages(user('a')), messages(user([text('a', { citations: null, ...MARK })]))],
    [
      'a document',
      messages(user([document()])),
      messages(user([document({ citations: { enabled: false }, ...MARK })])),
    ],
    [
      'a tool’s result',
      messages(result({ content: 'a' })),
      messages(result({ content: [text('a')], is_error: false })),
    ],
    ['an input of the Responses API', responses('a'), responses([user('a')])],
    ['a message of an input', responses('a'), responses([user([input('a')], { type: 'message' })])],
    ['a part with the type name of chat', responses('a'), responses([user([text('a')])])],
    [
      'an output of an earlier response',
      responses([answer('a')]),
      responses([answer([{ type: 'output_text', text: 'a', annotations: [], logprobs: [] }], { type: 'message' })]),
    ],
    ['a function’s output', responses([output('a')]), responses([output([input('a')])])],
  ])('%s', (_, one, other) => {
    expect(other).toEqual(one)
  })

  test('a system prompt of Messages, and the cache mark of a whole request', () => {
    const said = [user('a')]
    const plain = normalizeRequestBody('messages', { model: 'm', system: 'b', messages: said })
    expect(
      normalizeRequestBody('messages', { model: 'm', system: [text('b', MARK)], messages: said, ...MARK }),
    ).toEqual(plain)
    expect(normalizeRequestBody('messages', { model: 'm', system: null, messages: said })).toEqual(messages(...said))
  })
})

describe('keeps different requests apart', () => {
  test.each([
    ['two texts, joined without a separator', chat(user('ab')), chat(user([text('a'), text('b')]))],
    ['two texts, joined by a line break', chat(user('a\nb')), chat(user([text('a'), text('b')]))],
    ['two texts in another order', chat(user([text('b'), text('a')])), chat(user([text('a'), text('b')]))],
    ['an additional empty text', chat(user('a')), chat(user([text('a'), text('')]))],
    ['a text with an additional field', chat(user('a')), chat(user([text('a', { weight: 2 })]))],
    ['another kind of part', chat(user('a')), chat(user([{ type: 'note', text: 'a' }]))],
    ['a part of another endpoint', chat(user('a')), chat(user([input('a')]))],
    ['a part that is not an object', chat(user('a')), chat(user(['a']))],
    ['a name', chat(user('a')), chat(user('a', { name: 'b' }))],
    ['a type of a chat message', chat(user('a')), chat(user('a', { type: 'message' }))],
    ['a refusal', chat(answer('a')), chat(answer('a', { refusal: 'b' }))],
    ['annotations', chat(answer('a')), chat(answer('a', { annotations: [1] }))],
    ['an empty response', chat(answer('')), chat(answer(null))],
    ['an image’s detail', chat(user([image()])), chat(user([image({ detail: 'low' })]))],
    ['an invalid cache mark', chat(user('a')), chat(user([text('a', { cache_control: 'b' })]))],
    ['citations', messages(user([document()])), messages(user([document({ citations: { enabled: true } })]))],
    ['a tool that failed', messages(result({ content: 'a' })), messages(result({ content: 'a', is_error: true }))],
    ['a tool without a result', messages(result({})), messages(result({ content: [] }))],
    ['the input of a tool', messages(answer([{ input: { a: null } }])), messages(answer([{ input: {} }]))],
    ['two items', responses('a\nb'), responses([user('a'), user('b')])],
    ['another role', responses('a'), responses([{ role: 'developer', content: 'a' }])],
    ['an item of another type', responses('a'), responses([user('a', { type: 'other' })])],
    ['two outputs of a function', responses([output('a\nb')]), responses([output([input('a'), input('b')])])],
  ])('%s', (_, one, other) => {
    expect(other).not.toEqual(one)
  })
})

test('leaves bodies of other operations, and what is no conversation, unchanged', () => {
  for (const odd of [null, 1, 'a', {}, [null, 1, []]]) expect(chat(odd)).toEqual({ model: 'm', messages: [odd] })
  expect(normalizeRequestBody('chat', { messages: 'a' })).toEqual({ messages: 'a' })
  expect(normalizeRequestBody('completions', { prompt: 'a' })).toBeNull()
})

test('never changes a body, and ignores inherited properties', () => {
  const body = { model: 'm', messages: [Object.freeze(user(Object.freeze([Object.freeze(text('a', MARK))])))] }
  expect(normalizeRequestBody('chat', body)).toEqual(chat(user('a')))
  const named = JSON.parse('{"role":"user","content":"a","constructor":[],"__proto__":{"name":"b"}}')
  expect(chat(named)).toEqual({ model: 'm', messages: [named] })
})
