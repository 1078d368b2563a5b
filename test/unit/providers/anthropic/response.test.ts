import type { ContentBlock, Message, StopReason } from '@anthropic-ai/sdk/resources/messages'
import { describe, expect, test } from 'vitest'
import { completenessOf } from '../../../../src/formats/chat/completeness.ts'
import { createAnthropicResponseContext } from '../../../../src/providers/anthropic/response/response-context.ts'
import { translateResponse } from '../../../../src/providers/anthropic/response/translate-upstream-response.ts'

const PLAIN = createAnthropicResponseContext({}, 1_760_000_000_999)

function text(content: string): ContentBlock {
  return { type: 'text', text: content, citations: null }
}

function thought(thinking: string): ContentBlock {
  return { type: 'thinking', thinking, signature: `sig ${thinking}` }
}

function use(id: string, name: string, input: unknown): ContentBlock {
  return { type: 'tool_use', id, name, input, caller: { type: 'direct' } }
}

function message(content: ContentBlock[], fields: Partial<Message> = {}): Message {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: 10,
      output_tokens: 20,
      cache_read_input_tokens: 300,
      cache_creation_input_tokens: 4000,
      cache_creation: null,
      inference_geo: null,
      output_tokens_details: { thinking_tokens: 5 },
      server_tool_use: null,
      service_tier: 'standard',
      speed: null,
    },
    ...fields,
  }
}

function choiceOf(answer: Record<string, unknown>) {
  return (answer.choices as { message: Record<string, unknown>; finish_reason: string | null }[])[0]
}

describe('translating a response', () => {
  test('returns OpenAI’s envelope, and usage with cached tokens', () => {
    expect(translateResponse(message([text('Hi')]), PLAIN)).toEqual({
      id: 'msg_1',
      object: 'chat.completion',
      created: 1_760_000_000,
      model: 'claude-opus-5-5',
      service_tier: 'default',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 4310,
        completion_tokens: 20,
        total_tokens: 4330,
        prompt_tokens_details: { cached_tokens: 300, cache_write_tokens: 4000 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    })
  })

  test('reads the sparser usage of the older API version', () => {
    const usage = { input_tokens: 3, output_tokens: 4 } as Message['usage']
    const answer = translateResponse(message([text('Hi')], { usage }), PLAIN)
    expect(answer.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 })
    expect(answer).not.toHaveProperty('service_tier')
  })

  test.each<[StopReason, string, string]>([
    ['end_turn', 'stop', 'whole'],
    ['stop_sequence', 'stop', 'whole'],
    ['tool_use', 'tool_calls', 'whole'],
    ['max_tokens', 'length', 'provider_length_limit'],
    ['model_context_window_exceeded', 'length', 'provider_length_limit'],
    ['pause_turn', 'length', 'provider_length_limit'],
    ['refusal', 'content_filter', 'content_filter'],
    ['from_tomorrow' as StopReason, 'from_tomorrow', 'unknown_finish_reason'],
  ])('%s ends with %s, and is judged %s', (stop_reason, finishReason, completeness) => {
    const answer = translateResponse(message([text('Hi')], { stop_reason }), PLAIN)
    expect(choiceOf(answer)?.finish_reason).toBe(finishReason)
    expect(completenessOf(answer, { clientSetOutputLimit: false })).toBe(completeness)
  })

  test('puts a refusal where OpenAI’s clients expect it', () => {
    const details = {
      type: 'refusal',
      category: 'cyber',
      explanation: 'That could do harm.',
    } as Message['stop_details']
    const refused = message([], { stop_reason: 'refusal', stop_details: details })
    expect(choiceOf(translateResponse(refused, PLAIN))?.message).toEqual({
      role: 'assistant',
      content: null,
      refusal: 'That could do harm.',
    })
    const unexplained = translateResponse({ ...refused, stop_details: null }, PLAIN)
    expect(choiceOf(unexplained)?.message.refusal).toMatch(/Anthropic/)
  })

  test.each<[string, ContentBlock[], object]>([
    ['text that citations split is joined', [text('a'), text('b'), text('c')], { content: 'abc' }],
    [
      'text around other blocks is separated',
      [text('a'), { type: 'redacted_thinking', data: 'd' }, text('b')],
      { content: 'a\n\nb', thinking_blocks: [{ type: 'redacted_thinking', data: 'd', index: 1 }] },
    ],
    ['no content is null', [], { content: null }],
    [
      'calls keep their order, ids and arguments',
      [use('x', 'f', { n: 1 }), use('y', 'g', {})],
      {
        content: null,
        tool_calls: [
          { id: 'x', type: 'function', function: { name: 'f', arguments: '{"n":1}' } },
          { id: 'y', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
    ],
    [
      'thinking is translated and kept to be sent back',
      [thought('a'), text('b'), thought('c'), { type: 'redacted_thinking', data: 'd' }],
      {
        content: 'b',
        reasoning_content: 'a\n\nc',
        thinking_blocks: [
          { type: 'thinking', thinking: 'a', signature: 'sig a', index: 0 },
          { type: 'thinking', thinking: 'c', signature: 'sig c', index: 2 },
          { type: 'redacted_thinking', data: 'd', index: 3 },
        ],
      },
    ],
    [
      'thinking without text is kept to be sent back',
      [thought(''), text('b')],
      { content: 'b', thinking_blocks: [{ type: 'thinking', thinking: '', signature: 'sig ', index: 0 }] },
    ],
  ])('%s', (_name, content, expected) => {
    expect(choiceOf(translateResponse(message(content), PLAIN))?.message).toEqual({
      role: 'assistant',
      refusal: null,
      ...expected,
    })
  })

  test('returns legacy functions in their form', () => {
    const context = createAnthropicResponseContext({ functions: [{ name: 'f' }] }, 0)
    const called = message([use('x', 'f', { n: 1 })], { stop_reason: 'tool_use' })
    expect(choiceOf(translateResponse(called, context))).toMatchObject({
      message: { content: null, function_call: { name: 'f', arguments: '{"n":1}' } },
      finish_reason: 'function_call',
    })
  })

  test('removes a code fence from JSON that was requested, and from nothing else', () => {
    const fenced = message([text('```json\n{"a":1}\n```')])
    const asked = createAnthropicResponseContext({ response_format: { type: 'json_object' } }, 0)
    expect(choiceOf(translateResponse(fenced, asked))?.message.content).toBe('{"a":1}')
    expect(choiceOf(translateResponse(fenced, PLAIN))?.message.content).toBe('```json\n{"a":1}\n```')
  })
})
