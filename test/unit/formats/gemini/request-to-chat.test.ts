import { describe, expect, test } from 'vitest'
import { packExtras } from '../../../../src/formats/chat/provider-extras.ts'
import { translateEmbedRequest } from '../../../../src/formats/gemini/gemini-embeddings.ts'
import { completeChatRequest, translateGeminiRequest } from '../../../../src/formats/gemini/request-to-chat.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'

const PATH = { model: 'openai/gpt-4o-mini', isStreamed: false }
const TARGET = { maxOutputTokens: 1_000, canReason: true, supportsCacheControl: false, extrasKeys: ['key'] }
const translate = (body: JsonObject) => translateGeminiRequest(body, PATH)
const messagesOf = (...contents: JsonObject[]) => translate({ contents }).messages as JsonObject[]
const user = (...parts: JsonObject[]) => ({ role: 'user', parts })
const model = (...parts: JsonObject[]) => ({ role: 'model', parts })
const call = (name: string, id?: string) => ({ functionCall: { name, args: { at: name }, ...(id && { id }) } })
const answer = (name: string, id?: string) => ({
  functionResponse: { name, response: { ok: name }, ...(id && { id }) },
})
const HELLO = { contents: [user({ text: 'Hello.' })] }

/** Returns the pairs of a call and its result, in the order of the calls. */
function pairsOf(messages: JsonObject[]): [string, unknown][] {
  const results = new Map(messages.filter(({ role }) => role === 'tool').map(each => [each.tool_call_id, each.content]))
  return messages
    .flatMap(each => (each.tool_calls ?? []) as { id: string; function: { name: string } }[])
    .map(({ id, function: called }) => [called.name, results.get(id)])
}

describe('function responses belong to their calls', () => {
  test.each<[string, JsonObject[]]>([
    ['by id', [model(call('a', '1'), call('b', '2')), user(answer('b', '2'), answer('a', '1'))]],
    ['by name and order', [model(call('a'), call('b')), user(answer('b'), answer('a'))]],
    [
      'by name, although only the response has an id',
      [model(call('a'), call('b')), user(answer('a', '9'), answer('b'))],
    ],
    [
      'in two contents',
      [model(call('a')), model(call('b')), user(answer('a')), { role: 'function', parts: [answer('b')] }],
    ],
    ['of a turn whose ids repeat', [model(call('a', '1'), call('b', '1')), user(answer('a', '1'), answer('b', '1'))]],
  ])('%s', (_, contents) => {
    expect(pairsOf(messagesOf(user({ text: 'Go.' }), ...contents))).toEqual([
      ['a', '{"ok":"a"}'],
      ['b', '{"ok":"b"}'],
    ])
  })

  test('of the same name, in order, and every id is unique', () => {
    const same = (n: number) => ({ functionResponse: { name: 'a', response: { n } } })
    const messages = messagesOf(
      user({ text: 'Go.' }),
      model(call('a'), call('a')),
      user(same(1), same(2)),
      model(call('a')),
      user(same(3)),
    )
    expect(pairsOf(messages).map(([, result]) => result)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}'])
  })

  test.each([
    [[user(answer('a'))]],
    [[model(call('a', '1')), user(answer('b', '2'))]],
    [[model(call('a')), user(answer('a'), answer('a'))]],
  ])('and one without a call is rejected: %j', contents => {
    expect(() => messagesOf(user({ text: 'Go.' }), ...contents)).toThrow(/functionResponse must follow a functionCall/)
  })

  test('with images, which follow in a user message', () => {
    const response = { name: 'a', response: {}, parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] }
    const messages = messagesOf(user({ text: 'Go.' }), model(call('a')), user({ functionResponse: response }))
    expect(messages.at(-1)).toEqual({
      role: 'user',
      content: expect.arrayContaining([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }]),
    })
  })
})

test('the chunks of a stream become one message', () => {
  const messages = messagesOf(
    user({ text: 'Go.' }),
    model({ text: 'One ' }),
    model({ text: 'two.' }),
    model({ text: '' }),
    user({ text: 'Go.' }),
  )
  expect(messages[1]).toEqual({ role: 'assistant', content: 'One two.' })
  expect(messages).toHaveLength(3)
})

test('thoughts are omitted, and code that ran becomes text', () => {
  const messages = messagesOf(
    user({ text: 'Go.' }),
    model(
      { text: 'Hm.', thought: true, thoughtSignature: 'native' },
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    ),
  )
  expect(messages[1]).toEqual({ role: 'assistant', content: '```python\nprint(1)\n```OUTCOME_OK\n1' })
})

test.each<[JsonObject, unknown]>([
  [
    { inlineData: { mimeType: 'image/png', data: '-_8=' } },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,+/8=' } },
  ],
  [
    { inline_data: { mime_type: 'audio/mpeg', data: 'AA==' } },
    { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
  ],
  [
    { inlineData: { mimeType: 'application/pdf', data: 'AA==', displayName: 'a.pdf' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
  ],
  [{ inlineData: { mimeType: 'text/plain', data: 'SGk=' } }, { type: 'text', text: 'Hi' }],
  [
    { fileData: { mimeType: 'image/png', fileUri: 'https://x.y/z' } },
    { type: 'image_url', image_url: { url: 'https://x.y/z' } },
  ],
  [
    { fileData: { mimeType: 'application/pdf', fileUri: 'https://x.y/z' } },
    { type: 'file', file: { filename: 'document.pdf', file_data: 'https://x.y/z' } },
  ],
  [{ fileData: { fileUri: 'https://youtu.be/x' } }, { type: 'video_url', video_url: { url: 'https://youtu.be/x' } }],
])('the part %j', (part, expected) => {
  expect(messagesOf(user({ text: 'Look.' }, part))[0]?.content).toEqual([{ type: 'text', text: 'Look.' }, expected])
})

test('names may be in snake case', () => {
  const body = {
    contents: [user({ text: 'Hi.' })],
    system_instruction: { parts: [{ text: 'Be brief.' }] },
    generation_config: {
      max_output_tokens: 9,
      top_p: 0.5,
      stop_sequences: ['x'],
      thinking_config: { thinking_budget: 9_000 },
    },
    tools: [
      { function_declarations: [{ name: 'a', parameters_json_schema: { type: 'object' } }] },
      { google_search: {} },
    ],
    tool_config: { function_calling_config: { mode: 'auto' } },
    safety_settings: [],
  }
  expect(translate(body)).toEqual({
    model: PATH.model,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi.' },
    ],
    max_completion_tokens: 9,
    top_p: 0.5,
    stop: ['x'],
    reasoning_effort: 'medium',
    tools: [{ type: 'function', function: { name: 'a', parameters: { type: 'object' } } }, { type: 'google_search' }],
  })
})

test.each<[string, JsonObject]>([
  ['foo is unknown', { foo: 1 }],
  ['stream is unknown', { stream: true }],
  ['models is unknown', { models: ['x'] }],
  ['foo at generationConfig is unknown', { generationConfig: { foo: 1 } }],
  ['foo at contents[0].parts[0] is unknown', { contents: [user({ foo: 1 })] }],
  ['candidateCount must be 1', { generationConfig: { candidateCount: 2 } }],
  ['cachedContent works only at Google', { cachedContent: 'cachedContents/x' }],
  ['fileUri works only at Google', { contents: [user({ fileData: { fileUri: 'gs://x/y' } })] }],
  [
    'fileUri works only at Google',
    { contents: [user({ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/x' } })] },
  ],
  ['contents[0].role must be', { contents: [{ role: 'system', parts: [{ text: 'x' }] }] }],
  ['contents must hold at least one content', { contents: [] }],
  ['contents must be an array', { contents: 'Hi.' }],
  ['contents[0].parts[0] must have one of', { contents: [user({})] }],
  ['present twice', { generationConfig: {}, generation_config: {} }],
  [
    'allowedFunctionNames must name',
    {
      tools: [{ functionDeclarations: [{ name: 'a' }] }],
      toolConfig: { functionCallingConfig: { allowedFunctionNames: ['b'] } },
    },
  ],
  ['responseMimeType works only at Google', { generationConfig: { responseMimeType: 'text/x.enum' } }],
  ['type must be one of', { tools: [{ functionDeclarations: [{ name: 'a', parameters: { type: 'THING' } }] }] }],
])('rejects with "%s"', (message, fields) => {
  expect(() => translate({ ...HELLO, ...fields })).toThrow(message)
})

describe('functionCallingConfig', () => {
  const tools = [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }] }]
  test.each<[JsonObject, unknown, number]>([
    [{}, undefined, 2],
    [{ mode: 'AUTO' }, undefined, 2],
    [{ mode: 'ANY' }, 'required', 2],
    [{ mode: 'NONE' }, 'none', 2],
    [{ mode: 'VALIDATED', allowedFunctionNames: ['a'] }, undefined, 1],
    [{ mode: 'ANY', allowedFunctionNames: ['a'] }, { type: 'function', function: { name: 'a' } }, 1],
    [{ mode: 'ANY', allowedFunctionNames: ['a', 'b'] }, 'required', 2],
  ])('%j', (functionCallingConfig, choice, count) => {
    const chat = translate({ ...HELLO, tools, toolConfig: { functionCallingConfig } })
    expect([chat.tool_choice, (chat.tools as unknown[]).length]).toEqual([choice, count])
  })
})

test('schemas become JSON schemas', () => {
  const parameters = {
    type: 'OBJECT',
    propertyOrdering: ['type', 'n'],
    properties: {
      type: { type: 'STRING', format: 'enum', enum: ['a'], nullable: true },
      n: { type: 'INTEGER', format: 'int32', minimum: 1 },
      list: { type: 'ARRAY', minItems: '1', items: { any_of: [{ type: 'NUMBER' }, { type: 'BOOLEAN' }] } },
      nullable: { type: 'string', format: 'date-time' },
    },
    required: ['type'],
  }
  const { tools } = translate({ ...HELLO, tools: [{ functionDeclarations: [{ name: 'a', parameters }] }] })
  expect(tools).toMatchObject([
    {
      function: {
        parameters: {
          type: 'object',
          properties: {
            type: { type: ['string', 'null'], enum: ['a', null] },
            n: { type: 'integer', minimum: 1 },
            list: { type: 'array', minItems: 1, items: { anyOf: [{ type: 'number' }, { type: 'boolean' }] } },
            nullable: { type: 'string', format: 'date-time' },
          },
          required: ['type'],
        },
      },
    },
  ])
  expect(JSON.stringify(tools)).not.toMatch(/propertyOrdering|int32|"enum","enum/)
})

describe('the request for a model', () => {
  const complete = (body: JsonObject, target: Partial<typeof TARGET> = {}) =>
    completeChatRequest(translate({ ...HELLO, ...body }), { ...TARGET, ...target })

  test('has no higher limit than the model', () => {
    expect(complete({ generationConfig: { maxOutputTokens: 9_000 } })).toMatchObject({ max_completion_tokens: 1_000 })
    expect(complete({ generationConfig: { maxOutputTokens: 9 } })).toMatchObject({ max_completion_tokens: 9 })
    expect(complete({})).not.toHaveProperty('max_completion_tokens')
  })

  test.each([
    [{ thinkingLevel: 'HIGH' }, 'high'],
    [{ thinkingLevel: 'minimal' }, 'minimal'],
    [{ thinkingBudget: 1_000, includeThoughts: true }, 'low'],
    [{ thinkingBudget: 24_000 }, 'high'],
    [{ thinkingBudget: 0 }, undefined],
    [{ thinkingBudget: -1 }, undefined],
  ])('has the effort of %j if it reasons, and no field of the proxy', (thinkingConfig, effort) => {
    const body = { generationConfig: { thinkingConfig } }
    expect(complete(body).reasoning_effort).toBe(effort)
    expect(complete(body, { canReason: false })).not.toHaveProperty('reasoning_effort')
    expect(complete(body)).not.toHaveProperty('include_reasoning')
  })

  test('has the extras that its keys verify, and no others', () => {
    const extras = { fields: { reasoning_content: 'Hm.' }, calls: { c1: { extra_content: { google: { x: 1 } } } } }
    const thoughtSignature = packExtras(extras, ['key']) ?? ''
    const contents = [user({ text: 'Go.' }), model({ ...call('a', 'c1'), thoughtSignature }), user(answer('a', 'c1'))]
    expect(complete({ contents }).messages).toMatchObject([
      {},
      { reasoning_content: 'Hm.', tool_calls: [{ id: 'c1', extra_content: { google: { x: 1 } } }] },
      { role: 'tool' },
    ])
    const foreign = JSON.stringify(complete({ contents }, { extrasKeys: ['other'] }).messages)
    expect(foreign).not.toMatch(/reasoning_content|extra_content|thinking_blocks|mp1/)
  })

  test('has no tool that Google runs', () => {
    expect(() => complete({ tools: [{ googleSearch: {} }] })).toThrow('works only at Google')
  })
})

describe('JSON without a schema', () => {
  const generationConfig = { responseMimeType: 'application/json' }
  test('is requested, with the instruction that OpenAI requires', () => {
    expect(translate({ ...HELLO, generationConfig })).toMatchObject({
      response_format: { type: 'json_object' },
      messages: [{ role: 'system', content: expect.stringContaining('JSON') }, { role: 'user' }],
    })
    const contents = [user({ text: 'As JSON.' })]
    expect(translate({ contents, generationConfig }).messages).toHaveLength(1)
  })
})

describe('embeddings', () => {
  const content = { parts: [{ text: 'One.' }, { text: 'Two.' }] }
  test('of one content and of several', () => {
    expect(translateEmbedRequest({ content, outputDimensionality: 8, taskType: 'CLUSTERING' }, 'm', false)).toEqual({
      ...{ model: 'm', input: ['One.\nTwo.'], encoding_format: 'float', dimensions: 8 },
    })
    const requests = [{ content }, { model: 'models/m', content: { parts: [{ text: 'Three.' }] } }]
    expect(translateEmbedRequest({ requests }, 'm', true)).toMatchObject({ input: ['One.\nTwo.', 'Three.'] })
  })
  test.each<[string, JsonObject]>([
    ['requests must not be empty', { requests: [] }],
    ['must be the same in all requests', { requests: [{ content, outputDimensionality: 8 }, { content }] }],
    [
      'parts must be text',
      { requests: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: '' } }] } }] },
    ],
    ['foo at requests[0] is unknown', { requests: [{ content, foo: 1 }] }],
  ])('rejects with "%s"', (message, body) => {
    expect(() => translateEmbedRequest(body, 'm', true)).toThrow(message)
  })
})
