/** What a request says of its own size: everything that is not known as text, as a number or as a price counts as the most it may be. */
import type { BetaMessageDeltaUsage, BetaUsage } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import { describe, expect, test } from 'vitest'
import { readBounds } from '../../../src/formats/bounds/read-bounds.ts'
import { messagesFormat } from '../../../src/formats/messages/messages-format.ts'
import type { FormPart } from '../../../src/formats/read-form.ts'
import { readUsage } from '../../../src/formats/usage/read-usage.ts'
import { sizeOfBody } from '../../../src/pipeline/largest-cost.ts'
import { largestTokens } from '../../../src/pipeline/largest-tokens.ts'
import { measureForm } from '../../../src/pipeline/pass-through/sound-length.ts'
import type { CatalogueModel } from '../../../src/postgres/list-models.ts'

const DOORS = { chat: 'messages', messages: 'messages', responses: 'input' } as const
type Door = keyof typeof DOORS
const NAMES = { properties: { image_url: {} } }
const OWN_TOOLS: Record<Door, object> = {
  chat: { type: 'function', function: { name: 'f', parameters: NAMES } },
  messages: { name: 'f', input_schema: NAMES },
  responses: { type: 'function', name: 'f', parameters: NAMES },
}
const isText = (door: Door, content: unknown, more: object = {}) =>
  sizeOfBody(door, { model: 'm', [DOORS[door]]: [{ role: 'user', content }], ...more }, 1).bounds.isText

describe.each(Object.keys(DOORS) as Door[])('at %s', door => {
  test.each([
    ['text', 'Hello?'],
    ['parts of text', [{ type: door === 'responses' ? 'input_text' : 'text', text: 'Hello?' }]],
    ['a mark of the cache', [{ type: 'text', text: 'Hello?', cache_control: { type: 'ephemeral', ttl: '1h' } }]],
  ])('%s is text', (_, content) => {
    expect(isText(door, content)).toBe(true)
  })

  test.each([
    ['a picture', [{ type: 'image_url', image_url: { url: 'x' } }]],
    ['a picture in a part that says it is text', [{ type: 'text', text: 'x', image_url: { url: 'x' } }]],
    ['a source', [{ type: 'image', source: { type: 'url', url: 'x' } }]],
    ['a file by its id', [{ type: 'text', text: 'x', file_id: 'file-1' }]],
    ['what nobody knows', [{ type: 'text', text: 'x', hologram: 1 }]],
    ['a type that nobody knows', [{ type: 'hologram', text: 'x' }]],
    ['one within a result', [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', text: 'x' }] }]],
  ])('%s is not', (_, content) => {
    expect(isText(door, content)).toBe(false)
  })

  test.each([
    ['a field that nobody has', { hologram: 1 }, false],
    ['one without a value', { hologram: null }, true],
    ['a tool of the client’s', { tools: [OWN_TOOLS[door]] }, true],
    ['a tool of its provider', { tools: [{ type: 'web_search' }] }, false],
    ['names of its own', { metadata: { image_url: 'x' } }, true],
  ])('%s: %j', (_, more, expected) => {
    expect(isText(door, 'Hello?', more)).toBe(expected)
  })
})

test.each([
  [[{ type: 'item_reference', id: 'msg_1' }], false],
  [[{ id: 'msg_1' }], false],
  [[{ type: 'reasoning', id: 'rs_1', summary: [] }], false],
  [[{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }], true],
  [[{ type: 'compaction', encrypted_content: 'x' }], false],
  [[{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{"file_id": 1}' }], true],
])('the items %j are text: %j', (input, expected) => {
  expect(sizeOfBody('responses', { model: 'm', input }, 1).bounds.isText).toBe(expected)
})

test.each(['100', '１０', '1_0', '0x0a', true, [10], { toString: 1 }])(
  '%j is no number that bounds a request',
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
      expect(() => readBounds(endpoint, body)).toThrow(`${field} must be a whole number`)
  },
)

test('a form’s numbers are text, and of digits alone', () => {
  expect(readBounds('images/edits', { n: '10' }, { isForm: true }).answers).toBe(10)
  for (const n of [' 10', '1e1', '１０', ''])
    expect(() => readBounds('images/edits', { n }, { isForm: true })).toThrow('n must be a whole number')
})

test('a summary reads and writes as much again', () => {
  const model = { kind: 'chat', contextTokens: 1_000, maxOutputTokens: 100 } as unknown as CatalogueModel
  const tokensOf = (more: object) =>
    largestTokens(sizeOfBody('messages', { model: 'm', max_tokens: 10, ...more }, 5), model)
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

test('thinking beyond the limit of an answer counts', () => {
  const thinking = { type: 'enabled', budget_tokens: 9_000 }
  expect(readBounds('messages', { max_tokens: 1_000, thinking }).longestAnswer).toBe(9_000)
})

describe('sound', () => {
  const bytesOf = (hex: string, length: number) => {
    const bytes = new Uint8Array(length)
    bytes.set(Buffer.from(hex, 'hex'))
    return bytes
  }
  const secondsOf = async (bytes: Uint8Array, more: readonly FormPart[] = []) => {
    const file = { name: 'file', isFile: true, start: 0, end: bytes.length }
    return measureForm({ bytes, boundary: 'b', parts: [file, ...more] }).mostSeconds
  }
  const wav = (format: string) => `524946460000000057415645666d742010000000${format}64617461`
  /** One channel, 16,000 samples a second, 16 bits each. */
  const PLAIN = '01000100803e0000007d000002001000'

  test.each([
    ['plain WAV, by its samples', bytesOf(wav(PLAIN), 320_000), 10],
    ['one sample a second', bytesOf(wav('0100010001000000803e000001000800'), 3_600), 3_600],
    ['MP3, by its least rate', bytesOf('fffb9000', 10_000), 10],
    ['MP3 after a tag', bytesOf(`49443303000000000002${'00'.repeat(2)}fffb9000`, 10_000), 10],
  ])('%s', async (_, bytes, seconds) => {
    expect(await secondsOf(bytes)).toBeCloseTo(seconds, 3)
  })

  test.each([
    ['WAV of another codec', bytesOf(wav('11000100803e0000007d000002000400'), 1_000)],
    ['WAV of another codec, with whole samples', bytesOf(wav('11000100803e0000007d000002001000'), 1_000)],
    ['WAV with two formats', bytesOf(`${wav(PLAIN).slice(0, -8)}666d742010000000${PLAIN}64617461`, 1_000)],
    ['FLAC', bytesOf('664c614380000022', 1_000)],
    ['Ogg', bytesOf('4f676753', 1_000)],
    ['FLAC after a tag', bytesOf('49443303000000000000664c6143', 1_000)],
    ['MP3 of any rate', bytesOf('fffb0000', 1_000)],
  ])('%s has a second in each byte', async (_, bytes) => {
    expect(await secondsOf(bytes)).toBe(1_000)
  })

  test.each(['url', 'file_url', 'file'])('WAV beside a field called %s may be of any length', async name => {
    const value = { name, isFile: false, start: 0, end: 9 }
    expect(await secondsOf(bytesOf(wav(PLAIN), 320_000), [value])).toBeGreaterThan(1_000_000)
  })

  test.each([null, { bytes: new Uint8Array(9), boundary: 'b', parts: [] }])('and so may none: %j', async form => {
    expect(measureForm(form).mostSeconds).toBeGreaterThan(1_000_000)
  })
})

test('counts of a whole that leave nothing out have no parts', () => {
  const read = (usage: object) => messagesFormat.readUsage(usage, {})
  const each = { type: 'message', input_tokens: 5, output_tokens: 2 }
  expect(read({ input_tokens: 10, output_tokens: 4, iterations: [each, each] })).not.toHaveProperty('parts')
  // Fewer than the whole: no account of it.
  const cut = [{ ...each, type: 'compaction' }]
  expect(read({ input_tokens: 10, output_tokens: 4, iterations: cut })).toMatchObject({ promptTokens: 10 })
})

/** A new count does not compile until it is decided here what it does to the price; null: it is a part of another, or lowers it. */
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
  // What was bought before, or half the price of a batch.
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

test.each([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, '9', {}])('%j limits nothing', uses => {
  const body = {
    model: 'm',
    max_tokens: uses,
    tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: uses }],
  }
  const { longestAnswer, hosted } = readBounds('messages', body, { isLenient: true })
  expect([longestAnswer, hosted.map(tool => tool.uses)]).toEqual([null, [null]])
  expect(() => readBounds('messages', body)).toThrow('must be a whole number')
})
