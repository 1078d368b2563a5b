import { describe, expect, test } from 'vitest'
import { chooseApiVersion } from '../../../../src/providers/anthropic/messages-request.ts'
import { adaptTools } from '../../../../src/providers/anthropic/request/adapt-tools.ts'
import { translateRequest } from '../../../../src/providers/anthropic/request/translate-request.ts'

type Body = Record<string, unknown>

const USER = { role: 'user', content: 'Hi' }
const TOOLS = ['a', 'b', 'c'].map(name => ({ type: 'function', function: { name } }))

function translate(fields: Body, model = 'claude-opus-5-5', maxOutputTokens: number | null = 128_000) {
  return adaptTools(translateRequest({ model, messages: [USER], ...fields }, { maxOutputTokens })).request
}

function refused(fields: Body, param: string, model?: string) {
  expect(() => translate(fields, model)).toThrow(expect.objectContaining({ status: 400, param }))
}

describe('max_tokens', () => {
  test('is the client’s, else the model’s output limit, else a documented default', () => {
    expect(translate({ max_tokens: 10 }).max_tokens).toBe(10)
    expect(translate({ max_tokens: 10, max_completion_tokens: null }).max_tokens).toBe(10)
    expect(translate({}).max_tokens).toBe(128_000)
    expect(translate({}, 'claude-x', null).max_tokens).toBe(32_000)
  })

  test.each([0, -1, 1.5, '10', true])('rejects %j', value => {
    refused({ max_tokens: value }, 'max_tokens')
    refused({ max_completion_tokens: value }, 'max_completion_tokens')
  })
})

describe('temperature, top_p and top_k', () => {
  test.each([
    [{ temperature: 0 }, { temperature: 0 }, '2023-06-01'],
    [{ temperature: 1 }, {}, '2026-10-21'],
    [{ temperature: null, top_p: 1 }, {}, '2026-10-21'],
    [{ top_p: 0.5 }, { top_p: 0.5 }, '2023-06-01'],
    [{ temperature: 1, top_p: 0.5 }, { top_p: 0.5 }, '2023-06-01'],
    [{ temperature: 0.3, top_k: 5 }, { temperature: 0.3, top_k: 5 }, '2023-06-01'],
  ])('%j', (fields, sampling, version) => {
    const request = translate(fields, 'claude-haiku-4-5')
    const { temperature, top_p, top_k } = request
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(sampling)
    expect(chooseApiVersion(request)).toBe(version)
  })

  test.each([
    [{ temperature: 1.5 }, 'temperature'],
    [{ temperature: -0.1 }, 'temperature'],
    [{ temperature: '1' }, 'temperature'],
    [{ top_p: 1.1 }, 'top_p'],
    [{ temperature: 0.5, top_p: 0.5 }, 'top_p'],
    [{ temperature: 0.5, reasoning_effort: 'low' }, 'temperature'],
    [{ top_k: 0 }, 'top_k'],
  ])('rejects %j', (fields, param) => refused(fields, param, 'claude-haiku-4-5'))
})

describe('stop', () => {
  test.each([
    ['END', ['END']],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  ])('%j', (stop, sequences) => expect(translate({ stop }).stop_sequences).toEqual(sequences))

  test.each([null, []])('%j requests nothing', stop => expect(translate({ stop })).not.toHaveProperty('stop_sequences'))

  test('of white space alone is not sent: the proxy ends the response', () => {
    expect(translate({ stop: '\n' })).not.toHaveProperty('stop_sequences')
    expect(translate({ stop: ['END', ' \n'] }).stop_sequences).toEqual(['END'])
  })

  test.each(['', ['END', ''], [1], 7])('rejects %j', stop => refused({ stop }, 'stop'))
})

describe('an id of the end user', () => {
  test.each(['ann@example.com', '+49 30 901820', '030 901 8200', '(555) 010-4477', '4930901820'])(
    '%s is hashed, because it names a person',
    user => {
      expect(translate({ user }).metadata).toEqual({ user_id: expect.stringMatching(/^[0-9a-f]{64}$/) })
      expect(translate({ metadata: { user_id: user } }).metadata).toEqual(translate({ user }).metadata)
    },
  )

  test.each(['user-123', '7', '5a4db0c5-0000-4000-8000-000000000001', 'a1b2', '12345678901234567890'])(
    '%s is sent unchanged',
    user => expect(translate({ safety_identifier: user }).metadata).toEqual({ user_id: user }),
  )

  test('is the same in every notation of the same person', () => {
    expect(translate({ user: ' Ann@Example.com' })).toEqual(translate({ user: 'ann@example.com' }))
    expect(translate({ user: '+4930901820' })).toEqual(translate({ user: '+49 30 90 18 20' }))
  })
})

describe('Anthropic’s own tools', () => {
  test.each([
    { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
    { type: 'mcp_toolset', mcp_server_name: 'm' },
    { name: 'mine', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
    { type: 'custom', name: 'mine', input_schema: { type: 'object' } },
  ])('are sent unchanged: %j', tool => expect(translate({ tools: [tool] }).tools).toEqual([tool]))

  test('may be chosen by name', () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
    const tool_choice = { type: 'function', function: { name: 'web_search' } }
    expect(translate({ tools, tool_choice }).tool_choice).toEqual({ type: 'tool', name: 'web_search' })
  })
})

describe('tool_choice', () => {
  test.each<[unknown, unknown]>([
    [undefined, undefined],
    ['auto', undefined],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', function: { name: 'b' } },
      { type: 'tool', name: 'b' },
    ],
  ])('%j', (choice, becomes) => {
    const { tools, tool_choice } = translate({ tools: TOOLS, tool_choice: choice })
    expect(tool_choice).toEqual(becomes)
    expect(tools).toHaveLength(3)
  })

  test.each(['auto', 'required'] as const)('allowed_tools, %s, shortens the list', mode => {
    const allowed_tools = {
      mode,
      tools: [
        { type: 'function', function: { name: 'c' } },
        { type: 'function', name: 'a' },
      ],
    }
    const { tools, tool_choice } = translate({ tools: TOOLS, tool_choice: { type: 'allowed_tools', allowed_tools } })
    expect(tools?.map(tool => 'name' in tool && tool.name)).toEqual(['a', 'c'])
    expect(tool_choice).toEqual(mode === 'auto' ? undefined : { type: 'any' })
  })

  test.each<[Body, unknown]>([
    [{}, { type: 'auto', disable_parallel_tool_use: true }],
    [{ tool_choice: 'required' }, { type: 'any', disable_parallel_tool_use: true }],
    [
      { tool_choice: { type: 'function', function: { name: 'a' } } },
      { type: 'tool', name: 'a', disable_parallel_tool_use: true },
    ],
    [{ tool_choice: 'none' }, { type: 'none' }],
  ])('parallel_tool_calls: false with %j', (fields, becomes) => {
    expect(translate({ tools: TOOLS, parallel_tool_calls: false, ...fields }).tool_choice).toEqual(becomes)
  })

  test.each<[Body, string]>([
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ tools: TOOLS, tool_choice: 'sometimes' }, 'tool_choice'],
    [{ tools: TOOLS, tool_choice: 7 }, 'tool_choice'],
    [{ tools: TOOLS, tool_choice: { type: 'function', function: { name: 'z' } } }, 'tool_choice.function.name'],
    [{ tools: TOOLS, tool_choice: { type: 'function' } }, 'tool_choice.function'],
    [{ tools: TOOLS, tool_choice: { type: 'custom', custom: { name: 'a' } } }, 'tool_choice'],
    [
      { tools: TOOLS, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'none', tools: [] } } },
      'tool_choice.allowed_tools.mode',
    ],
    [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    [{ tools: {} }, 'tools'],
    [{ functions: [{ name: 'f' }], function_call: { name: 'g' } }, 'function_call.name'],
  ])('rejects %j', (fields, param) => refused(fields, param))

  test('a required call is rejected beside a reasoning budget', () => {
    refused({ tools: TOOLS, tool_choice: 'required', reasoning_effort: 'low' }, 'tool_choice', 'claude-haiku-4-5')
  })

  test.each(['none', 'auto'])('%s without tools requests nothing', choice => {
    expect(translate({ tool_choice: choice })).toEqual(translate({}))
  })
})

describe('tools', () => {
  test('a function without parameters has none', () => {
    expect(translate({ tools: [{ type: 'function', function: { name: 'f', description: 'd' } }] }).tools).toEqual([
      { name: 'f', description: 'd', input_schema: { type: 'object', properties: {} } },
    ])
  })

  test('parameters are sent unchanged, except for the type that Anthropic requires', () => {
    const parameters = { properties: { n: { type: 'integer', minimum: 1 } }, $defs: {}, additionalProperties: true }
    expect(translate({ tools: [{ type: 'function', function: { name: 'f', parameters } }] }).tools).toEqual([
      { name: 'f', input_schema: { ...parameters, type: 'object' } },
    ])
  })

  test('functions called earlier are described if no tools are offered now', () => {
    const messages = [
      USER,
      { role: 'assistant', tool_calls: [{ id: 'x', type: 'function', function: { name: 'old', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'x', content: '1' },
    ]
    expect(translate({ messages })).toMatchObject({
      tools: [{ name: 'old', input_schema: { type: 'object' } }],
      tool_choice: { type: 'none' },
    })
  })
})

describe('reasoning_effort', () => {
  const shown = { type: 'adaptive', display: 'summarized' }

  test.each([
    ['claude-opus-5-5', 'minimal', shown, 'low'],
    ['claude-opus-5-5', 'low', shown, 'low'],
    ['claude-sonnet-5-5', 'xhigh', shown, 'xhigh'],
    ['claude-haiku-5-5', 'max', shown, 'max'],
    ['claude-opus-4-7', 'medium', shown, 'medium'],
    ['claude-opus-4-6', 'xhigh', shown, 'high'],
    ['claude-sonnet-4-6', 'max', shown, 'max'],
    ['claude-of-tomorrow-9', 'high', shown, 'high'],
    ['claude-haiku-4-5-20251001', 'minimal', { type: 'enabled', budget_tokens: 1024 }, undefined],
    ['claude-opus-4-5', 'medium', { type: 'enabled', budget_tokens: 8192 }, undefined],
    ['claude-sonnet-4-5', 'max', { type: 'enabled', budget_tokens: 49_152 }, undefined],
    ['claude-sonnet-4-20250514', 'low', { type: 'enabled', budget_tokens: 2048 }, undefined],
    ['claude-opus-5', 'none', { type: 'disabled' }, undefined],
    ['claude-haiku-5-5', 'none', { type: 'disabled' }, undefined],
    ['claude-sonnet-5-5', 'none', { type: 'between_tools' }, undefined],
    ['claude-haiku-4-5', 'none', { type: 'disabled' }, undefined],
  ])('%s, %s', (model, reasoning_effort, thinking, effort) => {
    const request = translate({ reasoning_effort }, model)
    expect(request.thinking).toEqual(thinking)
    expect(request.output_config?.effort).toBe(effort)
  })

  test('is left to the model if the request has none', () => {
    expect(translate({})).not.toHaveProperty('thinking')
    expect(translate({ reasoning_effort: null })).not.toHaveProperty('output_config')
  })

  test.each(['claude-opus-5-5', 'claude-fable-5-1', 'claude-mythos-5'])('%s cannot be disabled', model => {
    refused({ reasoning_effort: 'none' }, 'reasoning_effort', model)
  })

  test('a budget leaves half of max_tokens to the answer, and is rejected if too little is left', () => {
    const request = translate({ reasoning_effort: 'high', max_tokens: 5000 }, 'claude-haiku-4-5')
    expect(request).toMatchObject({ max_tokens: 5000, thinking: { budget_tokens: 2500 } })
    refused({ reasoning_effort: 'high', max_tokens: 2000 }, 'reasoning_effort', 'claude-haiku-4-5')
  })

  test('is allowed beside a schema', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const response_format = { type: 'json_schema', json_schema: { name: 'n', schema } }
    expect(translate({ reasoning_effort: 'low', response_format }).output_config).toEqual({
      effort: 'low',
      format: { type: 'json_schema', schema },
    })
  })

  test('rejects an unknown level', () => refused({ reasoning_effort: 'much' }, 'reasoning_effort'))
})

describe('response_format', () => {
  test('text requests nothing', () => {
    expect(translate({ response_format: { type: 'text' } })).toEqual(translate({}))
  })

  test('json_object becomes an instruction after the client’s own', () => {
    const messages = [{ role: 'system', content: 'Be terse' }, USER]
    const { system } = translate({ messages, response_format: { type: 'json_object' } })
    expect(system).toEqual([
      { type: 'text', text: 'Be terse' },
      { type: 'text', text: expect.stringContaining('JSON object') },
    ])
  })

  test('sends a description with the schema', () => {
    const json_schema = { name: 'n', description: 'A thing', schema: { type: 'object', properties: {} } }
    expect(translate({ response_format: { type: 'json_schema', json_schema } }).output_config?.format?.schema).toEqual({
      type: 'object',
      properties: {},
      additionalProperties: false,
      description: 'A thing',
    })
  })

  test.each<[unknown, string]>([
    ['json', 'response_format'],
    [{ type: 'grammar' }, 'response_format.type'],
    [{ type: 'json_schema' }, 'response_format.json_schema'],
    [{ type: 'json_schema', json_schema: { name: 'n' } }, 'response_format.json_schema.schema'],
  ])('rejects %j', (response_format, param) => refused({ response_format }, param))
})

describe('user', () => {
  test.each([
    [{ user: 7 }, 'user'],
    [{ safety_identifier: {} }, 'safety_identifier'],
    [{ metadata: { user_id: 7 } }, 'metadata.user_id'],
    [{ metadata: 'x' }, 'metadata'],
  ])('rejects %j', (fields, param) => refused(fields, param))
})

describe('service_tier', () => {
  test.each(['flex', 'priority', 'scale'])('%s is rejected', tier => refused({ service_tier: tier }, 'service_tier'))
  test('auto is kept', () => expect(translate({ service_tier: 'auto' }).service_tier).toBe('auto'))
})
