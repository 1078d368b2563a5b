/** The events of each format that count as tokens, for fallbacks and time limits. */
import { describe, expect, test } from 'vitest'
import type { Endpoint } from '../../../src/formats/endpoint.ts'
import { apiFormatOf } from '../../../src/formats/endpoint-formats.ts'

const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] })
const block = (fields: object) => ({ type: 'content_block_start', index: 0, content_block: fields })
const continued = (fields: object) => ({ type: 'content_block_delta', index: 0, delta: fields })
const item = (type: string) => ({ type: 'response.output_item.added', output_index: 0, item: { type } })
const CALL = { index: 0, id: 'a', type: 'function', function: { name: 'run', arguments: '' } }

const TOKENS: [Endpoint, string, object][] = [
  ['chat', 'text', delta({ content: 'Hi' })],
  ['chat', 'reasoning', delta({ reasoning_content: 'So' })],
  ['chat', 'a call', delta({ tool_calls: [CALL] })],
  ['completions', 'text', { choices: [{ index: 0, text: 'Hi' }] }],
  ['messages', 'text', continued({ type: 'text_delta', text: 'Hi' })],
  ['messages', 'a signature', continued({ type: 'signature_delta', signature: 'abc' })],
  ['messages', 'the beginning of a call', block({ type: 'tool_use', id: 'a', name: 'run', input: {} })],
  ['responses', 'text', { type: 'response.output_text.delta', delta: 'Hi' }],
  ['responses', 'the beginning of a call', item('function_call')],
  ['responses', 'the progress of a hosted tool', { type: 'response.web_search_call.searching' }],
]

const NO_TOKENS: [Endpoint, string, object][] = [
  ['chat', 'a role', delta({ role: 'assistant', content: '' })],
  ['chat', 'an empty delta', delta({})],
  ['chat', 'an empty text', delta({ content: '', reasoning_content: null, tool_calls: [] })],
  ['chat', 'no choice', { choices: [] }],
  ['chat', 'a reason for the end', { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
  ['completions', 'an empty text', { choices: [{ index: 0, text: '' }] }],
  ['messages', 'the beginning of the message', { type: 'message_start', message: { type: 'message', content: [] } }],
  ['messages', 'a ping', { type: 'ping' }],
  ['messages', 'the beginning of a text', block({ type: 'text', text: '' })],
  ['messages', 'an empty delta', continued({ type: 'text_delta', text: '' })],
  ['responses', 'the beginning of the response', { type: 'response.created', response: { status: 'in_progress' } }],
  ['responses', 'a keep-alive', { type: 'keepalive', sequence_number: 3 }],
  ['responses', 'the beginning of a message', item('message')],
  ['responses', 'an empty delta', { type: 'response.output_text.delta', delta: '' }],
]

function tokensOf(endpoint: Endpoint, event: object): number {
  const assembler = apiFormatOf(endpoint).createAssembler({ clientSetOutputLimit: false })
  for (let time = 0; time < 2; time++) assembler.push(JSON.stringify(event))
  expect(assembler.hasOutput).toBe(assembler.tokens > 0)
  return assembler.tokens
}

describe('tokens of a stream', () => {
  test.each(TOKENS)('%s: %s counts each time', (endpoint, _, event) => {
    expect(tokensOf(endpoint, event)).toBe(2)
  })

  test.each(NO_TOKENS)('%s: %s does not count', (endpoint, _, event) => {
    expect(tokensOf(endpoint, event)).toBe(0)
  })

  test('count after the text was discarded', () => {
    for (const [endpoint, event] of [
      ['chat', delta({ content: 'Hi' })],
      ['messages', continued({ type: 'text_delta', text: 'Hi' })],
    ] as const) {
      const assembler = apiFormatOf(endpoint).createAssembler({ clientSetOutputLimit: false })
      assembler.discardText()
      assembler.push(JSON.stringify(event))
      expect(assembler.tokens).toBe(1)
    }
  })
})
