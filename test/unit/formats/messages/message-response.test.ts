import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors/errors.ts'
import { splitChatResponse } from '../../../../src/formats/chat/split-chat-response.ts'
import { type JsonObject, parseJsonObject } from '../../../../src/formats/json/canonical.ts'
import {
  completenessOfMessage,
  createMessageAssembler,
  hasToolUses,
} from '../../../../src/formats/messages/assemble-message.ts'
import { splitMessage } from '../../../../src/formats/messages/messages-format.ts'
import { encodeTypedEvents, type TypedEvent } from '../../../../src/formats/sse/sse.ts'
import { chatAnswers } from '../../chat-responses.ts'
import { createMessageStream, messageFromChat } from '../translated.ts'

const context = { model: 'some/model', inputTokens: 9, requestId: 'req_1', extrasKeys: ['p m'] }

/** All events of the response, as they are written when its provider streams it. */
function streamed(answer: JsonObject): TypedEvent[] {
  const stream = createMessageStream(context)
  const events = splitChatResponse(answer, { includeUsage: true }).flatMap(data =>
    stream.push(parseJsonObject(data) ?? {}),
  )
  return [...events, ...stream.finish()]
}

function assemble(events: unknown[]) {
  const assembler = createMessageAssembler()
  for (const event of events) assembler.push(typeof event === 'string' ? event : JSON.stringify(event))
  return assembler.finish()
}

/** The message that the official client reads from the events. */
async function readWithClient(events: TypedEvent[]) {
  const bytes = new Uint8Array(encodeTypedEvents(events))
  const fetch = async () => new Response(new Blob([bytes]), { headers: { 'content-type': 'text/event-stream' } })
  const client = new Anthropic({ apiKey: 'sk-none', baseURL: 'http://127.0.0.1:9', fetch, maxRetries: 0 })
  const stream = client.messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })
  // The official client adds this field.
  const { parsed_output: _parsed, ...message } = JSON.parse(JSON.stringify(await stream.finalMessage())) as JsonObject
  return message
}

function answer(message: JsonObject, finish_reason = 'stop'): JsonObject {
  const choice = { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }
  const usage = {
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
    prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
    completion_tokens_details: { reasoning_tokens: 3 },
  }
  return { id: 'chatcmpl-1', created: 1_760_000_000, model: 'some/model-1', choices: [choice], usage }
}

function call(id: string, text: string) {
  return { id, type: 'function', function: { name: 'look', arguments: text } }
}

describe('a translated response', () => {
  test('has the fields of Anthropic’s own', () => {
    const calls = [call('call_1', '{"a":1}'), call('', '')]
    expect(messageFromChat(answer({ content: 'Hi.', reasoning: 'Greet.', tool_calls: calls }), context)).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-f]{24}$/),
      type: 'message',
      role: 'assistant',
      model: 'some/model-1',
      content: [
        { type: 'thinking', thinking: 'Greet.', signature: expect.stringMatching(/^mp1\./) },
        { type: 'text', text: 'Hi.' },
        { type: 'tool_use', id: 'call_1', name: 'look', input: { a: 1 }, caller: { type: 'direct' } },
        { type: 'tool_use', id: expect.stringMatching(/^toolu_/), name: 'look', input: {}, caller: { type: 'direct' } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 5,
        cache_creation_input_tokens: 2,
        cache_read_input_tokens: 4,
        output_tokens: 7,
        output_tokens_details: { thinking_tokens: 3 },
      },
    })
  })

  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['eos', 'end_turn'],
  ])('that ended by %s stops by %s', (finishReason, stop_reason) => {
    expect(messageFromChat(answer({ content: 'x' }, finishReason), context)).toMatchObject({ stop_reason })
  })

  test('contains the text of a refusal', () => {
    expect(messageFromChat(answer({ refusal: 'No.' }), context)).toMatchObject({
      content: [{ type: 'text', text: 'No.' }],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'No.' },
    })
  })

  test('contains arguments that are no JSON object, and numbers that JavaScript cannot represent', () => {
    const cut = messageFromChat(answer({ tool_calls: [call('c', '{"a":')] }, 'length'), context)
    expect(cut).toMatchObject({ content: [{ input: { INVALID_JSON: '{"a":' } }], stop_reason: 'max_tokens' })
    const exact = messageFromChat(answer({ tool_calls: [call('c', '{"id":12345678901234567890}')] }), context)
    expect(JSON.stringify(exact)).toContain('{"id":12345678901234567890}')
  })

  test('contains reasoning signatures, with or without the reasoning text', () => {
    const reasoning_details = [{ type: 'reasoning.encrypted', data: 'A' }]
    const proof = expect.stringMatching(/^mp1\./)
    expect(messageFromChat(answer({ content: 'Hi.', reasoning: 'T', reasoning_details }), context)).toMatchObject({
      content: [{ type: 'thinking', thinking: 'T', signature: proof }, { type: 'text' }],
    })
    expect(messageFromChat(answer({ content: 'Hi.', reasoning_details }), context)).toMatchObject({
      content: [{ type: 'redacted_thinking', data: proof }, { type: 'text' }],
    })
  })

  test('is the same plain, streamed, and read by the official client', async () => {
    await fc.assert(
      fc.asyncProperty(chatAnswers, async chat => {
        const plain = messageFromChat(chat, context)
        const events = streamed(chat)
        expect(assemble(events).body).toEqual(plain)
        const read = await readWithClient(events)
        // The official client parses the incomplete tool input of a response that was cut off.
        expect(read).toEqual({ ...plain, ...(plain.stop_reason === 'max_tokens' ? { content: read.content } : {}) })
      }),
    )
  })

  test('that breaks off ends with an error that the official client throws', async () => {
    const stream = createMessageStream(context)
    const chunk = { ...answer({}), choices: [{ index: 0, delta: { content: 'Hel' } }] }
    const error = new ProxyError({ status: 502, code: 'upstream_error', message: 'Upstream broke off.' })
    const events = [...stream.push(chunk), ...stream.fail(error)]
    expect(events.at(-1)).toEqual({ type: 'error', error: { type: 'api_error', message: 'Upstream broke off.' } })
    await expect(readWithClient(events)).rejects.toThrow('Upstream broke off.')
    expect(assemble(events)).toMatchObject({ completeness: 'error_in_stream' })
  })
})

/** A response in Anthropic's own format. Some of its fields appear in only one event of a stream. */
const native: JsonObject = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5-5',
  content: [
    { type: 'thinking', thinking: 'Hm, let me see what is known of it.', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'AAAA' },
    { type: 'text', text: 'It is', citations: null },
    { type: 'text', text: 'blue', citations: [{ type: 'char_location', cited_text: 'blue', document_index: 0 }] },
    {
      type: 'server_tool_use',
      id: 'srvtoolu_1',
      name: 'web_search',
      input: { query: 'x' },
      caller: { type: 'direct' },
    },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: [1, { b: 'ü' }] }, caller: { type: 'direct' } },
    { type: 'tool_use', id: 'toolu_2', name: 'now', input: {}, caller: { type: 'direct' } },
  ],
  container: null,
  diagnostics: null,
  stop_reason: 'tool_use',
  stop_sequence: null,
  stop_details: null,
  usage: {
    input_tokens: 12,
    cache_creation_input_tokens: 300,
    cache_read_input_tokens: 4_000,
    cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
    output_tokens: 77,
    output_tokens_details: { thinking_tokens: 9 },
    server_tool_use: { web_search_requests: 1 },
    service_tier: 'standard',
    inference_geo: 'us',
    speed: null,
    a_count_of_tomorrow: 5,
  },
}

describe('splitting a message', () => {
  test('returns events that assemble to the same message, with every count of its usage', async () => {
    const events = splitMessage(native)
    expect(assemble(events)).toEqual({
      body: native,
      usage: native.usage,
      completeness: 'whole',
      error: null,
    })
    expect(await readWithClient(events)).toEqual(native)
    expect(events.filter(({ type }) => type === 'content_block_start')).toHaveLength(8)
  })

  test('does so for any translated response', () => {
    fc.assert(
      fc.property(chatAnswers, chat => {
        const message = messageFromChat(chat, context)
        expect(assemble(splitMessage(message)).body).toEqual(message)
      }),
    )
  })
})

describe('assembling a message', () => {
  const start = {
    type: 'message_start',
    message: { ...native, content: [], stop_reason: null, usage: { input_tokens: 3 } },
  }

  test('keeps early counts if later events have none', () => {
    const end = {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: null, output_tokens: 2 },
    }
    expect(assemble([start, { type: 'ping' }, end, { type: 'message_stop' }]).usage).toEqual({
      input_tokens: 3,
      output_tokens: 2,
    })
  })

  test('reads fields beside the delta of the last event', () => {
    const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, context_management: { applied_edits: [] } }
    expect(assemble([start, end]).body).toMatchObject({ context_management: { applied_edits: [] } })
  })

  test('recognizes a stream that was cut, malformed, or of an unknown kind', () => {
    expect(assemble([])).toMatchObject({ body: {}, completeness: 'missing_end' })
    expect(assemble([start])).toMatchObject({ completeness: 'missing_end' })
    expect(assemble([start, '{"type":'])).toMatchObject({ completeness: 'malformed_chunk' })
    const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
    const strange = { type: 'content_block_delta', index: 0, delta: { type: 'a_delta_of_tomorrow' } }
    const stop = { type: 'content_block_stop', index: 0 }
    const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }
    expect(assemble([start, block, strange])).toMatchObject({ completeness: 'missing_end' })
    expect(assemble([start, block, strange, stop, end])).toMatchObject({ completeness: 'inconsistent_chunks' })
  })
})

describe('completeness of a message', () => {
  test.each([
    [{}, 'whole'],
    [{ stop_reason: 'end_turn' }, 'whole'],
    [{ stop_reason: 'max_tokens' }, 'whole'],
    [{ stop_reason: 'stop_sequence' }, 'whole'],
    [{ stop_reason: 'pause_turn' }, 'pending'],
    [{ stop_reason: null }, 'unfinished_choice'],
    [{ stop_reason: 'refusal' }, 'content_filter'],
    [{ stop_reason: 'model_context_window_exceeded' }, 'provider_length_limit'],
    [{ stop_reason: 'a_reason_of_tomorrow' }, 'unknown_stop_reason'],
    [{ content: [] }, 'empty_message'],
    [
      {
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'text', text: '' },
        ],
      },
      'empty_message',
    ],
    [{ type: 'error' }, 'error_in_body'],
    [{ content: null }, 'not_a_response'],
  ])('of %j: %s', (more, completeness) => {
    expect(completenessOfMessage({ ...native, ...more })).toBe(completeness)
  })

  test('detects calls', () => {
    expect(hasToolUses(native)).toBe(true)
    expect(hasToolUses({ content: [{ type: 'text', text: 'x' }] })).toBe(false)
  })
})

test('a discarded message keeps its usage and a sample of its text, and reports a failure', () => {
  const text = 'word '.repeat(10_000)
  const send = (...events: object[]) => {
    const assembler = createMessageAssembler()
    const piece = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }
    const begin = [
      { type: 'message_start', message: { type: 'message', usage: { input_tokens: 3 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      piece,
    ]
    for (const event of begin) assembler.push(JSON.stringify(event))
    assembler.discardText()
    for (const event of [piece, ...events]) assembler.push(JSON.stringify(event))
    return { ...assembler.finish(), meter: assembler.meter }
  }
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }
  const { body, usage, completeness, meter } = send(end, { type: 'message_stop' })
  expect([usage, completeness]).toEqual([{ input_tokens: 3, output_tokens: 7 }, 'too_large'])
  const [block] = body.content as { text: string }[]
  expect((block?.text.length ?? 0) + meter.discardedChars).toBe(2 * text.length)
  expect([meter.bufferedChars, block?.text.length]).toEqual([0, 16_384])
  expect(send({ type: 'error', error: {} }).completeness).toBe('error_in_stream')
})
