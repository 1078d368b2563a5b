import { describe, expect, test } from 'vitest'
import { completenessOf, hasToolCalls } from '../../../../src/formats/chat/completeness.ts'

const strict = { clientSetOutputLimit: false }
const message = { role: 'assistant', content: 'x' }

function judge(choice: object, top: object = {}, options = strict) {
  return completenessOf({ choices: [{ index: 0, message, finish_reason: 'stop', ...choice }], ...top }, options)
}

describe('completenessOf', () => {
  test.each(['stop', 'tool_calls', 'function_call', 'end_turn'])('takes %s for a regular end', finish_reason => {
    expect(judge({ finish_reason })).toBe('whole')
  })

  test.each([undefined, null, 'text', [], {}, { choices: null }, { choices: [] }, { choices: ['x'] }, { data: [] }])(
    'takes %j for no answer',
    body => {
      expect(completenessOf(body, strict)).toBe('not_an_answer')
    },
  )

  test('finds errors in the body and in a choice, and none in an error that is null', () => {
    expect(judge({}, { error: { message: 'x' } })).toBe('error_in_body')
    expect(completenessOf({ error: { message: 'x' } }, strict)).toBe('error_in_body')
    expect(judge({ error: { code: 502 } })).toBe('error_in_choice')
    expect(judge({ finish_reason: 'error' })).toBe('error_in_choice')
    expect(judge({ error: null }, { error: null })).toBe('whole')
  })

  test('asks for an end of every choice', () => {
    for (const finish_reason of [undefined, null, '', 7]) expect(judge({ finish_reason })).toBe('unfinished_choice')
    const second = { index: 1, message, finish_reason: null }
    expect(completenessOf({ choices: [{ message, finish_reason: 'stop' }, second] }, strict)).toBe('unfinished_choice')
  })

  test('asks for a message or a text', () => {
    expect(judge({ message: null })).toBe('empty_choice')
    expect(judge({ message: undefined, text: 'x' })).toBe('whole')
  })

  test.each([
    { content: '' },
    { content: null },
    { content: [], tool_calls: [] },
    { content: '', refusal: null, reasoning_content: 'Let me think.' },
  ])('knows that %j says nothing', said => {
    expect(judge({ message: { role: 'assistant', ...said } })).toBe('nothing_said')
    expect(judge({ message: said, finish_reason: 'length' }, {}, { clientSetOutputLimit: true })).toBe('nothing_said')
  })

  test('knows an empty text, and that one of several choices is empty', () => {
    expect(judge({ message: undefined, text: '' })).toBe('nothing_said')
    const second = { index: 1, message: { content: '' }, finish_reason: 'stop' }
    expect(completenessOf({ choices: [{ message, finish_reason: 'stop' }, second] }, strict)).toBe('nothing_said')
  })

  test.each([
    { content: ' ' },
    { refusal: 'No.' },
    { tool_calls: [{ id: 'call_1' }] },
    { function_call: { name: 'f', arguments: '' } },
    { audio: { id: 'a' } },
    { images: [{ type: 'image_url' }] },
  ])('knows that %j says something', said => {
    expect(judge({ message: { role: 'assistant', content: null, ...said } })).toBe('whole')
  })

  test('knows what a filter did, by either reason', () => {
    expect(judge({ finish_reason: 'content_filter' })).toBe('content_filter')
    for (const native_finish_reason of ['SAFETY', 'refusal', 'RECITATION', 'content_filter']) {
      expect(judge({ native_finish_reason })).toBe('content_filter')
    }
    expect(judge({ native_finish_reason: 'STOP' })).toBe('whole')
  })

  test('takes the model’s own refusal for an answer', () => {
    expect(judge({ message: { role: 'assistant', content: null, refusal: 'No.' } })).toBe('whole')
  })

  test('accepts a cut where the client asked for it, and only there', () => {
    expect(judge({ finish_reason: 'length' })).toBe('provider_length_limit')
    expect(judge({ finish_reason: 'length' }, {}, { clientSetOutputLimit: true })).toBe('whole')
  })

  test('trusts no end it does not know', () => {
    expect(judge({ finish_reason: 'insufficient_system_resource' })).toBe('unknown_finish_reason')
  })
})

describe('hasToolCalls', () => {
  test('finds calls in any choice, in the new form and the legacy one', () => {
    expect(hasToolCalls({ choices: [{ message }, { message: { tool_calls: [{ id: 'a' }] } }] })).toBe(true)
    expect(hasToolCalls({ choices: [{ message: { function_call: { name: 'f', arguments: '' } } }] })).toBe(true)
    expect(hasToolCalls({ choices: [{ finish_reason: 'tool_calls' }] })).toBe(true)
  })

  test('finds none in their absence', () => {
    const bodies = [null, {}, { choices: 'x' }, { choices: [{ message }] }, { choices: [{ text: 'tool_calls' }] }]
    for (const body of bodies) expect(hasToolCalls(body)).toBe(false)
    expect(hasToolCalls({ choices: [{ message: { tool_calls: [], function_call: null } }] })).toBe(false)
  })
})
