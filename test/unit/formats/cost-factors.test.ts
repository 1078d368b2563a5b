/** The size of a request, read from its body. Everything that is not known text, a known number or a known price counts at its maximum. */
import type { BetaMessageDeltaUsage, BetaUsage } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import { describe, expect, test } from 'vitest'
import { readCostFactors } from '../../../src/formats/cost-factors.ts'
import { messagesFormat } from '../../../src/formats/messages/messages-format.ts'
import type { FormPart } from '../../../src/formats/multipart-form.ts'
import { readUsage } from '../../../src/formats/usage/read-usage.ts'
import { measureFormAudio } from '../../../src/pipeline/request/audio-length.ts'
import { maxCost, requestSizeOfBody } from '../../../src/pipeline/spending/max-cost.ts'
import { isOverOutputLimit, maxTokens, withMaxOutputTokens } from '../../../src/pipeline/spending/max-tokens.ts'
import type { CatalogueModel } from '../../../src/postgres/list-models.ts'
import type { Provider } from '../../../src/providers/upstream.ts'

const ENDPOINT_CASES = { chat: 'messages', messages: 'messages', responses: 'input' } as const
type EndpointCase = keyof typeof ENDPOINT_CASES
const NAMES = { properties: { image_url: {} } }
const OWN_TOOLS: Record<EndpointCase, object> = {
  chat: { type: 'function', function: { name: 'f', parameters: NAMES } },
  messages: { name: 'f', input_schema: NAMES },
  responses: { type: 'function', name: 'f', parameters: NAMES },
}
const isText = (door: EndpointCase, content: unknown, more: object = {}) =>
  requestSizeOfBody(door, { model: 'm', [ENDPOINT_CASES[door]]: [{ role: 'user', content }], ...more }, 1).bounds
    .isTextOnly

describe.each(Object.keys(ENDPOINT_CASES) as EndpointCase[])('at %s', door => {
  test.each([
    ['text', 'Hello?'],
    ['parts of text', [{ type: door === 'responses' ? 'input_text' : 'text', text: 'Hello?' }]],
    ['a text with a cache mark', [{ type: 'text', text: 'Hello?', cache_control: { type: 'ephemeral', ttl: '1h' } }]],
  ])('%s counts as text', (_, content) => {
    expect(isText(door, content)).toBe(true)
  })

  test.each([
    ['an image', [{ type: 'image_url', image_url: { url: 'x' } }]],
    ['an image in a text part', [{ type: 'text', text: 'x', image_url: { url: 'x' } }]],
    ['a source', [{ type: 'image', source: { type: 'url', url: 'x' } }]],
    ['a file by id', [{ type: 'text', text: 'x', file_id: 'file-1' }]],
    ['a text part with an unknown field', [{ type: 'text', text: 'x', hologram: 1 }]],
    ['a part of an unknown type', [{ type: 'hologram', text: 'x' }]],
    ['an image in a tool result', [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', text: 'x' }] }]],
  ])('%s does not count as text', (_, content) => {
    expect(isText(door, content)).toBe(false)
  })

  test.each([
    ['an unknown field', { hologram: 1 }, false],
    ['an unknown field that is null', { hologram: null }, true],
    ['a tool of the client', { tools: [OWN_TOOLS[door]] }, true],
    ['a tool that the provider runs', { tools: [{ type: 'web_search' }] }, false],
    ['metadata with a known field name', { metadata: { image_url: 'x' } }, true],
  ])('%s: %j', (_, more, expected) => {
    expect(isText(door, 'Hello?', more)).toBe(expected)
  })
})

describe('requests of ordinary clients', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false }
  const cached = { cache_control: { type: 'ephemeral', ttl: '1h', scope: 'global' } }
  const openAiChat = {
    model: 'gpt-4o',
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', name: 'ada', content: [{ type: 'text', text: 'Weather?' }] },
      {
        role: 'assistant',
        content: null,
        refusal: null,
        annotations: [],
        audio: null,
        function_call: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'Sun' },
    ],
    tools: [{ type: 'function', function: { name: 'weather', description: 'It', parameters: schema, strict: true } }],
    ...{ tool_choice: 'auto', parallel_tool_calls: true, temperature: 0, top_p: 1, seed: 1, user: 'u', stream: true },
    ...{ stream_options: { include_usage: true }, max_completion_tokens: 100, reasoning_effort: 'low', store: false },
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
  }
  const claudeCode = {
    model: 'claude-opus-5',
    system: [{ type: 'text', text: 'You are …', ...cached }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Fix it.', ...cached }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
          { type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls', url: 'x' }, caller: { type: 'direct' } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't', is_error: false, content: [{ type: 'text', text: 'a' }] }],
      },
    ],
    tools: [{ name: 'Bash', description: 'It', input_schema: schema, eager_input_streaming: true }],
    ...{ metadata: { user_id: 'u' }, max_tokens: 32_000, stream: true, betas: ['a'] },
    ...{ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  }
  const codex = {
    model: 'gpt-5-codex',
    instructions: 'You are …',
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix it.' }] },
      { type: 'reasoning', summary: [], content: null, encrypted_content: 'x' },
      { type: 'function_call', name: 'shell', arguments: '{"url": 1}', call_id: 'c' },
      { type: 'function_call_output', call_id: 'c', output: 'a' },
      { type: 'custom_tool_call', status: 'completed', call_id: 'd', name: 'apply_patch', input: '***' },
      { type: 'custom_tool_call_output', call_id: 'd', output: [{ type: 'input_text', text: 'a' }] },
    ],
    tools: [
      { type: 'function', name: 'shell', description: 'It', strict: false, parameters: schema },
      { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: a' } },
    ],
    ...{ tool_choice: 'auto', parallel_tool_calls: false, store: false, stream: true, prompt_cache_key: 'k' },
    ...{ reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'] },
    ...{ text: { verbosity: 'low', format: { type: 'json_schema', name: 'a', schema } }, client_metadata: { a: 'b' } },
  }
  const openRouter = {
    model: 'a/b',
    messages: [
      { role: 'user', content: 'Hm?' },
      {
        role: 'assistant',
        content: '',
        reasoning_details: [{ type: 'reasoning.text', text: 'a', format: 'f', index: 0 }],
      },
    ],
    ...{ models: ['a/c'], provider: { sort: 'price' }, reasoning: { effort: 'low' }, usage: { include: true } },
    ...{ top_k: 1, min_p: 0.1, repetition_penalty: 1, transforms: [], session_id: 's', max_tokens: 9 },
  }
  const vercel = {
    model: 'm',
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'x' }] }],
    max_output_tokens: 9,
  }

  test.each([
    ['chat', openAiChat],
    ['messages', claudeCode],
    ['responses', codex],
    ['chat', openRouter],
    ['responses', vercel],
    ['completions', { model: 'm', prompt: 'x', suffix: 'y', max_tokens: 9, logprobs: 1, echo: true }],
    ['embeddings', { model: 'm', input: ['a', 'b'], dimensions: 8, encoding_format: 'base64', user: 'u' }],
  ])('at %s, %j counts as text', (endpoint, body) => {
    const { isTextOnly, hasUnknownContent, hostedTools, canCompact, unpricedField } = readCostFactors(endpoint, body)
    expect({
      isTextOnly,
      hasUnknownContent,
      hostedTools,
      canCompact,
      unpricedField,
    }).toEqual({
      ...{ isTextOnly: true, hasUnknownContent: false, hostedTools: [], canCompact: false, unpricedField: null },
    })
  })

  const user = (part: object) => [{ role: 'user', content: [part] }]

  test.each([
    ['chat', { messages: user({ type: 'image_url', image_url: { url: 'data:', detail: 'high' } }) }],
    ['chat', { messages: user({ type: 'file', file: { filename: 'a.pdf', file_data: 'data:' } }) }],
    ['messages', { messages: user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } }) }],
    ['messages', { messages: user({ type: 'document', source: { type: 'url', url: 'x' }, title: 't' }) }],
    ['messages', { messages: user({ type: 'text', text: 'x' }), tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    ['messages', { tools: [{ type: 'web_search_20270101', name: 'web_search', allowed_domains: ['a'] }] }],
    ['responses', { input: user({ type: 'input_image', image_url: 'data:', detail: 'auto' }) }],
    ['responses', { input: [{ type: 'web_search_call', id: 'w', action: { type: 'search', query: 'q' } }] }],
    ['responses', { input: 'x', tools: [{ type: 'web_search', external_web_access: false }] }],
    ['responses', { input: 'x', previous_response_id: 'resp_1' }],
  ])('at %s, %j may cost more than its text, and its own limit applies', (endpoint, body) => {
    expect(readCostFactors(endpoint, body)).toMatchObject({
      isTextOnly: false,
      hasUnknownContent: false,
      unpricedField: null,
    })
  })
})

test('a request with an unknown field may use the whole context and the longest response at the highest tier', () => {
  const priority = { tier: 'priority', abovePromptTokens: 0, inputUsdPerMillion: 2, outputUsdPerMillion: 20 }
  const model = {
    ...{ kind: 'chat', contextTokens: 100_000, maxOutputTokens: 1_000, unitPrices: {} },
    ...{ inputUsdPerMillion: 1, outputUsdPerMillion: 10, conditionalPrices: [priority] },
  } as unknown as CatalogueModel
  const usdOf = (endpoint: EndpointCase, more: object) => {
    const body = { model: 'm', max_tokens: 10, max_output_tokens: 10, service_tier: 'default', ...more }
    const known = { [ENDPOINT_CASES[endpoint]]: [{ role: 'user', content: 'Hello?' }], ...body }
    return maxCost(requestSizeOfBody(endpoint, known, 100), { pricedAs: 'p' } as Provider, { find: () => model })?.usd
  }
  // Removes the output limit that this endpoint does not define.
  const limited = (endpoint: EndpointCase) => ({
    [endpoint === 'responses' ? 'max_tokens' : 'max_output_tokens']: undefined,
  })
  for (const endpoint of ['chat', 'messages', 'responses'] as const) {
    expect(usdOf(endpoint, limited(endpoint))).toBeCloseTo((100 + 10 * 10) / 1e6, 9)
    for (const more of [{ hologram: 1 }, { [ENDPOINT_CASES[endpoint]]: [{ type: 'hologram' }] }])
      expect(usdOf(endpoint, { ...limited(endpoint), ...more })).toBeCloseTo((100_000 * 2 + 1_000 * 20) / 1e6, 9)
  }
})

test.each([
  ['images/generations', { svg: {} }, 'svg'],
  ['images/generations', { hologram: 1 }, 'hologram'],
  ['images/generations', { quality: 'ultra' }, 'quality'],
  ['images/edits', { output_format: 'svg' }, 'output_format'],
  ['images/edits', { 'image[]': 'x', size: 'auto', output_format: 'webp' }, null],
  ['chat', { hologram: 1 }, null],
])('at %s, %j has no price for %s', (endpoint, body, expected) => {
  expect(readCostFactors(endpoint, body).unpricedField).toBe(expected)
})

test.each([
  [{}, []],
  [{ provider: { sort: 'price' }, preset: 'p' }, ['provider', 'preset']],
  [{ input: [{ type: 'input_file', file_url: 'x' }] }, ['file']],
  [{ input: [{ type: 'input_file' }], plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }] }, ['file']],
  [{ input: [{ type: 'input_file' }], plugins: [{ id: 'file-parser', pdf: { engine: 'native' } }] }, []],
])('an aggregator charges for %j beside the tokens: %j', (body, expected) => {
  expect(readCostFactors('responses', body).aggregatorCharges).toEqual(expected)
})

test('each embeddings input that is not text may use the whole context', () => {
  const model = { kind: 'embedding', contextTokens: 1_000 } as unknown as CatalogueModel
  const tokensOf = (input: unknown) =>
    maxTokens(requestSizeOfBody('embeddings', { model: 'm', input }, 50), model).prompt
  expect(tokensOf(['a', 'b'])).toBe(50)
  expect(tokensOf([[1, 2], [3]])).toBe(50)
  expect(tokensOf([{ content: [{ type: 'image_url', image_url: { url: 'x' } }] }, 'b'])).toBe(2_000)
})

test.each([
  [{}, 111, true],
  [{}, 110, false],
  [{ n: 2 }, 200, false],
  [{ n: 2 }, 221, true],
  [{ max_tokens: 1 }, 17, false],
  [{ max_tokens: 1 }, 18, true],
  // With hosted tools, several models or unknown fields, neither the author of the output nor its limit is known.
  [{ tools: [{ type: 'web_search' }] }, 999, false],
  [{ models: ['other'] }, 999, false],
  [{ hologram: 1 }, 999, false],
  [{ max_tokens: null }, 999, false],
])('with %j, %d tokens exceed a limit of 100: %j', (more, written, expected) => {
  expect(isOverOutputLimit(requestSizeOfBody('chat', { model: 'm', max_tokens: 100, ...more }, 50), written)).toBe(
    expected,
  )
})

test('a model that exceeds limits may write its longest response, whatever a request allows', () => {
  const model = { kind: 'chat', contextTokens: 1_000, maxOutputTokens: 500, exceedsLimits: true }
  const size = requestSizeOfBody('chat', { model: 'm', max_tokens: 10 }, 5)
  expect(maxTokens(size, model as CatalogueModel).output).toBe(500)
  // Counted output tokens replace the limit of the request, and they are exact.
  expect(maxTokens(withMaxOutputTokens(size, 20), model as CatalogueModel).output).toBe(20)
})

test.each([
  [[{ type: 'item_reference', id: 'msg_1' }], false],
  [[{ id: 'msg_1' }], false],
  [[{ type: 'reasoning', id: 'rs_1', summary: [] }], false],
  [[{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }], true],
  [[{ type: 'compaction', encrypted_content: 'x' }], false],
  [[{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{"file_id": 1}' }], true],
])('the items %j count as text: %j', (input, expected) => {
  expect(requestSizeOfBody('responses', { model: 'm', input }, 1).bounds.isTextOnly).toBe(expected)
})

test.each(['100', '１０', '1_0', '0x0a', true, [10], { toString: 1 }])(
  '%j is not a number that bounds a request',
  given => {
    for (const [endpoint, body, field] of [
      ['chat', { n: given }, 'n'],
      ['chat', { max_tokens: given, max_completion_tokens: 1 }, 'max_tokens'],
      ['completions', { best_of: given }, 'best_of'],
      ['responses', { max_output_tokens: given }, 'max_output_tokens'],
      ['responses', { max_tool_calls: given }, 'max_tool_calls'],
      ['messages', { max_tokens: 1, fallbacks: [{ model: 'm', max_tokens: given }] }, 'fallbacks[].max_tokens'],
      ['messages', { tools: [{ type: 'web_search_20250305', max_uses: given }] }, 'tools[].max_uses'],
      ['images/generations', { partial_images: given }, 'partial_images'],
    ] as const)
      expect(() => readCostFactors(endpoint, body)).toThrow(`${field} must be a whole number`)
  },
)

test('numbers in a form are text of digits only', () => {
  expect(readCostFactors('images/edits', { n: '10' }, { isForm: true }).responseCount).toBe(10)
  for (const n of [' 10', '1e1', '１０', ''])
    expect(() => readCostFactors('images/edits', { n }, { isForm: true })).toThrow('n must be a whole number')
})

test('a summary may read and write as much again', () => {
  const model = { kind: 'chat', contextTokens: 1_000, maxOutputTokens: 100 } as unknown as CatalogueModel
  const tokensOf = (more: object) =>
    maxTokens(requestSizeOfBody('messages', { model: 'm', max_tokens: 10, ...more }, 5), model)
  expect(tokensOf({})).toEqual({ prompt: 5, output: 10 })
  for (const more of [
    { compaction: { type: 'summarize' } },
    { context_management: { edits: [{ type: 'unheard_of' }] } },
  ])
    expect(tokensOf(more)).toEqual({ prompt: 2_000, output: 110 })
  expect(tokensOf({ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } })).toMatchObject({
    output: 10,
  })
})

test('reasoning beyond the output limit counts', () => {
  const thinking = { type: 'enabled', budget_tokens: 9_000 }
  expect(readCostFactors('messages', { max_tokens: 1_000, thinking }).maxOutputTokens).toBe(9_000)
})

describe('audio', () => {
  const bytesOf = (hex: string, length: number) => {
    const bytes = new Uint8Array(length)
    bytes.set(Buffer.from(hex, 'hex'))
    return bytes
  }
  const secondsOf = async (bytes: Uint8Array, more: readonly FormPart[] = []) => {
    const file = { name: 'file', isFile: true, start: 0, end: bytes.length }
    return measureFormAudio({ bytes, boundary: 'b', parts: [file, ...more] }).maxSeconds
  }
  const wav = (format: string) => `524946460000000057415645666d742010000000${format}64617461`
  /** The format fields of a WAV header in hex: one channel, 16,000 samples per second, 16 bits per sample. */
  const PLAIN = '01000100803e0000007d000002001000'

  test.each([
    ['PCM WAV, by its samples', bytesOf(wav(PLAIN), 320_000), 10],
    ['one sample per second', bytesOf(wav('0100010001000000803e000001000800'), 3_600), 3_600],
    ['MP3, by its lowest bit rate', bytesOf('fffb9000', 10_000), 10],
    ['MP3 after an ID3 tag', bytesOf(`49443303000000000002${'00'.repeat(2)}fffb9000`, 10_000), 10],
  ])('%s', async (_, bytes, seconds) => {
    expect(await secondsOf(bytes)).toBeCloseTo(seconds, 3)
  })

  test.each([
    ['WAV of another codec', bytesOf(wav('11000100803e0000007d000002000400'), 1_000)],
    ['WAV of another codec, with whole samples', bytesOf(wav('11000100803e0000007d000002001000'), 1_000)],
    ['WAV with two formats', bytesOf(`${wav(PLAIN).slice(0, -8)}666d742010000000${PLAIN}64617461`, 1_000)],
    ['FLAC', bytesOf('664c614380000022', 1_000)],
    ['Ogg', bytesOf('4f676753', 1_000)],
    ['FLAC after an ID3 tag', bytesOf('49443303000000000000664c6143', 1_000)],
    ['MP3 without a bit rate', bytesOf('fffb0000', 1_000)],
  ])('%s has one second per byte', async (_, bytes) => {
    expect(await secondsOf(bytes)).toBe(1_000)
  })

  test.each(['url', 'file_url', 'file'])('WAV data beside a field named %s may have any length', async name => {
    const value = { name, isFile: false, start: 0, end: 9 }
    expect(await secondsOf(bytesOf(wav(PLAIN), 320_000), [value])).toBeGreaterThan(1_000_000)
  })

  test.each([null, { bytes: new Uint8Array(9), boundary: 'b', parts: [] }])(
    'a WAV file may have any length: %j',
    async form => {
      expect(measureFormAudio(form).maxSeconds).toBeGreaterThan(1_000_000)
    },
  )
})

test('parts of a total are not counted twice if they are the whole', () => {
  const read = (usage: object) => messagesFormat.readUsage(usage, {})
  const each = { type: 'message', input_tokens: 5, output_tokens: 2 }
  expect(read({ input_tokens: 10, output_tokens: 4, iterations: [each, each] })).not.toHaveProperty('parts')
  // The parts add up to less than the whole, so they are ignored.
  const cut = [{ ...each, type: 'compaction' }]
  expect(read({ input_tokens: 10, output_tokens: 4, iterations: cut })).toMatchObject({ promptTokens: 10 })
})

/**
 * Values of Anthropic's counts that must affect the usage. A new count in the SDK does not compile until it is listed here. Null: the count
 * is part of another one, or lowers the price.
 */
const COUNTS: Record<keyof BetaUsage | keyof BetaMessageDeltaUsage, unknown> = {
  cache_creation: { ephemeral_1h_input_tokens: 5, ephemeral_5m_input_tokens: 0 },
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 5,
  fallback_credit: null,
  inference_geo: 'us',
  input_tokens: 5,
  iterations: [{ type: 'compaction', input_tokens: 5, output_tokens: 5 }],
  output_tokens: 5,
  output_tokens_details: null,
  server_tool_use: { web_search_requests: 5, web_fetch_requests: 0 },
  // The value marks capacity that was bought in advance, or half the price of a batch.
  service_tier: null,
  speed: 'fast',
}

test.each(Object.entries(COUNTS).filter(([, value]) => value !== null))('%s is read', (count, value) => {
  const read = (usage: object) => messagesFormat.readUsage({ input_tokens: 1, output_tokens: 1, ...usage }, {})
  expect(read({ [count]: value })).not.toEqual(read({}))
})

test.each([
  [{ speed: 'fast' }, 'priority', 'fast'],
  [{ speed: 'fast', inference_geo: 'us' }, undefined, 'fast-us'],
  [{ speed: 'standard', inference_geo: 'global' }, 'standard', undefined],
  [{ inference_geo: 'not_available' }, 'priority', 'priority'],
])('%j of the tier %j is priced as %j', (usage, tier, expected) => {
  expect(readUsage({ ...usage, input_tokens: 1 }, tier)?.tier).toBe(expected)
})

test.each([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, '9', {}])('%j sets no limit', uses => {
  const body = {
    model: 'm',
    max_tokens: uses,
    tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: uses }],
  }
  const { maxOutputTokens, hostedTools } = readCostFactors('messages', body, { isLenient: true })
  expect([maxOutputTokens, hostedTools.map(tool => tool.maxUses)]).toEqual([null, [null]])
  expect(() => readCostFactors('messages', body)).toThrow('must be a whole number')
})
