import { describe, expect, test } from 'vitest'
import { createChatAssembler } from '../../../../src/formats/chat/assemble-chat.ts'
import {
  findContinuedCall,
  isCompleteJsonObject,
  normalizeToolCalls,
  parseIndex,
  readToolCallFragment,
  type ToolCallFragment,
} from '../../../../src/formats/chat/tool-calls.ts'
import { isJsonObject, type JsonObject } from '../../../../src/formats/json/canonical.ts'

const NOTHING: ToolCallFragment = { index: null, id: '', name: '', text: '', isCustom: false }

describe('reading a fragment of a call', () => {
  test.each<[JsonObject, Partial<ToolCallFragment>]>([
    [
      { index: 1, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":' } },
      { index: 1, id: 'a', name: 'f', text: '{"x":' },
    ],
    [
      { index: '2', function: { arguments: '1}' } },
      { index: 2, text: '1}' },
    ],
    [{ function: { name: 'f', arguments: { x: [1] } } }, { name: 'f', text: '{"x":[1]}' }],
    [{ function: { name: 'f', arguments: null } }, { name: 'f' }],
    [{ id: null, function: { name: null } }, {}],
    [{ custom: { name: 'f', input: 'any text' } }, { name: 'f', text: 'any text', isCustom: true }],
    [{ function: 'f' }, {}],
    [{}, {}],
  ])('reads %j', (fragment, read) => {
    expect(readToolCallFragment(fragment)).toEqual({ ...NOTHING, ...read })
  })
})

test.each<[unknown, number | null]>([
  [0, 0],
  [7, 7],
  ['0', 0],
  ['12', 12],
  ['', null],
  ['one', null],
  ['-1', null],
  [null, null],
  [undefined, null],
])('readIndex reads %j as %j', (value, index) => {
  expect(parseIndex(value)).toBe(index)
})

test.each([
  ['{}', true],
  ['{"a": {"b": 1}} ', true],
  ['{"a": {"b": 1}', false],
  ['{', false],
  ['', false],
  ['[]', false],
  ['"}"', false],
])('completeness of %j: %j', (text, complete) => {
  expect(isCompleteJsonObject(text)).toBe(complete)
})

describe('finding the call that a fragment continues', () => {
  const known = [
    { ...NOTHING, index: 0, id: 'a', name: 'f', text: '{}' },
    { ...NOTHING, index: 1, id: 'b', name: 'g', text: '{"x"' },
  ]
  /** Returns the id of the call that the fragment continues. */
  const continues = (fragment: Partial<ToolCallFragment>, calls = known) =>
    findContinuedCall(calls, { ...NOTHING, ...fragment }, call => call)?.id

  test('uses the number', () => {
    expect(continues({ index: 0, text: ' ' })).toBe('a')
    expect(continues({ index: 1, text: ':1}' })).toBe('b')
    expect(continues({ index: 2, name: 'h' })).toBeUndefined()
  })

  test('without a number, uses the id or the last call', () => {
    expect(continues({ id: 'a', text: ' ' })).toBe('a')
    expect(continues({ text: ':1}' })).toBe('b')
    expect(continues({ id: 'c', name: 'h' })).toBeUndefined()
    expect(continues({ text: '{}' }, [])).toBeUndefined()
  })

  test('another id under the same number is another call, once the first is complete', () => {
    expect(continues({ index: 0, id: 'c', text: '{}' })).toBeUndefined()
    expect(continues({ index: 1, id: 'c', text: ':1}' })).toBe('b')
    expect(continues({ index: 1, id: 'c', name: 'h' })).toBeUndefined()
  })

  test('a second name with arguments is another call, once the first is complete', () => {
    expect(continues({ index: 0, name: 'f', text: '{}' })).toBeUndefined()
    expect(continues({ index: 0, name: 'f' })).toBe('a')
    expect(continues({ index: 1, name: 'g', text: ':1}' })).toBe('b')
  })
})

describe('normalizing calls', () => {
  test('writes parsed arguments as text, and reports it', () => {
    const calls = [{ function: { name: 'f', arguments: { x: 1 } } }, { function: { name: 'g', arguments: '{}' } }]
    expect(normalizeToolCalls(calls)).toBe(true)
    expect(calls).toEqual([
      { function: { name: 'f', arguments: '{"x":1}' } },
      { function: { name: 'g', arguments: '{}' } },
    ])
    expect(normalizeToolCalls(calls)).toBe(false)
  })

  test('leaves calls without arguments unchanged', () => {
    const calls = [{ function: { name: 'f' } }, { function: { name: 'f', arguments: null } }, { custom: { input: '' } }]
    expect(normalizeToolCalls(structuredClone(calls))).toBe(false)
  })
})

/** Streams these calls, with one chunk for each list. Returns the calls that clients receive for each chunk, and the assembled calls. */
function stream(...lists: object[][]) {
  const assembler = createChatAssembler()
  const sent = lists.map(list => {
    const choices = [{ index: 0, delta: { tool_calls: list } }]
    return assembler.push(JSON.stringify({ choices }))
  })
  const { body } = assembler.finish()
  return { sent: sent.map(callsOf), calls: callsOf(body) }
}

function callsOf(chunk: JsonObject | null | undefined): unknown {
  if (!chunk) return chunk
  const [choice] = chunk.choices as JsonObject[]
  const message = choice?.delta ?? choice?.message
  return isJsonObject(message) ? message.tool_calls : null
}

const called = (name: string, args: unknown) => ({ function: { name, arguments: args } })

describe('calls at the chat endpoint', () => {
  test('are forwarded unchanged if clients can read them', () => {
    const { sent } = stream(
      [{ index: 0, id: 'a', ...called('f', '{') }],
      [{ index: 1, id: 'b', ...called('g', '{}') }],
      [{ index: 0, function: { arguments: '}' } }],
    )
    expect(sent).toEqual([undefined, undefined, undefined])
  })

  test('are numbered if they have no numbers', () => {
    const { sent, calls } = stream([{ id: 'a', ...called('f', '{}') }], [{ id: 'b', ...called('g', '{}') }])
    expect(sent).toMatchObject([[{ index: 0, id: 'a' }], [{ index: 1, id: 'b' }]])
    expect(calls).toMatchObject([called('f', '{}'), called('g', '{}')])
  })

  test('are renumbered if all have the same number', () => {
    const { sent } = stream(
      [{ index: 0, id: 'a', ...called('f', '{}') }],
      [{ index: 0, id: 'b', ...called('g', '{}') }],
    )
    expect(sent).toMatchObject([undefined, [{ index: 1, id: 'b' }]])
  })

  test('have arguments as text if the provider sent an object', () => {
    const { sent, calls } = stream([{ index: 0, id: 'a', ...called('f', { x: 1 }) }])
    expect(sent).toMatchObject([[{ index: 0, ...called('f', '{"x":1}') }]])
    expect(calls).toMatchObject([called('f', '{"x":1}')])
  })
})
