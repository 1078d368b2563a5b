import { describe, expect, test } from 'vitest'
import { readExpectedResponseOutput } from '../../../../src/formats/expected-output.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import {
  completenessOfResponse,
  createResponseAssembler,
  hasResponseToolCalls,
} from '../../../../src/formats/responses/assemble-response.ts'

const message = { type: 'message', id: 'msg_1', status: 'completed', content: [{ type: 'output_text', text: 'Hi.' }] }

function response(more: JsonObject = {}): JsonObject {
  return { id: 'resp_1', object: 'response', status: 'completed', error: null, output: [message], ...more }
}

function assemble(events: unknown[], clientSetOutputLimit = false) {
  const assembler = createResponseAssembler({ clientSetOutputLimit })
  for (const event of events) assembler.push(typeof event === 'string' ? event : JSON.stringify(event))
  return assembler.finish()
}

describe('assembling a response', () => {
  test('uses the response in the event that ends the stream', () => {
    const usage = { input_tokens: 1 }
    const whole = response({ usage })
    const events = [{ type: 'response.created', response: { status: 'in_progress' } }, { type: 'new.kind' }]
    expect(assemble([...events, { type: 'response.completed', response: whole }, '[DONE]'])).toEqual({
      body: whole,
      usage,
      completeness: 'whole',
      error: null,
    })
  })

  test('assembles the items itself if the last event has none', () => {
    const done = (item: object, output_index: number) => ({ type: 'response.output_item.done', item, output_index })
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] }
    const end = { type: 'response.completed', response: response({ output: [] }) }
    expect(assemble([done(message, 1), done(reasoning, 0), end]).body).toEqual(
      response({ output: [reasoning, message] }),
    )
  })

  test('recognizes a stream that was cut, malformed, or reported an error', () => {
    expect(assemble([])).toMatchObject({ body: {}, completeness: 'missing_end' })
    expect(assemble(['{"type":'])).toMatchObject({ completeness: 'malformed_chunk' })
    const error = { type: 'error', code: 'server_error', message: 'Oh.' }
    expect(assemble([error])).toMatchObject({ completeness: 'error_in_stream' })
    const failed = response({ status: 'failed', error: { code: 'server_error', message: 'Oh.' } })
    expect(assemble([{ type: 'response.failed', response: failed }])).toMatchObject({
      body: failed,
      completeness: 'error_in_body',
    })
  })
})

describe('completeness of a response', () => {
  const incomplete = (reason: string) => response({ status: 'incomplete', incomplete_details: { reason } })
  const judge = (body: unknown, clientSetOutputLimit = false) => completenessOfResponse(body, { clientSetOutputLimit })

  test('accepts complete responses, and those truncated at the client’s limit', () => {
    expect(judge(response())).toBe('whole')
    expect(judge(incomplete('max_output_tokens'), true)).toBe('whole')
    expect(judge(incomplete('max_output_tokens'))).toBe('provider_length_limit')
    expect(judge(incomplete('content_filter'), true)).toBe('content_filter')
    expect(judge(incomplete('steered'), true)).toBe('unknown_stop_reason')
    for (const status of ['queued', 'in_progress', 'cancelled', undefined]) {
      expect(judge(response({ status }))).toBe('pending')
    }
    expect(judge(response({ output: [{ ...message, status: 'incomplete' }] }))).toBe('pending')
    for (const body of [null, [], {}, { object: 'response' }]) expect(judge(body)).toBe('not_a_response')
  })

  test('requires complete arguments, JSON and a call if they were requested', () => {
    const call = { type: 'function_call', name: 'f', arguments: '{"city": "Par' }
    const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    for (const more of [{}, cut]) expect(judge(response({ output: [call], ...more }), true)).toBe('invalid_arguments')
    const custom = { type: 'custom_tool_call', name: 'f', input: '{"city": "Par' }
    expect(judge(response({ output: [custom] }))).toBe('whole')
    const json = readExpectedResponseOutput({ text: { format: { type: 'json_schema', name: 's', schema: {} } } })
    const say = (text: string) => ({ ...message, content: [{ type: 'output_text', text }] })
    const search = { type: 'web_search_call', status: 'completed' }
    expect(completenessOfResponse(response({ output: [search, say('{"a": 1}')] }), json)).toBe('whole')
    expect(completenessOfResponse(response({ output: [search, say('{"a": 1')] }), json)).toBe('invalid_json')
    expect(completenessOfResponse(response({ output: [say('I look.'), custom] }), json)).toBe('whole')
    const required = readExpectedResponseOutput({ tool_choice: 'required' })
    expect(completenessOfResponse(response({ output: [say('No.')] }), required)).toBe('missing_tool_call')
    expect(completenessOfResponse(response({ output: [search, say('Yes.')] }), required)).toBe('whole')
  })

  test('requires output', () => {
    const empty = { ...message, content: [{ type: 'output_text', text: '' }] }
    for (const output of [[], [empty], [{ type: 'reasoning', summary: [{ text: 'Hm.' }] }]]) {
      expect(judge(response({ output }))).toBe('empty_message')
    }
    const refused = { ...message, content: [{ type: 'refusal', refusal: 'No.' }] }
    for (const item of [refused, { type: 'function_call', name: 'f', arguments: '{}' }]) {
      expect(judge(response({ output: [empty, item] }))).toBe('whole')
    }
  })

  test('detects calls', () => {
    expect(hasResponseToolCalls(response())).toBe(false)
    for (const type of ['function_call', 'custom_tool_call', 'shell_call', 'mcp_approval_request']) {
      expect(hasResponseToolCalls(response({ output: [message, { type }] }))).toBe(true)
    }
  })
})

test('counts discarded items; they are complete if the last event repeats them', () => {
  const send = (output: JsonObject[]) => {
    const assembler = createResponseAssembler({ clientSetOutputLimit: false })
    const item = { type: 'response.output_item.done', output_index: 0, item: message }
    assembler.push(JSON.stringify(item))
    assembler.discardText()
    assembler.push(JSON.stringify({ ...item, output_index: 1, item: { type: 'web_search_call', status: 'completed' } }))
    expect(assembler.meter.bufferedChars).toBe(0)
    assembler.push(
      JSON.stringify({ type: 'response.completed', response: response({ output, usage: { input_tokens: 1 } }) }),
    )
    return assembler.finish()
  }
  expect(send([message])).toMatchObject({ completeness: 'whole', usage: { input_tokens: 1 } })
  const { body, completeness, usage } = send([])
  expect([completeness, usage]).toEqual(['too_large', { input_tokens: 1 }])
  expect(body.output).toEqual([
    { type: 'message', status: 'completed' },
    { type: 'web_search_call', status: 'completed' },
  ])
})
