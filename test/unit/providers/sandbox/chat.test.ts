import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors/errors.ts'
import { countPromptTokens, countTextTokens } from '../../../../src/formats/tokens/count-tokens.ts'
import { createSandboxResponse } from '../../../../src/providers/sandbox/response.ts'

interface Completion {
  id: string
  object: string
  created: number
  model: string
  choices: {
    index: number
    finish_reason: string
    message: {
      role: string
      content: string | null
      tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[]
      function_call?: { name: string; arguments: string }
    }
    logprobs: null
  }[]
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

const ASK = { model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'What is the weather in Paris?' }] }

const WEATHER = {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
  required: ['city', 'unit'],
  additionalProperties: false,
}
const TOOLS = [
  {
    type: 'function',
    function: { name: 'get_weather', description: 'Weather now', parameters: WEATHER, strict: true },
  },
  { type: 'function', function: { name: 'get_time' } },
]
const TOOL_RESULT = [
  ...ASK.messages,
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_time', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: '22 degrees' },
]

const ask = async (request: object) => createSandboxResponse('chat', { ...ASK, ...request }) as unknown as Completion
const firstChoice = async (request: object) => {
  const [choice] = (await ask(request)).choices
  if (choice === undefined) throw new Error('no choice')
  return choice
}
const callsOf = async (request: object) =>
  (await firstChoice(request)).message.tool_calls?.map(call => call.function.name)

async function refusalOf(request: object): Promise<{ param: string | null; message: string }> {
  try {
    await ask(request)
  } catch (error) {
    if (error instanceof ProxyError && error.status === 400) return error
    throw error
  }
  throw new Error('The request was not rejected')
}

describe('text', () => {
  test('is marked, complete, and counted', async () => {
    const answer = await ask({})
    const content = answer.choices[0]?.message.content ?? ''
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: ASK.model,
      choices: [{ index: 0, finish_reason: 'stop', logprobs: null }],
    })
    expect(content).toMatch(/^\[sandbox\] .*What is the weather in Paris\?/)
    const [prompt, completion] = [countPromptTokens(ASK, 'chat'), countTextTokens(content, ASK.model)]
    expect(answer.usage).toMatchObject({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    })
  })

  test('is the same for the same request except for its time, streamed or not', async () => {
    const { created: _, ...one } = await ask({ seed: 1 })
    const { created: __, ...other } = await ask({ stream: true, stream_options: { include_usage: true }, seed: 1 })
    expect(other).toEqual(one)
  })

  test('differs for another request', async () => {
    const ids = [{}, { seed: 2 }, { temperature: 0 }, { model: 'gpt-4o' }].map(async change => (await ask(change)).id)
    expect(new Set(await Promise.all(ids)).size).toBe(4)
  })

  test('reads content parts, and quotes little of a long message', async () => {
    const content = [
      { type: 'text', text: 'Describe' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ]
    expect((await firstChoice({ messages: [{ role: 'user', content }] })).message.content).toContain('Describe')
    const long =
      (await firstChoice({ messages: [{ role: 'user', content: '😀'.repeat(5_000) }] })).message.content ?? ''
    expect(long.isWellFormed()).toBe(true)
    expect(long.length).toBeLessThan(700)
  })

  test('has as many distinct choices as requested', async () => {
    const { choices, usage } = await ask({ n: 3 })
    expect(choices.map(choice => choice.index)).toEqual([0, 1, 2])
    const contents = choices.map(choice => choice.message.content ?? '')
    expect(new Set(contents).size).toBe(3)
    expect(usage.completion_tokens).toBe(contents.reduce((sum, content) => sum + countTextTokens(content), 0))
  })

  test('ends before a stop sequence', async () => {
    const whole = (await firstChoice({})).message.content ?? ''
    const choice = await firstChoice({ stop: ['no such thing', ' test answer'] })
    expect(choice.finish_reason).toBe('stop')
    expect(choice.message.content).toBe(whole.slice(0, whole.indexOf(' test answer')))
    expect((await firstChoice({ stop: '[' })).message.content).toBe('')
  })

  test.each(['max_tokens', 'max_completion_tokens'])('ends after %s', async field => {
    const answer = await ask({ [field]: 5 })
    expect(answer.choices[0]?.finish_reason).toBe('length')
    expect(countTextTokens(answer.choices[0]?.message.content ?? '')).toBe(5)
    expect(answer.usage.completion_tokens).toBe(5)
    expect((await firstChoice({ [field]: 100_000 })).finish_reason).toBe('stop')
  })
})

describe('tools', () => {
  const validate = new Ajv2020().compile(WEATHER)

  test('are called with arguments that satisfy their schema', async () => {
    const answer = await ask({ tools: TOOLS })
    const [choice] = answer.choices
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    const [call] = choice?.message.tool_calls ?? []
    expect(call).toMatchObject({ type: 'function', id: expect.stringMatching(/^call_[0-9a-f]{24}$/) })
    expect(validate(JSON.parse(call?.function.arguments ?? ''))).toBe(true)
    expect((await ask({ tools: TOOLS })).choices).toEqual(answer.choices)
    expect(answer.usage.completion_tokens).toBeGreaterThan(countTextTokens(call?.function.arguments ?? ''))
  })

  test.each<[string, object, string[] | undefined]>([
    ['free choice: the first tool', {}, ['get_weather']],
    [
      'free choice: the tool that the user names',
      { messages: [{ role: 'user', content: 'Use get_time' }] },
      ['get_time'],
    ],
    ['auto', { tool_choice: 'auto' }, ['get_weather']],
    ['none', { tool_choice: 'none' }, undefined],
    ['required', { tool_choice: 'required', messages: TOOL_RESULT }, ['get_weather']],
    ['a named tool', { tool_choice: { type: 'function', function: { name: 'get_time' } } }, ['get_time']],
    ['in parallel', { parallel_tool_calls: true }, ['get_weather', 'get_time']],
    ['not in parallel', { parallel_tool_calls: false }, ['get_weather']],
    [
      'an allowed tool',
      {
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'get_time' } }] },
        },
      },
      ['get_time'],
    ],
    ['text after a result', { messages: TOOL_RESULT }, undefined],
    ['null instead of a choice', { tool_choice: null }, ['get_weather']],
  ])('%s', async (_, change, expected) => {
    expect(await callsOf({ tools: TOOLS, ...change })).toEqual(expected)
  })

  test('calls of several choices have distinct ids', async () => {
    const ids = (await ask({ tools: TOOLS, n: 2, parallel_tool_calls: true })).choices.flatMap(choice =>
      choice.message.tool_calls?.map(call => call.id),
    )
    expect(new Set(ids).size).toBe(4)
  })

  test('a result is acknowledged', async () => {
    const { message, finish_reason } = await firstChoice({ tools: TOOLS, messages: TOOL_RESULT })
    expect(finish_reason).toBe('stop')
    expect(message.content).toMatch(/^\[sandbox\] .*result of the tool call: “22 degrees”/)
    const two = await firstChoice({ messages: [...TOOL_RESULT, { role: 'tool', tool_call_id: 'c2', content: 'noon' }] })
    expect(two.message.content).toContain('results of 2 tool calls')
  })

  const PICTURE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
  test.each([
    ['an image', [{ role: 'user', content: [PICTURE] }]],
    ['an image and text', [{ role: 'user', content: [{ type: 'text', text: 'The picture of get_time:' }, PICTURE] }]],
    ['a reminder', [{ role: 'user', content: 'Remember get_weather.' }]],
    [
      'two messages',
      [
        { role: 'user', content: [PICTURE] },
        { role: 'user', content: [PICTURE] },
      ],
    ],
  ])('a result with %s after it is a result: nothing is called again', async (_, behind) => {
    const request = { tools: TOOLS, messages: [...TOOL_RESULT, ...behind] }
    const { message, finish_reason } = await firstChoice(request)
    expect([finish_reason, message.tool_calls]).toEqual(['stop', undefined])
    expect(message.content).toContain('Received the result of the tool call: “22 degrees”')
    const answered = [...request.messages, { role: 'assistant', content: 'Fine' }, ...ASK.messages]
    expect(await callsOf({ tools: TOOLS, messages: answered })).toEqual(['get_weather'])
  })

  test('arguments are truncated at the token limit', async () => {
    const choice = await firstChoice({ tools: TOOLS, max_tokens: 9 })
    expect(choice.finish_reason).toBe('length')
    expect(() => JSON.parse(choice.message.tool_calls?.[0]?.function.arguments ?? '')).toThrow()
  })

  test('legacy functions are called in the legacy form', async () => {
    const functions = TOOLS.map(tool => tool.function)
    const choice = await firstChoice({ functions })
    expect(choice).toMatchObject({
      finish_reason: 'function_call',
      message: { content: null, function_call: { name: 'get_weather' } },
    })
    expect(validate(JSON.parse(choice.message.function_call?.arguments ?? ''))).toBe(true)
    expect((await firstChoice({ functions, function_call: { name: 'get_time' } })).message.function_call?.name).toBe(
      'get_time',
    )
    expect((await firstChoice({ functions, function_call: 'none' })).message.content).toMatch(/^\[sandbox\]/)
  })
})

describe('response_format', () => {
  test('json_object', async () => {
    expect(
      JSON.parse((await firstChoice({ response_format: { type: 'json_object' } })).message.content ?? ''),
    ).toMatchObject({
      sandbox: true,
    })
  })

  test('json_schema', async () => {
    const response_format = { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema: WEATHER } }
    const { message, finish_reason } = await firstChoice({ response_format })
    expect(finish_reason).toBe('stop')
    expect(new Ajv2020().validate(WEATHER, JSON.parse(message.content ?? ''))).toBe(true)
  })

  test('text', async () => {
    expect((await firstChoice({ response_format: { type: 'text' } })).message.content).toMatch(/^\[sandbox\]/)
  })

  test('a large instance is not repeated for many choices', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`${'long'.repeat(500)}${index}`, { type: 'string' }]),
    )
    const schema = { type: 'object', properties, required: Object.keys(properties) }
    const response_format = { type: 'json_schema', json_schema: { name: 'large', schema } }
    expect((await firstChoice({ response_format, n: 2 })).finish_reason).toBe('stop')
    expect((await refusalOf({ response_format, n: 128 })).param).toBe('n')
  })
})

describe('rejects a bad field by name', () => {
  const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
  const tool = (change: object) => ({ tools: [{ type: 'function', function: { name: 'f', ...change } }] })
  test.each<[string, object]>([
    ['model', { model: undefined }],
    ['model', { model: 5 }],
    ['model', { model: '' }],
    ['messages', { messages: undefined }],
    ['messages', { messages: 'hi' }],
    ['messages', { messages: [] }],
    ['messages[0]', { messages: ['hi'] }],
    ['messages[0].role', { messages: [{ content: 'hi' }] }],
    ['messages[0].role', { messages: [{ role: 'robot', content: 'hi' }] }],
    ['messages[0].content', user(5)],
    ['messages[0].content', user(null)],
    ['messages[0].content[0].type', user([5])],
    ['messages[0].content[0].type', user([{ type: 'video' }])],
    ['messages[0].content[0].text', user([{ type: 'text' }])],
    ['messages[0].content[0].image_url', user([{ type: 'image_url', image_url: 'https://example.com' }])],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: '22' }] }],
    ['n', { n: 0 }],
    ['n', { n: 129 }],
    ['n', { n: 1.5 }],
    ['n', { n: '2' }],
    ['temperature', { temperature: 3 }],
    ['top_p', { top_p: -1 }],
    ['presence_penalty', { presence_penalty: 'x' }],
    ['seed', { seed: 1.5 }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_completion_tokens', { max_completion_tokens: 1e300 }],
    ['stop', { stop: ['a', 'b', 'c', 'd', 'e'] }],
    ['stop', { stop: [1] }],
    ['stop', { stop: '' }],
    ['logprobs', { logprobs: 1 }],
    ['logprobs', { logprobs: true, top_logprobs: 2 }],
    ['top_logprobs', { top_logprobs: 2 }],
    ['tools', { tools: {} }],
    ['tools', { tools: Array.from({ length: 129 }, () => TOOLS[1]) }],
    ['tools[0]', { tools: ['f'] }],
    ['tools[0].type', { tools: [{ type: 'retrieval' }] }],
    ['tools[0].function', { tools: [{ type: 'function' }] }],
    ['tools[0].function.name', tool({ name: 'not a name' })],
    ['tools[0].function.name', tool({ name: undefined })],
    ['tools[0].function.description', tool({ description: 5 })],
    ['tools[0].function.parameters', tool({ parameters: 'object' })],
    ['tools[0].function.parameters', tool({ parameters: { type: 'string' } })],
    ['tools[0].function.parameters', tool({ parameters: { type: 'object', properties: [] } })],
    ['tool_choice', { tools: TOOLS, tool_choice: 'any' }],
    ['tool_choice', { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'unknown' } } }],
    ['tool_choice', { tool_choice: 'required' }],
    ['tool_choice.allowed_tools', { tools: TOOLS, tool_choice: { type: 'allowed_tools' } }],
    ['parallel_tool_calls', { tools: TOOLS, parallel_tool_calls: 'yes' }],
    ['functions', { functions: 'f' }],
    ['function_call', { functions: [{ name: 'f' }], function_call: { name: 'g' } }],
    ['function_call', { functions: [{ name: 'f' }], function_call: 5 }],
    ['response_format', { response_format: 'json' }],
    ['response_format.type', { response_format: { type: 'xml' } }],
    ['response_format.json_schema', { response_format: { type: 'json_schema' } }],
    ['response_format.json_schema.name', { response_format: { type: 'json_schema', json_schema: { schema: {} } } }],
    [
      'response_format.json_schema.schema',
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: 5 } } },
    ],
    [
      'response_format.json_schema.schema',
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: false } } },
    ],
  ])('%s: %j', async (param, change) => {
    const refusal = await refusalOf(change)
    expect(refusal.param).toBe(param)
    expect(refusal.message).toContain(param.split('.').at(-1))
  })

  test('null equals an absent field', async () => {
    const nulls = Object.fromEntries(
      [
        'n',
        'stop',
        'tools',
        'tool_choice',
        'logprobs',
        'temperature',
        'max_tokens',
        'response_format',
        'functions',
      ].map(field => [field, null]),
    )
    expect((await firstChoice(nulls)).finish_reason).toBe('stop')
  })

  test('no error repeats what the client wrote', async () => {
    const secret = 'sk-very-secret'
    for (const change of [
      { messages: [{ role: secret }] },
      { tool_choice: secret, tools: TOOLS },
      tool({ name: `${secret}!` }),
      { stop: { secret } },
      tool({ parameters: { type: 'object', $ref: secret } }),
    ]) {
      expect((await refusalOf(change)).message).not.toContain(secret)
    }
  })
})
