import type { ContentBlock, Message, StopReason } from '@anthropic-ai/sdk/resources/messages'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import type { AnthropicResponseContext } from '../../../../src/providers/anthropic/response/response-context.ts'
import { StreamTranslator } from '../../../../src/providers/anthropic/response/stream-translator.ts'
import {
  translateResponse,
  translateStream,
} from '../../../../src/providers/anthropic/response/translate-upstream-response.ts'
import { writeEvent, writeEvents } from '../../../fake-anthropic/write-events.ts'
import { assembleBytes, cutBytes } from '../../../fake-provider/assemble-bytes.ts'

const CONTEXT: AnthropicResponseContext = {
  createdSeconds: 5,
  isJsonObject: false,
  usesLegacyFunctions: false,
  localStopSequences: [],
}
const encoder = new TextEncoder()

function message(content: ContentBlock[], stop_reason: StopReason = 'end_turn'): Message {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    content,
    stop_reason,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: 1,
      output_tokens: 2,
      cache_creation_input_tokens: 3,
      cache_read_input_tokens: 4,
      cache_creation: null,
      inference_geo: null,
      output_tokens_details: { thinking_tokens: 1 },
      server_tool_use: null,
      service_tier: 'standard',
      speed: null,
    },
  }
}

const text = (content: string): ContentBlock => ({ type: 'text', text: content, citations: null })
const use = (id: string, input: unknown = {}): ContentBlock => ({
  type: 'tool_use',
  id,
  name: `f_${id}`,
  input,
  caller: { type: 'direct' },
})

/** Translates the events. Each chunk is parsed, except `[DONE]`. */
function chunksOf(events: (JsonObject & { type: string })[], context = CONTEXT): (JsonObject | string)[] {
  const translator = new StreamTranslator(context)
  return events.flatMap(event => translator.push(JSON.stringify(event))).map(parsePayload)
}

function parsePayload(payload: string): JsonObject | string {
  return payload === '[DONE]' ? payload : JSON.parse(payload)
}

function deltasOf(chunks: (JsonObject | string)[]): unknown[] {
  return chunks.flatMap(chunk =>
    typeof chunk === 'string' ? [] : (chunk.choices as { delta: unknown }[]).map(choice => choice.delta),
  )
}

function eventsOf(source: Message, pieceChars?: number): (JsonObject & { type: string })[] {
  const style = pieceChars === undefined ? {} : { pieceChars }
  return writeEvents(source, style).map(event => JSON.parse(event.slice(event.indexOf('data: ') + 6)))
}

function streamOf(parts: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

const words = fc.array(
  fc.constantFrom(
    'word',
    ' ',
    '\n',
    '```json\n',
    '\n```',
    '`',
    '{"a":1}',
    'é',
    '漢字',
    '👩‍👩‍👧‍👦',
    '\u0000',
    '"',
    'data: x\n\n',
  ),
  { maxLength: 12 },
)
const texts = words.map(parts => parts.join(''))
const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  texts.map(text),
  fc.record({ type: fc.constant('thinking' as const), thinking: texts, signature: fc.uuid() }),
  fc.record({ type: fc.constant('redacted_thinking' as const), data: fc.uuid() }),
  fc
    .record({
      id: fc.uuid(),
      input: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue(), { noNullPrototype: true }),
    })
    .map(({ id, input }) => use(id, JSON.parse(JSON.stringify(input)))),
)
const stopReason = fc.constantFrom<StopReason>(
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
)
const context = fc.record({
  createdSeconds: fc.nat(),
  isJsonObject: fc.boolean(),
  usesLegacyFunctions: fc.boolean(),
  localStopSequences: fc.subarray([' ', '\n', '\n\n']),
})

describe('a translated stream', () => {
  test('assembles to the translated plain response, however it is cut', async () => {
    const content = fc.array(block, { maxLength: 6 })
    const style = fc.record({ pieceChars: fc.integer({ min: 1, max: 20 }), pings: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(
        content,
        stopReason,
        context,
        style,
        fc.array(fc.nat()),
        async (blocks, reason, of, as, cuts) => {
          const whole = message(blocks, reason)
          const bytes = encoder.encode(writeEvents(whole, as).join(''))
          const translated = await readAll(await translateStream(streamOf(cutBytes(bytes, cuts)), of))
          const { body, sawDone, error } = assembleBytes(translated)
          expect(body).toEqual(translateResponse(whole, of))
          expect({ sawDone, error }).toEqual({ sawDone: true, error: null })
        },
      ),
    )
  })
})

describe('translating events', () => {
  test('starts with the role, ends with its reason, its usage and [DONE]', () => {
    const chunks = chunksOf(eventsOf(message([text('Hi there')]), 3))
    const head = {
      id: 'msg_1',
      object: 'chat.completion.chunk',
      created: 5,
      model: 'claude-opus-5-5',
      service_tier: 'default',
    }
    expect(chunks[0]).toEqual({
      ...head,
      choices: [
        { index: 0, delta: { role: 'assistant', content: null, refusal: null }, logprobs: null, finish_reason: null },
      ],
    })
    expect(deltasOf(chunks).slice(1)).toEqual([{ content: 'Hi ' }, { content: 'the' }, { content: 're' }, {}])
    expect(chunks.at(-3)).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
    expect(chunks.at(-2)).toMatchObject({ ...head, choices: [], usage: { prompt_tokens: 8, completion_tokens: 2 } })
    expect(chunks.at(-1)).toBe('[DONE]')
  })

  test('numbers calls apart from other blocks, and starts each with its name', () => {
    const chunks = chunksOf(eventsOf(message([text('a'), use('x', { n: 1 }), use('y')], 'tool_use'), 4))
    const calls = deltasOf(chunks).flatMap(delta => (delta as { tool_calls?: unknown[] }).tool_calls ?? [])
    expect(calls).toEqual([
      { index: 0, id: 'x', type: 'function', function: { name: 'f_x', arguments: '' } },
      { index: 0, function: { arguments: '{"n"' } },
      { index: 0, function: { arguments: ':1}' } },
      { index: 1, id: 'y', type: 'function', function: { name: 'f_y', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
    ])
  })

  test('separates fragments of interleaved calls', () => {
    const [start, ...events] = eventsOf(message([use('x', { a: 1 }), use('y', { b: 2 })], 'tool_use'), 30)
    const byType = (type: string) => events.filter(event => event.type === type)
    const mixed = ['content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta', 'message_stop']
    const chunks = chunksOf([...(start ? [start] : []), ...mixed.flatMap(byType)])
    const calls = deltasOf(chunks).flatMap(delta => (delta as { tool_calls?: { index: number }[] }).tool_calls ?? [])
    expect(calls.map(({ index }) => index)).toEqual([0, 1, 0, 1])
  })

  test('sends reasoning as it arrives, and once more whole where each block ends, to be returned', () => {
    const thought: ContentBlock = { type: 'thinking', thinking: 'Let me see', signature: 'sig' }
    const deltas = deltasOf(chunksOf(eventsOf(message([thought, text('b')]), 6)))
    expect(deltas.slice(1)).toEqual([
      { reasoning_content: 'Let me' },
      { reasoning_content: ' see' },
      { thinking_blocks: [{ ...thought, index: 0 }] },
      { content: 'b' },
      {},
    ])
  })

  test('sends the text and input that a block starts with', () => {
    const [start, ...rest] = eventsOf(message([]))
    const started = (index: number, content_block: ContentBlock) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]
    const blocks = [...started(0, text('whole')), ...started(1, use('x', { n: 1 }))]
    const deltas = deltasOf(chunksOf([...(start ? [start] : []), ...blocks, ...rest]))
    expect(deltas).toContainEqual({ content: 'whole' })
    expect(deltas).toContainEqual({ tool_calls: [{ index: 0, function: { arguments: '{"n":1}' } }] })
  })

  test('writes a legacy function call in its form', () => {
    const legacy = { ...CONTEXT, usesLegacyFunctions: true }
    const chunks = chunksOf(eventsOf(message([use('x', { n: 1 })], 'tool_use'), 40), legacy)
    expect(deltasOf(chunks).slice(1, 3)).toEqual([
      { function_call: { name: 'f_x', arguments: '' } },
      { function_call: { arguments: '{"n":1}' } },
    ])
    expect(chunks.at(-3)).toMatchObject({ choices: [{ finish_reason: 'function_call' }] })
  })

  test('sends a refusal with its explanation', () => {
    const refused = message([text('Well')], 'refusal')
    const details = { type: 'refusal', category: 'bio', explanation: 'No.' } as Message['stop_details']
    const chunks = chunksOf(eventsOf({ ...refused, stop_details: details }))
    expect(deltasOf(chunks)).toContainEqual({ refusal: 'No.' })
    expect(chunks.at(-3)).toMatchObject({ choices: [{ finish_reason: 'content_filter' }] })
  })

  test('uses the counts of message_start if message_delta has none', () => {
    const events = eventsOf(message([])).map(event =>
      event.type === 'message_delta' ? { ...event, usage: { output_tokens: 9, input_tokens: null } } : event,
    )
    expect(chunksOf(events).at(-2)).toMatchObject({
      usage: { prompt_tokens: 8, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } },
    })
  })

  test('skips pings, citations and unknown events', () => {
    const known = eventsOf(message([text('a')]))
    const citation = { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: {} } }
    const strange = [
      { type: 'ping' },
      citation,
      { type: 'from_tomorrow', x: 1 },
      { type: 'content_block_delta', index: 9, delta: { type: 'input_json_delta', partial_json: '{' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'from_tomorrow' } },
      {
        type: 'content_block_start',
        index: 7,
        content_block: { type: 'server_tool_use', id: 's', name: 'n', input: {} },
      },
    ]
    const mixed = known.flatMap((event, at) => (at === 0 ? [event] : [...strange, event]))
    expect(chunksOf(mixed)).toEqual(chunksOf(known))
  })

  test('sends nothing after the end', () => {
    const translator = new StreamTranslator(CONTEXT)
    for (const event of eventsOf(message([]))) translator.push(JSON.stringify(event))
    expect(translator.isDone).toBe(true)
    expect(translator.push('{"type":"error"}')).toEqual([])
  })

  test.each(['x', '[7]', '"text"', '{"type":"message_start"}', '{"type":"content_block_delta","index":0}'])(
    'throws a 502 for %j',
    data => {
      expect(() => new StreamTranslator(CONTEXT).push(data)).toThrow(expect.objectContaining({ status: 502 }))
    },
  )

  test.each(['', ' ', '[]', 'null'])('skips %j, an empty frame, between events', data => {
    const translator = new StreamTranslator(CONTEXT)
    const pushed = eventsOf(message([text('Hi')])).flatMap(event => [
      ...translator.push(data),
      ...translator.push(JSON.stringify(event)),
    ])
    expect(pushed.at(-1)).toBe('[DONE]')
    expect(pushed.filter(payload => payload.includes('"content":"Hi"'))).toHaveLength(1)
  })
})

describe('translating a stream', () => {
  const error = writeEvent({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })

  test('rejects with an error that arrives first', async () => {
    const upstream = streamOf([encoder.encode(writeEvent({ type: 'ping' }) + error)])
    await expect(translateStream(upstream, CONTEXT)).rejects.toMatchObject({ status: 529, code: 'overloaded' })
  })

  test('sends what arrived before an error, then throws it', async () => {
    const events = writeEvents(message([text('Hi there')])).slice(0, 3)
    const body = await translateStream(streamOf([encoder.encode(events.join('') + error)]), CONTEXT)
    const seen: string[] = []
    const reading = (async () => {
      for await (const part of body) seen.push(new TextDecoder().decode(part))
    })()
    await expect(reading).rejects.toMatchObject({
      status: 529,
      message: 'Overloaded',
      type: 'overloaded_error',
      code: 'overloaded',
    })
    expect(seen.join('')).toContain('"Hi there"')
    expect(seen.join('')).not.toContain('[DONE]')
  })

  test.each([0, 1, 3])('throws if the upstream ends after %i events', async count => {
    const events = writeEvents(message([text('Hi')])).slice(0, count)
    const reading = translateStream(streamOf([encoder.encode(events.join(''))]), CONTEXT).then(readAll)
    await expect(reading).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('before it was whole'),
    })
  })

  test('is complete although the connection breaks after the last event', async () => {
    const events = encoder.encode(writeEvents(message([text('Hi')])).join(''))
    let turn = 0
    const upstream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (turn++ === 0) controller.enqueue(events)
        else controller.error(new Error('reset'))
      },
    })
    expect(new TextDecoder().decode(await readAll(await translateStream(upstream, CONTEXT)))).toContain('[DONE]')
  })

  test('cancels the upstream when the reader leaves, also while it is silent', async () => {
    let cancelled: unknown = null
    const upstream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(encoder.encode(writeEvents(message([])).slice(0, 1).join('')))
      },
      cancel(reason) {
        cancelled = reason
      },
    })
    const reader = (await translateStream(upstream, CONTEXT)).getReader()
    await reader.read()
    void reader.read()
    await reader.cancel('gone')
    expect(cancelled).toBe('gone')
  })
})
