/**
 * Provider extras of messages and calls. They return complete to their own model through every endpoint, and they never contain more than a
 * chat message can.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  BufferedProviderExtras,
  type ExtrasKeys,
  type ProviderExtras,
  packExtras,
  unpackExtras,
} from '../../../../src/formats/chat/provider-extras.ts'
import { splitChatResponse } from '../../../../src/formats/chat/split-chat-response.ts'
import { readCostFactors } from '../../../../src/formats/cost-factors.ts'
import { asObjects, isJsonObject, type JsonObject } from '../../../../src/formats/json/canonical.ts'
import { createMessageAssembler } from '../../../../src/formats/messages/assemble-message.ts'
import { translateMessagesRequest } from '../../../../src/formats/messages/message-request-to-chat.ts'
import { translateResponsesRequest } from '../../../../src/formats/responses/response-request-to-chat.ts'
import { readResponseContext } from '../../../../src/formats/responses/write-response.ts'
import { createMessageStream, createResponseStream, messageFromChat, responseFromChat } from '../translated.ts'

const EXTRAS_KEYS = ['the key', 'the key before the last rotation']
const none: ProviderExtras = { fields: {}, calls: {} }

/** Field names: some that vendors use, and arbitrary ones. */
const name = fc.oneof(
  fc.constantFrom('reasoning_content', 'reasoning', 'extra_content', 'ticket', 'thinking', '__proto__', 'call_id'),
  fc.stringMatching(/^x_[a-z]{1,6}$/),
)
const value = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.integer(),
  fc.constant(true),
  fc.array(fc.dictionary(fc.stringMatching(/^k[a-z]{1,4}$/), fc.string({ minLength: 1 }), { minKeys: 1 }), {
    minLength: 1,
    maxLength: 3,
  }),
  fc.dictionary(fc.stringMatching(/^k[a-z]{1,4}$/), fc.oneof(fc.string({ minLength: 1 }), fc.integer()), {
    minKeys: 1,
  }),
)
const extras = fc.dictionary(name, value, { maxKeys: 4 })
/** The extras of a message. Vendors write reasoning fields as text. */
const extrasOfMessage = extras.map(fields =>
  Object.fromEntries(
    Object.entries(fields).map(([field, given]) => [field, /^reasoning/.test(field) ? JSON.stringify(given) : given]),
  ),
)
const answers = fc
  .record({
    content: fc.option(fc.string({ minLength: 1 })),
    ofMessage: extrasOfMessage,
    ofCalls: fc.array(fc.record({ outside: extras, inside: extras }), { maxLength: 3 }),
  })
  .filter(({ content, ofCalls }) => content !== null || ofCalls.length > 0)
  .map(({ content, ofMessage, ofCalls }) => {
    const tool_calls = ofCalls.map(({ outside, inside }, index) => ({
      ...outside,
      ...{ id: `call_${index}`, type: 'function', function: { ...inside, name: 'look', arguments: '{"at":1}' } },
    }))
    const message = { ...ofMessage, role: 'assistant', content, ...(tool_calls.length > 0 && { tool_calls }) }
    return {
      ...{ id: 'gen-1', object: 'chat.completion', created: 1, model: 'a/model' },
      choices: [{ index: 0, message, finish_reason: tool_calls.length > 0 ? 'tool_calls' : 'stop' }],
    }
  })

const responses = readResponseContext({ model: 'a/model', input: 'x', store: false }, 'req_1', EXTRAS_KEYS)
const messages = { model: 'a/model', inputTokens: 1, requestId: 'req_1', extrasKeys: EXTRAS_KEYS }
const target = { maxOutputTokens: null, canReason: true, supportsCacheControl: false }
type Answer = Parameters<typeof splitChatResponse>[0]
const chunksOf = (answer: Answer) =>
  splitChatResponse(answer, { includeUsage: false }).map(chunk => JSON.parse(chunk) as JsonObject)

/** Translates a response for an endpoint, plain or streamed, and returns the part that its model receives when the client sends it back. */
const WAYS: Record<string, (answer: Answer, back: ExtrasKeys) => unknown> = {
  'at /v1/responses, plain': (answer, back) => backAsItems(responseFromChat(answer, responses), back),
  'at /v1/responses, streamed'(answer, back) {
    const stream = createResponseStream(responses)
    for (const chunk of chunksOf(answer)) stream.push(chunk)
    return backAsItems(stream.finish().at(-1)?.response as JsonObject, back)
  },
  'at /v1/messages, plain': (answer, back) => backAsBlocks(messageFromChat(answer, messages), back),
  'at /v1/messages, streamed'(answer, back) {
    const stream = createMessageStream(messages)
    const assembler = createMessageAssembler()
    for (const chunk of chunksOf(answer)) for (const event of stream.push(chunk)) assembler.add(event)
    for (const event of stream.finish()) assembler.add(event)
    return backAsBlocks(assembler.finish().body, back)
  },
}

function backAsItems({ output }: JsonObject, back: ExtrasKeys): unknown {
  const results = asObjects(output).filter(({ type }) => type === 'function_call')
  const input = [
    ...asObjects(output),
    ...results.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: '' })),
  ]
  return asObjects(translateResponsesRequest({ model: 'm', input }, back).messages)[0]
}

function backAsBlocks({ content }: JsonObject, back: ExtrasKeys): unknown {
  const said = [{ role: 'assistant', content }]
  const body = { model: 'm', max_tokens: 9, messages: said }
  return asObjects(translateMessagesRequest(body, { ...target, extrasKeys: back }).messages)[0]
}

describe.each(Object.entries(WAYS))('provider extras %s', (_, way) => {
  test('return unchanged, field by field, to the model that created them', () => {
    fc.assert(
      fc.property(answers, answer => {
        expect(way(answer, EXTRAS_KEYS)).toEqual(answer.choices[0]?.message)
      }),
    )
  })

  test.each([[['another key']], [['another key', 'one more']], [[]]])(
    'are not sent to a model with the keys %j',
    back => {
      const call = { id: 'call_0', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }
      const message = { role: 'assistant', content: 'Hm.', tool_calls: [call] }
      const carried = { ...message, ticket: 'secret', tool_calls: [{ ...call, seal: 'secret' }] }
      const choices = [{ index: 0, message: carried, finish_reason: 'tool_calls' }]
      expect(way({ id: 'gen-1', created: 1, model: 'a/model', choices }, back)).toEqual(message)
    },
  )
})

test('nothing follows the text that ends a turn at /v1/messages, where clients expect the answer', () => {
  const stream = createMessageStream(messages)
  const assembler = createMessageAssembler()
  const choices = [{ delta: { content: 'Hi.' } }, { delta: { ticket: 'A' } }, { delta: {}, finish_reason: 'stop' }]
  for (const choice of choices)
    for (const event of stream.push({ choices: [{ index: 0, ...choice }] })) assembler.add(event)
  for (const event of stream.finish()) assembler.add(event)
  expect(assembler.finish().body).toMatchObject({ content: [{ type: 'text', text: 'Hi.' }] })
})

test('merging two long lists item by item takes no longer than reading them', () => {
  const list = (field: string) => Array.from({ length: 20_000 }, (_, index) => ({ index, [field]: 'x' }))
  const packed = ['a', 'b'].map(field => packExtras({ fields: { details: list(field) }, calls: {} }, EXTRAS_KEYS))
  const input = [
    ...packed.map(encrypted_content => ({ type: 'reasoning', summary: [], encrypted_content })),
    { type: 'message', role: 'assistant', content: 'Hi.' },
  ]
  const began = process.cpuUsage()
  const [message] = asObjects(translateResponsesRequest({ model: 'm', input }, EXTRAS_KEYS).messages)
  expect(process.cpuUsage(began).user).toBeLessThan(1_500_000)
  expect(message?.details).toEqual(list('a').map(item => ({ ...item, b: 'x' })))
})

describe('packed provider extras', () => {
  const packed = packExtras({ fields: { ticket: 'A' }, calls: { c: { seal: 'B' } } }, EXTRAS_KEYS) ?? ''

  test('are equal for equal fields in any order', () => {
    const one = packExtras({ fields: { a: 1, b: 2 }, calls: {} }, EXTRAS_KEYS)
    expect(packExtras({ fields: { b: 2, a: 1 }, calls: {} }, EXTRAS_KEYS)).toBe(one)
    expect(unpackExtras(one, EXTRAS_KEYS)).toEqual({ fields: { a: 1, b: 2 }, calls: {} })
  })

  test('are absent without extras', () => expect(packExtras(none, EXTRAS_KEYS)).toBeNull())

  test('are verified with the key before the last rotation too, and with no other', () => {
    const [, previous = ''] = EXTRAS_KEYS
    const earlier = packExtras({ fields: { ticket: 'A' }, calls: {} }, [previous])
    expect(unpackExtras(earlier, EXTRAS_KEYS)).toEqual({ fields: { ticket: 'A' }, calls: {} })
    expect(unpackExtras(packed, [previous])).toBeNull()
    expect(unpackExtras(packed, [])).toBeNull()
    expect(packExtras({ fields: { ticket: 'A' }, calls: {} }, [])).toBeNull()
  })

  test('are rejected if their check needs no key, because a client can compute it', () => {
    const json = '{"fields":{"ticket":"A"},"calls":{}}'
    for (const origin of ['', 'openrouter a/model', ...EXTRAS_KEYS]) {
      const check = new Bun.SHA256().update(`${origin}\n${json}`).digest('base64url').slice(0, 22)
      expect(unpackExtras(`mp1.${check}${Buffer.from(json).toString('base64url')}`, EXTRAS_KEYS)).toBeNull()
    }
  })

  test('are rejected if changed anywhere', () => {
    for (let at = 0; at < packed.length; at++) {
      const other = packed[at] === 'A' ? 'B' : 'A'
      expect(unpackExtras(packed.slice(0, at) + other + packed.slice(at + 1), EXTRAS_KEYS)).toBeNull()
      expect(unpackExtras(packed.slice(0, at), EXTRAS_KEYS)).toBeNull()
    }
  })

  test.each([
    ...[undefined, null, 7, {}, [], '', 'mp1.', 'mp1.e30', 'EtcBCkgIARABGAIiQL', 'gAAAAABo', `mp1.${'A'.repeat(999)}`],
    packed.replace('mp1.', 'mp2.'),
  ])('are rejected as another value: %j', text => expect(unpackExtras(text, EXTRAS_KEYS)).toBeNull())

  test('are rejected for any other text, without throwing', () => {
    fc.assert(fc.property(fc.string(), text => unpackExtras(`mp1.${text}`, null) === null))
  })

  /** Packs fields that the proxy itself would never pack. */
  const forge = (carried: JsonObject) =>
    packExtras({ fields: carried.fields as JsonObject, calls: carried.calls as JsonObject }, EXTRAS_KEYS)

  test.each([
    ['fields that the format defines for a message', { role: 'system', content: 'X', refusal: 'X', name: 'X' }],
    ['calls', { tool_calls: [{ id: 'x' }], function_call: { name: 'x' } }],
    ['an audio id of another caller', { audio: { id: 'audio_1' } }],
    [
      'ids of stored objects',
      { parts: [{ file: { file_id: 'file_1' } }], container: 'c_1', within: { voice: { id: 'v' } } },
    ],
    ['empty values', { a: null, b: '', c: [], d: {}, e: false, f: { refusal: null, more: [null] } }],
  ])('if forged, cannot contain %s', (_, fields) => {
    const text = forge({
      fields: { ...fields, x: 1 },
      calls: { c: { ...fields, x: 1, id: 'i', function: { arguments: 'X' } } },
    })
    const { fields: read, calls } = unpackExtras(text, EXTRAS_KEYS) ?? none
    expect(read).toEqual({ x: 1 })
    // The extras of a call cannot set its id or its function.
    expect(calls.c).not.toHaveProperty('id')
    expect(calls.c).not.toHaveProperty('function')
    expect(JSON.stringify(calls)).not.toMatch(/file_1|c_1|audio_1/)
  })

  test('are rejected if nested without end', () => {
    let deep: unknown = 'x'
    for (let level = 0; level < 5_000; level++) deep = [deep]
    const json = `{"fields":{"x":${JSON.stringify(deep)}},"calls":{}}`
    const text = `mp1.${'A'.repeat(22)}${Buffer.from(json).toString('base64url')}`
    expect(unpackExtras(text, null)).toBeNull()
  })

  test('contain what fits, the small before the large', () => {
    const large = 'x'.repeat(1024 * 1024)
    const text = packExtras(
      { fields: { image: large, ticket: 'A' }, calls: { c: { seal: large }, d: { seal: 'B' } } },
      EXTRAS_KEYS,
    )
    expect(unpackExtras(text, EXTRAS_KEYS)).toEqual({ fields: { ticket: 'A' }, calls: { d: { seal: 'B' } } })
    expect(text?.length).toBeLessThan(1_500_000)
    const halves = packExtras({ fields: { a: large.slice(400_000), b: large.slice(300_000) }, calls: {} }, EXTRAS_KEYS)
    expect(Object.keys(unpackExtras(halves, EXTRAS_KEYS)?.fields ?? {})).toEqual(['a'])
    const most = packExtras({ fields: { most: large.slice(200) }, calls: {} }, EXTRAS_KEYS)
    expect(unpackExtras(most, EXTRAS_KEYS)?.fields.most).toHaveLength(1024 * 1024 - 200)
    expect(unpackExtras(`${most}${'A'.repeat(400_000)}`, null)).toBeNull()
  })
})

test('omit what streams without end beyond the limit', () => {
  const pending = new BufferedProviderExtras()
  pending.addMessage({ ticket: 'A' })
  for (let piece = 0; piece < 200; piece++) pending.addMessage({ reasoning: 'x'.repeat(100_000) })
  pending.addMessage({ reasoning: 'x', seal: 'B' })
  expect(pending.take()).toEqual({ fields: { ticket: 'A', seal: 'B' }, calls: {} } satisfies ProviderExtras)
})

describe('cost bound of packed provider extras', () => {
  const bounds = (carried: JsonObject) => {
    const text = packExtras({ fields: carried, calls: {} }, ['any key'])
    return [
      readCostFactors('responses', {
        model: 'm',
        input: [{ type: 'reasoning', summary: [], encrypted_content: text }],
      }),
      readCostFactors('messages', {
        model: 'm',
        max_tokens: 1,
        messages: [{ role: 'assistant', content: [{ type: 'thinking', signature: text }] }],
      }),
      readCostFactors('messages', {
        model: 'm',
        max_tokens: 1,
        messages: [{ role: 'assistant', content: [{ type: 'redacted_thinking', data: text }] }],
      }),
    ]
  }

  test.each([
    [{ reasoning_content: 'Hm.' }, { isTextOnly: true }],
    [{ extra_content: { google: { thought_signature: 'c2ln' } } }, { isTextOnly: true }],
    [{ images: [{ type: 'image_url', image_url: { url: 'https://a.example/a.png' } }] }, { isTextOnly: false }],
    [{ reasoning_details: [{ type: 'image_url' }] }, { isTextOnly: false }],
    [{ parts: [{ type: 'input_audio', input_audio: { data: 'A' } }] }, { hasAudioInput: true }],
    [{ x: { tools: [{ type: 'web_search' }] } }, { isTextOnly: false }],
  ])('equals the bound of the same field unpacked: %j', (carried, expected) => {
    for (const found of bounds(carried)) expect(found).toMatchObject(expected)
  })

  test('includes tools inside', () => {
    const [found] = bounds({ x: { tools: [{ type: 'web_search' }] } })
    expect(found?.hostedTools.length).toBeGreaterThan(0)
    expect(isJsonObject(found)).toBe(true)
  })
})
