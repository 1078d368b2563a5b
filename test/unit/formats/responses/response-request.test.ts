import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors/errors.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import { translateResponsesRequest } from '../../../../src/formats/responses/response-request-to-chat.ts'
import { readResponseContext } from '../../../../src/formats/responses/write-response.ts'
import { responseFromChat } from '../translated.ts'

const EXTRAS_KEYS = ['p m']

function messagesOf(input: unknown, more: JsonObject = {}): unknown {
  return translateResponsesRequest({ model: 'm', input, ...more }, EXTRAS_KEYS).messages
}

function refusalOf(body: JsonObject): ProxyError {
  try {
    translateResponsesRequest({ model: 'm', input: 'x', ...body }, EXTRAS_KEYS)
  } catch (error) {
    if (error instanceof ProxyError) return error
    throw error
  }
  throw new Error('The request was not rejected')
}

describe('translating a Responses request to chat', () => {
  test('translates every setting', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const chat = translateResponsesRequest(
      {
        model: 'some/model',
        input: 'Hello',
        instructions: 'Be brief.',
        max_output_tokens: 50,
        temperature: 0.5,
        top_p: 0.9,
        parallel_tool_calls: false,
        tools: [{ type: 'function', name: 'f', description: 'F', parameters: schema, strict: true }],
        tool_choice: { type: 'function', name: 'f' },
        text: { format: { type: 'json_schema', name: 'n', schema, strict: true }, verbosity: 'low' },
        reasoning: { effort: 'high', summary: 'auto' },
        include: ['message.output_text.logprobs'],
        top_logprobs: 2,
        user: 'u',
        safety_identifier: 's',
        prompt_cache_key: 'k',
        metadata: { a: 'b' },
        store: true,
        stream: true,
        truncation: 'disabled',
        provider: { order: ['a'] },
        background: false,
        previous_response_id: null,
      },
      EXTRAS_KEYS,
    )
    expect(chat).toEqual({
      model: 'some/model',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      max_completion_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      parallel_tool_calls: false,
      tools: [{ type: 'function', function: { name: 'f', description: 'F', parameters: schema, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
      verbosity: 'low',
      reasoning_effort: 'high',
      logprobs: true,
      top_logprobs: 2,
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      stream: true,
      stream_options: { include_usage: true },
      provider: { order: ['a'] },
    })
  })

  test('omits what chat accepts only with tools', () => {
    const chat = translateResponsesRequest(
      { model: 'm', input: 'x', tools: [], tool_choice: 'auto', parallel_tool_calls: true },
      EXTRAS_KEYS,
    )
    expect(chat).toEqual({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
  })

  test('translates parts of every kind', () => {
    const content = [
      { type: 'input_text', text: 'See' },
      { type: 'input_image', image_url: 'https://a.example/a.png', detail: 'original' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
      { type: 'input_file', file_id: 'file-1' },
      { type: 'input_text', text: 'this', prompt_cache_breakpoint: { mode: 'explicit' } },
    ]
    expect(messagesOf([{ role: 'user', content }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'https://a.example/a.png', detail: 'high' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
          { type: 'file', file: { file_id: 'file-1' } },
          { type: 'text', text: 'this', prompt_cache_breakpoint: { mode: 'explicit' } },
        ],
      },
    ])
  })

  test('puts text and calls of the assistant into one message', () => {
    const input = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Weather?' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAB-of-another-vendor' },
      { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call', call_id: 'c2', name: 'look', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'Sun' },
      {
        type: 'function_call_output',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 'Rain' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        ],
      },
      { role: 'assistant', content: 'Both.' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No more.' }] },
      { role: 'user', content: 'Thanks' },
    ]
    expect(messagesOf(input)).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } },
          { id: 'c2', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'Sun' },
      { role: 'tool', tool_call_id: 'c2', content: 'Rain' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Returned by call c2:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      { role: 'assistant', content: 'Both.' },
      { role: 'assistant', content: null, refusal: 'No more.' },
      { role: 'user', content: 'Thanks' },
    ])
  })

  test('puts nothing between a call and its result', () => {
    const input = [
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { role: 'assistant', content: 'One moment.' },
      { type: 'function_call_output', call_id: 'c1', output: 'Sun' },
    ]
    expect(messagesOf(input)).toMatchObject([
      { role: 'assistant', content: 'One moment.', tool_calls: [{ id: 'c1' }] },
      { role: 'tool', tool_call_id: 'c1' },
    ])
  })

  test('offers custom tools as functions of one text', () => {
    const tool = {
      type: 'custom',
      name: 'patch',
      description: 'Patches.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
    }
    const input = [
      { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'Done' },
    ]
    const chat = translateResponsesRequest(
      { model: 'm', input, tools: [tool], tool_choice: { type: 'custom', name: 'patch' } },
      EXTRAS_KEYS,
    )
    expect(chat).toMatchObject({
      tools: [
        {
          type: 'function',
          function: {
            name: 'patch',
            description: 'Patches.\n\nThe input must match this lark grammar:\nstart: "x"',
            parameters: { required: ['input'] },
          },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'patch' } },
      messages: [
        { tool_calls: [{ function: { name: 'patch', arguments: '{"input":"*** Begin"}' } }] },
        { role: 'tool', content: 'Done' },
      ],
    })
  })

  test('flattens namespaces, and omits a search tool that is optional', () => {
    const parameters = { type: 'object', properties: {} }
    const inner = [
      { type: 'function', name: 'close', description: 'Closes.', strict: false, parameters },
      { type: 'custom', name: 'patch' },
      { type: 'function', name: 'n'.repeat(64), parameters },
    ]
    const body = {
      model: 'm',
      tools: [
        { type: 'namespace', name: 'agents', description: 'Agents.', tools: inner },
        { type: 'web_search', external_web_access: false },
      ],
      input: [
        { type: 'function_call', call_id: 'c1', namespace: 'agents', name: 'close', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'Done' },
      ],
      client_metadata: { session_id: 's' },
    }
    const chat = translateResponsesRequest(body, EXTRAS_KEYS)
    const names = (chat.tools as { function: { name: string } }[]).map(tool => tool.function.name)
    expect(names).toEqual(['agents__close', 'agents__patch', expect.stringMatching(/^agents__n{47}_[0-9a-f]{8}$/)])
    expect(chat).toMatchObject({ messages: [{ tool_calls: [{ function: { name: 'agents__close' } }] }, {}] })
    expect(chat).not.toHaveProperty('client_metadata')
    const tool_calls = names.map((name, index) => {
      return { id: `c${index}`, type: 'function', function: { name, arguments: '{"input":"x"}' } }
    })
    const message = { role: 'assistant', content: null, tool_calls }
    const answer = { id: 'a', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
    expect(responseFromChat(answer, readResponseContext(body, 'req_1', EXTRAS_KEYS)).output).toMatchObject([
      { type: 'function_call', namespace: 'agents', name: 'close', arguments: '{"input":"x"}' },
      { type: 'custom_tool_call', namespace: 'agents', name: 'patch', input: 'x' },
      { type: 'function_call', namespace: 'agents', name: 'n'.repeat(64) },
    ])
  })

  test('returns a model’s own reasoning to it', () => {
    const thinking_blocks = [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln', index: 0 }]
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const message = { role: 'assistant', content: null, reasoning_content: 'Hm.', thinking_blocks, tool_calls: [call] }
    const answer = { id: 'a', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
    const body = { model: 'm', input: 'x', include: ['reasoning.encrypted_content'] }
    const { output } = responseFromChat(answer, readResponseContext(body, 'req_1', EXTRAS_KEYS)) as {
      output: JsonObject[]
    }
    const next = [...output, { type: 'function_call_output', call_id: 'c1', output: 'Sun' }]
    expect(messagesOf(next)).toMatchObject([
      { role: 'assistant', thinking_blocks, tool_calls: [call] },
      { role: 'tool' },
    ])
  })

  test.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ background: true }, 'background'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ moderation: { model: 'omni' } }, 'moderation'],
    [{ tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }] }, 'tools[1].type'],
    [{ tools: [{ type: 'mcp', server_label: 'a' }] }, 'tools[0].type'],
    [{ tool_choice: { type: 'file_search' } }, 'tool_choice.type'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0].type'],
    [{ input: [{ type: 'computer_call_output', call_id: 'c' }] }, 'input[0].type'],
    [{ input: [{ type: 'constructor' }] }, 'input[0].type'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }, 'input[0].content[0].file_id'],
    [{ input: [{ role: 'user', content: [{ type: 'video' }] }] }, 'input[0].content[0].type'],
    [{ input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
    [{ input: [{ role: 'user', content: 7 }] }, 'input[0].content'],
    [{ input: [] }, 'input'],
    [{ input: 7 }, 'input'],
    [{ text: { format: { type: 'json_schema', schema: {} } } }, 'text.format.name'],
    [{ include: 'x' }, 'include'],
  ])('names what cannot be translated: %j', (body, param) => {
    expect(refusalOf(body)).toMatchObject({ status: 400, param })
  })
})
