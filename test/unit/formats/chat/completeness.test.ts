import { describe, expect, test } from 'vitest'
import {
  type Completeness,
  combineCompleteness,
  completenessOf,
  hasToolCalls,
  type IncompleteReason,
  isUpstreamFailure,
} from '../../../../src/formats/chat/completeness.ts'
import {
  type ExpectedOutput,
  readExpectedChatOutput,
  readExpectedCompletionOutput,
} from '../../../../src/formats/expected-output.ts'

const strict = { clientSetOutputLimit: false }
const message = { role: 'assistant', content: 'x' }

function judge(choice: object, top: object = {}, options: ExpectedOutput = strict) {
  return completenessOf({ choices: [{ index: 0, message, finish_reason: 'stop', ...choice }], ...top }, options)
}

describe('completeness of a response', () => {
  test.each(['stop', 'tool_calls', 'function_call', 'end_turn'])('accepts %s as a regular end', finish_reason => {
    expect(judge({ finish_reason })).toBe('whole')
  })

  test.each([undefined, null, 'text', [], {}, { choices: null }, { choices: [] }, { choices: ['x'] }, { data: [] }])(
    'rejects %j as a response',
    body => {
      expect(completenessOf(body, strict)).toBe('not_a_response')
    },
  )

  test('detects errors in the body and in a choice, but not an error that is null', () => {
    expect(judge({}, { error: { message: 'x' } })).toBe('error_in_body')
    expect(completenessOf({ error: { message: 'x' } }, strict)).toBe('error_in_body')
    expect(judge({ error: { code: 502 } })).toBe('error_in_choice')
    expect(judge({ finish_reason: 'error' })).toBe('error_in_choice')
    expect(judge({ error: null }, { error: null })).toBe('whole')
  })

  test('requires an end of every choice', () => {
    for (const finish_reason of [undefined, null, '', 7]) expect(judge({ finish_reason })).toBe('unfinished_choice')
    const second = { index: 1, message, finish_reason: null }
    expect(completenessOf({ choices: [{ message, finish_reason: 'stop' }, second] }, strict)).toBe('unfinished_choice')
  })

  test('requires a message or a text', () => {
    expect(judge({ message: null })).toBe('empty_choice')
    expect(judge({ message: undefined, text: 'x' })).toBe('whole')
  })

  test.each([
    { content: '' },
    { content: null },
    { content: [], tool_calls: [] },
    { content: '', refusal: null, reasoning_content: 'Let me think.' },
  ])('%j has no output', said => {
    expect(judge({ message: { role: 'assistant', ...said } })).toBe('empty_message')
    expect(judge({ message: said, finish_reason: 'length' }, {}, { clientSetOutputLimit: true })).toBe('empty_message')
  })

  test('detects an empty text, and one empty choice of several', () => {
    expect(judge({ message: undefined, text: '' })).toBe('empty_message')
    const second = { index: 1, message: { content: '' }, finish_reason: 'stop' }
    expect(completenessOf({ choices: [{ message, finish_reason: 'stop' }, second] }, strict)).toBe('empty_message')
  })

  test.each([
    { content: ' ' },
    { refusal: 'No.' },
    { tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: { parsed: 1 } } }] },
    { tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'f', input: 'any {text' } }] },
    { function_call: { name: 'f', arguments: '{"a": 1}' } },
    { audio: { id: 'a' } },
    { images: [{ type: 'image_url' }] },
  ])('%j has output', said => {
    expect(judge({ message: { role: 'assistant', content: null, ...said } })).toBe('whole')
  })

  test.each([
    { tool_calls: [{ id: 'call_1' }] },
    { tool_calls: [{ type: 'function', function: { name: 'f', arguments: '' } }] },
    {
      tool_calls: [
        { type: 'function', function: { name: 'f', arguments: '{}' } },
        { type: 'function', function: { name: 'f', arguments: '{"city": "Par' } },
      ],
    },
    { tool_calls: [{ type: 'custom', custom: { name: 'f' } }] },
    { function_call: { name: 'f', arguments: '{"a"' } },
  ])('the arguments of %j are truncated', said => {
    const cut = { message: { role: 'assistant', content: 'Let me see.', ...said } }
    expect(judge(cut)).toBe('invalid_arguments')
    expect(judge({ ...cut, finish_reason: 'length' }, {}, { clientSetOutputLimit: true })).toBe('invalid_arguments')
  })

  test('counts choices for each prompt', () => {
    const two = {
      choices: [
        { message, finish_reason: 'stop' },
        { message, finish_reason: 'stop' },
      ],
    }
    expect(completenessOf(two, readExpectedChatOutput({ n: 2 }))).toBe('whole')
    for (const n of [3, '3']) expect(completenessOf(two, readExpectedChatOutput({ n }))).toBe('too_few_results')
    for (const prompt of ['a', [1, 2, 3], ['a'], [[1, 2]]]) {
      expect(completenessOf(two, readExpectedCompletionOutput({ prompt, n: 2, best_of: 9 }))).toBe('whole')
    }
    for (const prompt of [
      ['a', 'b'],
      [[1], [2]],
    ]) {
      expect(completenessOf(two, readExpectedCompletionOutput({ prompt }))).toBe('whole')
      expect(completenessOf(two, readExpectedCompletionOutput({ prompt, n: 2 }))).toBe('too_few_results')
    }
  })

  test.each([
    ['{"a": 1}', 'whole', 'whole'],
    ['[1]', 'invalid_json', 'whole'],
    ['{"a": 1', 'invalid_json', 'invalid_json'],
    ['```json\n{}\n```', 'invalid_json', 'invalid_json'],
  ])('parses %j as JSON if JSON was requested', (content, asObject, asSchema) => {
    const said = { choices: [{ message: { content }, finish_reason: 'stop' }] }
    const whole = (type: string) => completenessOf(said, readExpectedChatOutput({ response_format: { type } }))
    expect([whole('json_object'), whole('json_schema'), whole('text')]).toEqual([asObject, asSchema, 'whole'])
  })

  test('a refusal or a call replaces JSON', () => {
    const wanted = readExpectedChatOutput({ response_format: { type: 'json_object' } })
    const call = { type: 'function', function: { name: 'f', arguments: '{}' } }
    for (const said of [
      { content: null, refusal: 'No.' },
      { content: 'Let me see.', tool_calls: [call] },
    ]) {
      expect(judge({ message: said }, {}, wanted)).toBe('whole')
    }
  })

  test.each([
    'required',
    'any',
    { type: 'function', function: { name: 'f' } },
    { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [] } },
  ])('requires a call if one was required: %j', tool_choice => {
    expect(judge({}, {}, readExpectedChatOutput({ tool_choice }))).toBe('missing_tool_call')
    const call = { type: 'function', function: { name: 'f', arguments: '{}' } }
    expect(judge({ message: { tool_calls: [call] } }, {}, readExpectedChatOutput({ tool_choice }))).toBe('whole')
  })

  test.each(['auto', 'none', null, undefined, { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }])(
    'requires no call if it was optional: %j',
    tool_choice => {
      expect(judge({}, {}, readExpectedChatOutput({ tool_choice }))).toBe('whole')
    },
  )

  test('detects the effect of a filter by either reason', () => {
    expect(judge({ finish_reason: 'content_filter' })).toBe('content_filter')
    for (const native_finish_reason of ['SAFETY', 'refusal', 'RECITATION', 'content_filter']) {
      expect(judge({ native_finish_reason })).toBe('content_filter')
    }
    expect(judge({ native_finish_reason: 'STOP' })).toBe('whole')
  })

  test('accepts the model’s own refusal as a response', () => {
    expect(judge({ message: { role: 'assistant', content: null, refusal: 'No.' } })).toBe('whole')
  })

  test('accepts truncation only where the client set the limit', () => {
    expect(judge({ finish_reason: 'length' })).toBe('provider_length_limit')
    expect(judge({ finish_reason: 'length' }, {}, { clientSetOutputLimit: true })).toBe('whole')
  })

  test('attributes truncation far below the client’s limit to the provider', () => {
    const cut = (outputTokens: unknown) =>
      judge(
        { finish_reason: 'length' },
        { usage: { completion_tokens: outputTokens } },
        { clientSetOutputLimit: true, outputLimit: 1000 },
      )
    expect([1000, 990, undefined, null, 0, 'x'].map(cut)).toEqual(Array(6).fill('whole'))
    expect([1, 400].map(cut)).toEqual(Array(2).fill('provider_length_limit'))
  })

  test('does not accept an unknown end', () => {
    expect(judge({ finish_reason: 'insufficient_system_resource' })).toBe('unknown_finish_reason')
  })

  test.each([
    [0, 'empty_message'],
    [3, 'empty_message'],
    [4, 'no_output'],
    [900, 'no_output'],
    [undefined, 'empty_message'],
    ['900', 'empty_message'],
  ])(
    'reports missing output if there is none, and %j tokens of it are counted: %s',
    (completion_tokens, completeness) => {
      expect(judge({ message: { content: '' } }, { usage: { completion_tokens } })).toBe(completeness)
    },
  )

  test('does not report missing output if the model reasoned, was truncated, or continued a text', () => {
    const usage = { completion_tokens: 900 }
    for (const thought of [
      { content: '', reasoning_content: 'Hm.' },
      { content: '', reasoning: 'Hm.' },
      { content: [{ type: 'thinking', thinking: 'Hm.' }] },
    ])
      expect(judge({ message: thought }, { usage })).toBe('empty_message')
    const cut = { message: { content: '' }, finish_reason: 'length' }
    expect(judge(cut, { usage }, { clientSetOutputLimit: true })).toBe('empty_message')
    expect(judge({ message: undefined, text: '' }, { usage })).toBe('empty_message')
  })
})

const FAILURES: Completeness[] = [
  'not_a_response',
  'error_in_body',
  'error_in_choice',
  'error_in_stream',
  'empty_choice',
  'no_output',
  'unfinished_choice',
  'unknown_finish_reason',
  'malformed_chunk',
  'missing_end',
]
const INCOMPLETE: IncompleteReason[] = [
  'empty_message',
  'content_filter',
  'provider_length_limit',
  'pending',
  'unknown_stop_reason',
  'invalid_utf8',
  'omitted_parts',
  'inconsistent_chunks',
  'too_few_results',
  'invalid_arguments',
  'invalid_json',
  'missing_tool_call',
  'too_large',
]

test.each([...FAILURES, 'whole' as const, ...INCOMPLETE])(
  'isUpstreamFailure returns whether %s is one',
  completeness => {
    expect(isUpstreamFailure(completeness)).toBe(FAILURES.includes(completeness))
  },
)

describe('the worse of two reasons', () => {
  test('is a failure rather than another reason', () => {
    expect(combineCompleteness('too_large', 'unfinished_choice')).toBe('unfinished_choice')
    expect(combineCompleteness('malformed_chunk', 'invalid_json')).toBe('malformed_chunk')
    expect(combineCompleteness('error_in_stream', 'unfinished_choice')).toBe('error_in_stream')
  })

  test('else is the first one', () => {
    expect(combineCompleteness('inconsistent_chunks', 'whole')).toBe('inconsistent_chunks')
    expect(combineCompleteness('inconsistent_chunks', 'invalid_json')).toBe('inconsistent_chunks')
    expect(combineCompleteness(null, 'invalid_json')).toBe('invalid_json')
    expect(combineCompleteness(null, 'whole')).toBe('whole')
  })
})

describe('hasToolCalls', () => {
  test('detects calls in any choice, in the current and the legacy form', () => {
    expect(hasToolCalls({ choices: [{ message }, { message: { tool_calls: [{ id: 'a' }] } }] })).toBe(true)
    expect(hasToolCalls({ choices: [{ message: { function_call: { name: 'f', arguments: '' } } }] })).toBe(true)
    expect(hasToolCalls({ choices: [{ finish_reason: 'tool_calls' }] })).toBe(true)
  })

  test('returns false without calls', () => {
    const bodies = [null, {}, { choices: 'x' }, { choices: [{ message }] }, { choices: [{ text: 'tool_calls' }] }]
    for (const body of bodies) expect(hasToolCalls(body)).toBe(false)
    expect(hasToolCalls({ choices: [{ message: { tool_calls: [], function_call: null } }] })).toBe(false)
  })
})
