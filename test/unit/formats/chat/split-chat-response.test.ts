import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeSseStream, splitChatResponse } from '../../../../src/formats/chat/split-chat-response.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import { assembleBytes } from '../../../fake-provider/assemble-bytes.ts'

const PLACED = new Set(
  `id object created model service_tier system_fingerprint choices usage error obfuscation x_groq index message delta
  text finish_reason logprobs role content refusal audio tool_calls function_call function custom type name arguments
  input transcript data expires_at`.split(/\s+/),
)

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc
    .array(fc.constantFrom('word', ' ', '\n', '\r\n', '👩‍👩‍👧‍👦', 'é', '漢字', ',', '{"a":', 'x'.repeat(90)), {
      maxLength: 60,
    })
    .map(parts => parts.join('')),
)
const json = fc.jsonValue({ maxDepth: 3 })
const unknownKey = fc
  .oneof(
    fc.constantFrom(
      'reasoning',
      'reasoning_content',
      'reasoning_details',
      'annotations',
      'images',
      'provider',
      'extra_id',
      'constructor',
      'toString',
    ),
    fc.string({ maxLength: 8 }),
  )
  .filter(key => !PLACED.has(key))
const unknown = fc.dictionary(unknownKey, fc.oneof(json, text), { maxKeys: 4, noNullPrototype: true })
const numbered = fc.array(fc.record({ type: fc.constantFrom('a', 'b'), index: fc.nat(2), text, id: fc.option(text) }), {
  maxLength: 4,
})

function some(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> {
  return fc.record(fields, { requiredKeys: [], noNullPrototype: true })
}
function both(...parts: fc.Arbitrary<JsonObject>[]): fc.Arbitrary<JsonObject> {
  return fc.tuple(...parts).map(all => Object.assign({}, ...all))
}

const toolCall = fc.oneof(
  both(
    fc.record({
      id: text,
      type: fc.constant('function'),
      function: both(fc.record({ name: text, arguments: text }), unknown),
    }),
    unknown,
  ),
  fc.record({ id: text, type: fc.constant('custom'), custom: fc.record({ name: text, input: text }) }),
)
const message = both(
  unknown,
  some({ reasoning_details: numbered }),
  fc.record({ role: fc.constant('assistant'), content: fc.option(text), refusal: fc.option(text) }),
  some({
    tool_calls: fc.array(toolCall, { maxLength: 3 }),
    function_call: fc.record({ name: text, arguments: text }),
    audio: both(
      fc.record({ id: text, data: fc.base64String({ maxLength: 40 }), transcript: text, expires_at: fc.nat() }),
      unknown,
    ),
  }),
)

/** Tokens that add up to the text exactly, or arbitrary tokens. */
function tokensOf(content: unknown): fc.Arbitrary<string[]> {
  if (typeof content !== 'string') return fc.array(text, { maxLength: 3 })
  const letters = [...content]
  const cuts = fc
    .array(fc.nat(letters.length), { maxLength: 5 })
    .map(all => [...all.toSorted((a, b) => a - b), letters.length])
  const exact = cuts.map(ends => ends.map((end, at) => letters.slice(ends[at - 1] ?? 0, end).join('')))
  return fc.oneof({ weight: 3, arbitrary: exact }, { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }) })
}
function tokenLogprobs(content: unknown): fc.Arbitrary<unknown> {
  const entries = tokensOf(content).map(tokens =>
    tokens.map((token, at) => ({ token, logprob: -at, bytes: null, top_logprobs: [{ token, index: 0 }] })),
  )
  return fc.option(entries)
}
function chatLogprobs(chatMessage: JsonObject): fc.Arbitrary<unknown> {
  const { content, refusal } = chatMessage
  return fc.option(both(fc.record({ content: tokenLogprobs(content), refusal: tokenLogprobs(refusal) }), unknown))
}
function legacyLogprobs(content: string): fc.Arbitrary<unknown> {
  const lists = tokensOf(content).map(tokens => ({
    tokens,
    token_logprobs: tokens.map(() => -1),
    top_logprobs: null,
    ranks: [1, 2, 3, 4, 5, 6, 7, 8, 9],
    text_offset: tokens.map((_, at) => at),
  }))
  return fc.option(lists)
}

const finishReason = fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter')
const plainChoice = message.chain(chatMessage =>
  both(
    fc.record({ message: fc.constant(chatMessage), finish_reason: finishReason }),
    some({ logprobs: chatLogprobs(chatMessage) }),
    unknown,
  ),
)
/** Aggregators add the native finish reason, and number the calls of plain responses too. */
const aggregatorChoice = plainChoice.map(choice => {
  const chatMessage = choice.message as JsonObject
  const calls = chatMessage.tool_calls
  const numberedCalls = Array.isArray(calls) ? { tool_calls: calls.map((call, index) => ({ index, ...call })) } : {}
  return { ...choice, native_finish_reason: 'STOP', message: { ...chatMessage, ...numberedCalls } }
})
const chatChoice = fc.oneof(plainChoice, aggregatorChoice)
const legacyChoice = text.chain(completion =>
  both(
    fc.record({ text: fc.constant(completion), finish_reason: finishReason }),
    some({ logprobs: legacyLogprobs(completion) }),
    unknown,
  ),
)
const usage = both(fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat() }), unknown)

function answer(object: string, choice: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  const choices = fc.array(choice, { maxLength: 3 }).map(all => all.map((one, index) => ({ index, ...one })))
  const top = fc.record({ id: text, object: fc.constant(object), created: fc.nat(), model: text, choices })
  const optional = some({
    usage,
    service_tier: fc.option(text),
    system_fingerprint: text,
    x_groq: fc.record({ id: text }),
  })
  return both(top, optional, unknown).map(body => JSON.parse(JSON.stringify(body)))
}

const chatAnswer = answer('chat.completion', chatChoice)
const anyAnswer = fc.oneof(
  chatAnswer,
  answer('text_completion', legacyChoice).filter(body => Array.isArray(body.choices) && body.choices.length > 0),
)

function readChunks(payloads: string[]): JsonObject[] {
  return payloads.map(payload => JSON.parse(payload))
}

function chatBody(chatMessage: JsonObject, choice: JsonObject = {}, top: JsonObject = {}): JsonObject {
  const choices = [
    { index: 0, message: { role: 'assistant', ...chatMessage }, logprobs: null, finish_reason: 'stop', ...choice },
  ]
  return { id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices, ...top }
}

describe('splitting a response', () => {
  test('returns chunks that assemble to the same response, however their bytes are cut', () => {
    fc.assert(
      fc.property(anyAnswer, fc.array(fc.nat()), fc.constantFrom('\n', '\r', '\r\n'), (body, cuts, newline) => {
        const events = new TextDecoder().decode(encodeSseStream(splitChatResponse(body, { includeUsage: true })))
        const bytes = new TextEncoder().encode(events.replaceAll('\n', newline))
        const assembled = assembleBytes(bytes, cuts)
        expect(assembled.body).toEqual(body)
        expect(assembled.usage).toEqual(body.usage ?? null)
        expect(assembled.sawDone).toBe(true)
      }),
    )
  })

  test('omits nothing but usage if the client did not request it', () => {
    fc.assert(
      fc.property(anyAnswer, body => {
        const { usage: _usage, x_groq: _groq, ...rest } = body
        expect(assembleBytes(encodeSseStream(splitChatResponse(rest, { includeUsage: false }))).body).toEqual(rest)
        for (const chunk of readChunks(splitChatResponse({ ...rest, usage: { a: 1 } }, { includeUsage: false }))) {
          expect(chunk).not.toHaveProperty('usage')
        }
      }),
    )
  })

  test('does not change the response', () => {
    fc.assert(
      fc.property(anyAnswer, body => {
        const before = JSON.stringify(body)
        splitChatResponse(body, { includeUsage: true })
        expect(JSON.stringify(body)).toBe(before)
      }),
    )
  })

  test('preserves fields with the names of built-in object properties', () => {
    const body = JSON.parse(
      '{"__proto__":{"a":1},"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"x","__proto__":"own","constructor":"c"},"finish_reason":"stop","__proto__":2}]}',
    )
    const assembled = assembleBytes(encodeSseStream(splitChatResponse(body, { includeUsage: true }))).body
    expect(JSON.parse(JSON.stringify(assembled))).toEqual(body)
    expect(Object.keys(assembled)).toContain('__proto__')
    expect({}).not.toHaveProperty('a')
  })

  test('starts with the role, continues in pieces, and ends with the reason', () => {
    const content = 'One two three four five six seven eight nine ten, and some more words.'
    const chunks = readChunks(splitChatResponse(chatBody({ content, refusal: null }), { includeUsage: true }))
    const choices = chunks.flatMap(chunk => chunk.choices as JsonObject[])
    expect(choices[0]).toEqual({
      index: 0,
      delta: { role: 'assistant', content: '', refusal: null },
      logprobs: null,
      finish_reason: null,
    })
    expect(choices.length).toBeGreaterThan(4)
    expect(choices.at(-1)).toEqual({ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' })
    for (const chunk of chunks)
      expect(chunk).toMatchObject({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' })
  })

  test('announces usage in every chunk, and sends it in the last one, without choices', () => {
    const usage = { prompt_tokens: 3, cost: 0.1 }
    const chunks = readChunks(splitChatResponse(chatBody({ content: 'Hi' }, {}, { usage }), { includeUsage: true }))
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage })
    for (const chunk of chunks.slice(0, -1)) expect(chunk.usage).toBe(null)
  })

  test('sends unknown fields of the body once, and those of a choice with its end', () => {
    const body = chatBody({ content: 'Hi' }, { stop_reason: 7 }, { provider: 'P', service_tier: 'default' })
    const chunks = readChunks(splitChatResponse(body, { includeUsage: false }))
    expect(chunks.map(chunk => chunk.provider)).toEqual(['P', ...chunks.slice(1).map(() => undefined)])
    for (const chunk of chunks) expect(chunk.service_tier).toBe('default')
    const choices = chunks.flatMap(chunk => chunk.choices as JsonObject[])
    expect(choices.map(choice => choice.stop_reason)).toEqual([...choices.slice(1).map(() => undefined), 7])
  })

  test('starts a tool call with its name, then sends its arguments in fragments', () => {
    const calls = [
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{"city":"Rome","unit":"celsius","days":3}' } },
      { id: 'b', type: 'custom', custom: { name: 'g', input: 'x' } },
    ]
    const chunks = readChunks(
      splitChatResponse(chatBody({ content: null, tool_calls: calls }), { includeUsage: false }),
    )
    const deltas = chunks.flatMap(chunk => (chunk.choices as JsonObject[]).map(choice => choice.delta as JsonObject))
    const parts = deltas.flatMap(delta => (delta.tool_calls as JsonObject[] | undefined) ?? [])
    expect(parts[0]).toEqual({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } })
    expect(parts[1]).toEqual({ index: 0, function: { arguments: expect.any(String) } })
    expect(parts.at(-2)).toEqual({ index: 1, id: 'b', type: 'custom', custom: { name: 'g', input: '' } })
    expect(parts.at(-1)).toEqual({ index: 1, custom: { input: 'x' } })
  })

  test('sends each token with its log probabilities', () => {
    const tokens = ['Hi', ' there', '!'].map((token, at) => ({ token, logprob: -1 - at, bytes: [], top_logprobs: [] }))
    const body = chatBody({ content: 'Hi there!' }, { logprobs: { content: tokens, refusal: null } })
    const choices = readChunks(splitChatResponse(body, { includeUsage: false })).flatMap(
      chunk => chunk.choices as JsonObject[],
    )
    expect(choices.slice(1, 4)).toEqual(
      tokens.map(entry => ({
        index: 0,
        delta: { content: entry.token },
        logprobs: { content: [entry], refusal: null },
        finish_reason: null,
      })),
    )
  })

  test('interleaves several choices', () => {
    const choices = [0, 1].map(index => ({ index, message: { content: 'word '.repeat(20) }, finish_reason: 'stop' }))
    const body = { object: 'chat.completion', choices }
    const order = readChunks(splitChatResponse(body, { includeUsage: false })).flatMap(
      chunk => chunk.choices as JsonObject[],
    )
    expect(order.slice(0, 4).map(choice => choice.index)).toEqual([0, 1, 0, 1])
  })

  test('sends Groq’s clients the usage in the place where they expect it', () => {
    const body = chatBody({ content: 'Hi' }, {}, { x_groq: { id: 'r' }, usage: { total_tokens: 2 } })
    const chunks = readChunks(splitChatResponse(body, { includeUsage: false }))
    expect(chunks[0]?.x_groq).toEqual({ id: 'r' })
    expect(chunks.at(-1)?.x_groq).toEqual({ id: 'r', usage: { total_tokens: 2 } })
  })

  test('streams a very long response in few chunks', () => {
    const body = chatBody({ content: 'word '.repeat(200_000) })
    expect(splitChatResponse(body, { includeUsage: false }).length).toBeLessThan(250)
  })

  test('returns one chunk for a body without choices', () => {
    expect(
      readChunks(splitChatResponse({ id: 'c', object: 'chat.completion', choices: [] }, { includeUsage: false })),
    ).toEqual([{ id: 'c', object: 'chat.completion.chunk', choices: [] }])
  })
})

describe('encodeSse', () => {
  test('writes one event per payload, and [DONE]', () => {
    expect(new TextDecoder().decode(encodeSseStream(['{"a":1}', '{"b":"é"}']))).toBe(
      'data: {"a":1}\n\ndata: {"b":"é"}\n\ndata: [DONE]\n\n',
    )
  })
})
