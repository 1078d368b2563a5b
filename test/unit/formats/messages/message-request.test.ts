import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors/errors.ts'
import { readProviderError } from '../../../../src/formats/errors/provider-error.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import { writeAnthropicError, writeAnthropicProviderError } from '../../../../src/formats/messages/message-errors.ts'
import {
  type ChatTargetModel,
  translateMessagesRequest,
} from '../../../../src/formats/messages/message-request-to-chat.ts'
import { planCaching } from '../../../../src/formats/plan-caching.ts'
import { estimateInputTokens } from '../../../../src/formats/translation.ts'
import { messageFromChat } from '../translated.ts'

const target: ChatTargetModel = {
  maxOutputTokens: null,
  canReason: true,
  supportsCacheControl: true,
  extrasKeys: ['p m'],
}
const base = { model: 'some/model', max_tokens: 1_000, messages: [{ role: 'user', content: 'Hello' }] }

function messagesOf(messages: unknown[], more: JsonObject = {}): unknown {
  return translateMessagesRequest({ ...base, messages, ...more }, target).messages
}

function refusalOf(more: JsonObject): ProxyError {
  try {
    translateMessagesRequest({ ...base, ...more }, target)
  } catch (error) {
    if (error instanceof ProxyError) return error
    throw error
  }
  throw new Error('The request was not rejected')
}

describe('translating a Messages request to chat', () => {
  test('translates every setting', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const chat = translateMessagesRequest(
      {
        ...base,
        system: 'Be brief.',
        stop_sequences: ['END'],
        temperature: 0.5,
        tools: [{ name: 'f', description: 'F', input_schema: schema }],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
        output_config: { effort: 'max', format: { type: 'json_schema', schema } },
        metadata: { user_id: 'u' },
        service_tier: 'standard_only',
        stream: true,
        thinking: { type: 'adaptive' },
        context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
        provider: { order: ['a'] },
        mcp_servers: [],
      },
      target,
    )
    expect(chat).toEqual({
      model: 'some/model',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      max_completion_tokens: 1_000,
      stop: ['END'],
      temperature: 0.5,
      tools: [{ type: 'function', function: { name: 'f', description: 'F', parameters: schema } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      user: 'u',
      service_tier: 'default',
      stream: true,
      stream_options: { include_usage: true },
      provider: { order: ['a'] },
    })
  })

  test('translates a conversation as an agent sends it', () => {
    const mark = { cache_control: { type: 'ephemeral' } }
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Look', ...mark }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'of-another-vendor' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: 1 } },
          { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Sun', ...mark },
          {
            type: 'tool_result',
            tool_use_id: 'toolu_2',
            is_error: true,
            content: [
              { type: 'text', text: 'Dark' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            ],
          },
          { type: 'text', text: 'Go on' },
        ],
      },
      { role: 'system', content: 'Mind the time.' },
    ]
    expect(messagesOf(messages, { system: [{ type: 'text', text: 'Be brief.', ...mark }] })).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Be brief.', ...mark }] },
      { role: 'user', content: [{ type: 'text', text: 'Look', ...mark }] },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
          { id: 'toolu_2', type: 'function', function: { name: 'look', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'Sun' },
      {
        role: 'tool',
        tool_call_id: 'toolu_2',
        content: [
          { type: 'text', text: 'The tool failed.' },
          { type: 'text', text: 'Dark' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Returned by call toolu_2:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      { role: 'user', content: 'Go on' },
      { role: 'system', content: 'Mind the time.' },
    ])
  })

  test('translates documents and search results', () => {
    const content = [
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0' }, title: 'a.pdf' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Said' }, title: 'B', context: 'C' },
      { type: 'search_result', source: 'https://a.example/', title: 'A', content: [{ type: 'text', text: 'Found' }] },
      { type: 'image', source: { type: 'url', url: 'https://a.example/a.png' } },
    ]
    expect(messagesOf([{ role: 'user', content }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0' } },
          { type: 'text', text: 'B\nC' },
          { type: 'text', text: 'Said' },
          { type: 'text', text: 'A (https://a.example/)' },
          { type: 'text', text: 'Found' },
          { type: 'image_url', image_url: { url: 'https://a.example/a.png' } },
        ],
      },
    ])
  })

  test('sends only what the model supports', () => {
    const body = {
      ...base,
      max_tokens: 64_000,
      system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }],
      thinking: { type: 'enabled', budget_tokens: 8_000 },
    }
    const plain = { maxOutputTokens: 16_384, canReason: false, supportsCacheControl: false, extrasKeys: ['p m'] }
    expect(translateMessagesRequest(body, plain)).toEqual({
      model: 'some/model',
      messages: [
        { role: 'system', content: 'x' },
        { role: 'user', content: 'Hello' },
      ],
      max_completion_tokens: 16_384,
    })
    expect(translateMessagesRequest(body, target)).toMatchObject({
      max_completion_tokens: 64_000,
      reasoning_effort: 'medium',
    })
  })

  test.each([
    [{ thinking: { type: 'enabled', budget_tokens: 1_024 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 31_999 } }, 'high'],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{ thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, undefined],
    [{ output_config: { effort: 'low' } }, 'low'],
  ])('with %j requests effort %s', (more, effort) => {
    expect(translateMessagesRequest({ ...base, ...more }, target).reasoning_effort).toBe(effort)
  })

  test('hashes a long user id', () => {
    const chat = translateMessagesRequest({ ...base, metadata: { user_id: `user_${'0'.repeat(80)}` } }, target)
    expect(chat.user).toMatch(/^[0-9a-f]{64}$/)
  })

  test('returns a model’s own reasoning to it', () => {
    const reasoning_details = [{ type: 'reasoning.encrypted', data: 'A' }]
    for (const reasoning of [null, 'Hm.']) {
      const message = { role: 'assistant', content: 'Hi.', reasoning, reasoning_details }
      const answer = { id: 'a', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }
      const { content } = messageFromChat(answer, { model: 'm', inputTokens: 1, requestId: 'r', extrasKeys: ['p m'] })
      const next = messagesOf([
        { role: 'assistant', content },
        { role: 'user', content: 'x' },
      ])
      expect(next).toMatchObject([{ role: 'assistant', content: 'Hi.', reasoning_details }, { role: 'user' }])
    }
  })

  test.each([
    [{ max_tokens: undefined }, 'max_tokens'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: [{ type: 'container_upload' }] }] }, 'messages[0].content[0].type'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file' } }] }] },
      'messages[0].content[0].source.type',
    ],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0].type'],
    [{ container: 'c' }, 'container'],
    [{ mcp_servers: [{ url: 'x' }] }, 'mcp_servers'],
    [{ inference_geo: 'us' }, 'inference_geo'],
    [{ stop_sequences: [7] }, 'stop_sequences'],
  ])('names what cannot be translated: %j', (more, param) => {
    expect(refusalOf(more)).toMatchObject({ status: 400, param })
  })
})

describe('planning the caching of a Messages request', () => {
  test.each([
    [{ container: 'c' }, 'container'],
    [{ mcp_servers: [{ url: 'x' }] }, 'mcp_servers'],
    [{ tools: [{ name: 'f', input_schema: {} }, { type: 'web_search_20250305' }] }, 'tools[1].type'],
    [{ tools: [{ type: 'code_execution_20260521' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'a_tool_of_tomorrow' }] }, 'tools[0].type'],
  ])('does not cache %j', (more, field) => {
    expect(planCaching('messages', { ...base, ...more })).toMatchObject({ isCacheable: false, field })
  })

  test('caches requests that call the client’s own tools', () => {
    const tools = [
      { name: 'f' },
      { type: 'custom', name: 'g' },
      { type: 'bash_20250124' },
      { type: 'text_editor_20250728' },
    ]
    expect(planCaching('messages', { ...base, tools, container: null, mcp_servers: [] })).toMatchObject({
      isCacheable: true,
    })
  })
})

describe('counting input tokens', () => {
  test('counts a request without a limit', () => {
    const { max_tokens: _limit, ...counted } = base
    const { input_tokens } = estimateInputTokens('messages', counted)
    expect(input_tokens).toBeGreaterThan(4)
    expect(estimateInputTokens('messages', { ...counted, system: 'Be brief.' }).input_tokens).toBeGreaterThan(
      Number(input_tokens),
    )
  })
})

describe('errors', () => {
  test.each([
    [400, 'invalid_request_error', Anthropic.BadRequestError],
    [401, 'authentication_error', Anthropic.AuthenticationError],
    [403, 'permission_error', Anthropic.PermissionDeniedError],
    [404, 'not_found_error', Anthropic.NotFoundError],
    [405, 'invalid_request_error', Anthropic.APIError],
    [413, 'request_too_large', Anthropic.APIError],
    [429, 'rate_limit_error', Anthropic.RateLimitError],
    [502, 'api_error', Anthropic.InternalServerError],
    [503, 'overloaded_error', Anthropic.InternalServerError],
    [504, 'timeout_error', Anthropic.InternalServerError],
    [529, 'overloaded_error', Anthropic.InternalServerError],
  ])('of status %i are %s to the official client', async (status, type, kind) => {
    const body = writeAnthropicError({ status, message: 'Oh.' }, 'req_1')
    const fetch = async () => Response.json(body, { status, headers: { 'request-id': 'req_1' } })
    const client = new Anthropic({ apiKey: 'sk-none', baseURL: 'http://127.0.0.1:9', fetch, maxRetries: 0 })
    const asked = client.messages.create({ model: 'm', max_tokens: 1, messages: [] })
    const error = await asked.then(
      () => null,
      (thrown: InstanceType<typeof Anthropic.APIError>) => thrown,
    )
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject({ status, type, requestID: 'req_1', error: body })
  })

  test('of a provider keep their message', () => {
    const told = (text: string) => writeAnthropicProviderError(readProviderError(text, 400), 'req_1').body.error
    for (const text of ['{"error":{"message":"No.","code":"x"}}', '{"error":"No."}', '{"message":"No."}', 'No.'])
      expect(told(text)).toEqual({ type: 'invalid_request_error', message: 'No.' })
    for (const text of ['<html>', '', '{}', 'null'])
      expect(told(text)).toMatchObject({ message: 'The provider responded with status 400.' })
  })
})
