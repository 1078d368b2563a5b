import fc from 'fast-check'
import OpenAI from 'openai'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors/errors.ts'
import { createChatAssembler } from '../../../../src/formats/chat/assemble-chat.ts'
import { splitChatResponse } from '../../../../src/formats/chat/split-chat-response.ts'
import { type JsonObject, parseJsonObject } from '../../../../src/formats/json/canonical.ts'
import { createResponseAssembler } from '../../../../src/formats/responses/assemble-response.ts'
import { splitResponse } from '../../../../src/formats/responses/responses-format.ts'
import { readResponseContext } from '../../../../src/formats/responses/write-response.ts'
import { encodeTypedEvents, type TypedEvent } from '../../../../src/formats/sse/sse.ts'
import { chatAnswers } from '../../chat-responses.ts'
import { createResponseStream, responseFromChat } from '../translated.ts'

const body = {
  model: 'some/model',
  input: 'Hello',
  include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
  tools: [
    { type: 'function', name: 'lookUp', parameters: {}, strict: false },
    { type: 'custom', name: 'patch' },
  ],
}
const context = readResponseContext(body, 'req_1', ['p m'])

/** All events of the response, as they are written when its provider streams it. */
function streamed(answer: JsonObject, of = context): TypedEvent[] {
  const stream = createResponseStream(of)
  const events = splitChatResponse(answer, { includeUsage: true }).flatMap(data =>
    stream.push(parseJsonObject(data) ?? {}),
  )
  return [...events, ...stream.finish()]
}

/** The response that the official client reads from the events. */
async function readWithClient(events: TypedEvent[]) {
  const bytes = new Uint8Array(encodeTypedEvents(events))
  const fetch = async () => new Response(new Blob([bytes]), { headers: { 'content-type': 'text/event-stream' } })
  const client = new OpenAI({ apiKey: 'sk-none', baseURL: 'http://127.0.0.1:9/v1', fetch, maxRetries: 0 })
  const stream = client.responses.stream({ model: 'm', input: 'x' })
  /** Text of each item, collected from the deltas alone. The final event repeats it as a whole. */
  const grown: Record<string, string> = {}
  for await (const event of stream as AsyncIterable<ResponseStreamEvent>) {
    if ('delta' in event && 'item_id' in event) grown[event.item_id] = (grown[event.item_id] ?? '') + event.delta
  }
  return { response: await stream.finalResponse(), grown }
}

function answer(message: JsonObject, finish_reason = 'stop', more: JsonObject = {}): JsonObject {
  const choice = { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason, ...more }
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, cost: 0.5 }
  return { id: 'chatcmpl-1', created: 1_760_000_000, model: 'some/model-1', choices: [choice], usage }
}

/** The text that the deltas of an item must add up to. */
function textOf(item: JsonObject): string {
  const parts = [...((item.content ?? []) as JsonObject[]), ...((item.summary ?? []) as JsonObject[])]
  return String(item.arguments ?? item.input ?? parts.map(part => part.text ?? part.refusal).join(''))
}

describe('a translated response', () => {
  test('has the fields of OpenAI’s own', () => {
    const response = responseFromChat(answer({ content: 'Hi.', reasoning: 'Greet.' }), context)
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{44}$/),
      object: 'response',
      created_at: 1_760_000_000,
      model: 'some/model-1',
      status: 'completed',
      incomplete_details: null,
      error: null,
      store: true,
      tools: body.tools,
      usage: {
        input_tokens: 11,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 18,
        cost: 0.5,
      },
    })
    expect(response.output).toEqual([
      {
        id: expect.any(String),
        type: 'reasoning',
        status: 'completed',
        summary: [{ type: 'summary_text', text: 'Greet.' }],
        encrypted_content: expect.stringMatching(/^mp1\./),
      },
      {
        id: expect.any(String),
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hi.', annotations: [], logprobs: [] }],
      },
    ])
  })

  test('distinguishes functions from custom tools, and creates ids for calls without one', () => {
    const calls = [
      { id: 'call_1', type: 'function', function: { name: 'lookUp', arguments: '{"a":1}' } },
      { id: '', type: 'function', function: { name: 'patch', arguments: '{"input":"*** Begin\\n"}' } },
    ]
    const { output } = responseFromChat(answer({ tool_calls: calls }, 'tool_calls'), context)
    expect(output).toEqual([
      {
        id: expect.stringMatching(/^fc_/),
        type: 'function_call',
        status: 'completed',
        call_id: 'call_1',
        name: 'lookUp',
        arguments: '{"a":1}',
      },
      {
        id: expect.stringMatching(/^ctc_/),
        type: 'custom_tool_call',
        status: 'completed',
        call_id: expect.stringMatching(/^call_/),
        name: 'patch',
        input: '*** Begin\n',
      },
    ])
  })

  test.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('that ended by %s is incomplete', (finishReason, reason) => {
    const response = responseFromChat(answer({ content: 'Once' }, finishReason), context)
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason }, completed_at: null })
    expect(response.output).toMatchObject([{ status: 'incomplete' }])
    expect(streamed(answer({ content: 'Once' }, finishReason)).at(-1)?.type).toBe('response.incomplete')
  })

  test('keeps refusals, sources and log probabilities', () => {
    const logprobs = { content: [{ token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }] }
    const cited = { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 2 }
    const message = { content: 'Hi', refusal: 'No.', annotations: [{ type: 'url_citation', url_citation: cited }] }
    const { output } = responseFromChat(answer(message, 'stop', { logprobs }), context)
    expect(output).toMatchObject([
      {
        content: [
          {
            type: 'output_text',
            text: 'Hi',
            annotations: [{ type: 'url_citation', ...cited }],
            logprobs: logprobs.content,
          },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
    ])
  })

  test('has encrypted reasoning, whether or not it is requested or the response is stored', () => {
    const thoughtful = answer({ content: 'Hi.', reasoning_details: [{ type: 'reasoning.encrypted', data: 'A' }] })
    expect(responseFromChat(thoughtful, context).output).toMatchObject([
      { type: 'reasoning', summary: [], encrypted_content: expect.stringMatching(/^mp1\./) },
      { type: 'message' },
    ])
    const kept = readResponseContext({ model: 'm', input: 'x' }, 'req_1', ['p m'])
    expect(responseFromChat(thoughtful, kept).output).toMatchObject([{ type: 'reasoning' }, { type: 'message' }])
    const unasked = readResponseContext({ model: 'm', input: 'x', store: false }, 'req_1', ['p m'])
    expect(responseFromChat(thoughtful, unasked).output).toMatchObject([{ type: 'reasoning' }, { type: 'message' }])
  })

  const REASON = 'Let me see.'
  const late = (...deltas: JsonObject[]): JsonObject[] => [
    { reasoning: REASON, reasoning_details: [{ type: 'reasoning.text', text: REASON, index: 0 }] },
    ...deltas,
  ]
  const SIGNED = { reasoning_details: [{ type: 'reasoning.text', signature: 'sig', index: 0 }] }

  test.each([
    ['before the content', late(SIGNED, { content: 'Hi.' })],
    ['after the content', late({ content: 'Hi.' }, SIGNED)],
    ['never', late({ content: 'Hi.' })],
    [
      'at the end of its block',
      [
        { reasoning_content: REASON },
        { thinking_blocks: [{ type: 'thinking', thinking: REASON, signature: 's', index: 0 }] },
        { content: 'Hi.' },
      ],
    ],
  ])('with reasoning signed %s is the same plain, streamed and replayed', (_when, deltas) => {
    const stream = createResponseStream(context)
    const events = deltas.flatMap(delta => stream.push({ id: 'c', created: 1, model: 'm', choices: [{ delta }] }))
    events.push(...stream.push({ choices: [{ delta: {}, finish_reason: 'stop' }] }), ...stream.finish())
    const assembler = createChatAssembler()
    for (const delta of deltas)
      assembler.push(JSON.stringify({ id: 'c', created: 1, model: 'm', choices: [{ delta }] }))
    assembler.push('{"choices":[{"delta":{},"finish_reason":"stop"}]}')
    const plain = responseFromChat(assembler.finish().body, context)
    const itemsOf = (all: TypedEvent[]) =>
      all
        .filter(({ type }) => type === 'response.output_item.done')
        .sort((a, b) => Number(a.output_index) - Number(b.output_index))
        .map(({ item }) => item)
    expect(events.at(-1)?.response).toEqual(plain)
    expect(itemsOf(events)).toEqual(plain.output)
    expect(itemsOf(splitResponse(plain))).toEqual(plain.output)
    expect(plain.output).toMatchObject([
      { summary: [{ text: REASON }], encrypted_content: expect.stringMatching(/^mp1\./) },
      { type: 'message' },
    ])
    // The text is closed at once. Only the item stays open until its encrypted content arrives.
    const types = events.map(({ type }) => type)
    expect(types.indexOf('response.reasoning_summary_text.done')).toBeLessThan(
      types.indexOf('response.output_text.delta'),
    )
  })

  test('has an empty message if the model wrote nothing, and throws if output tokens are counted for that', () => {
    const said = answer({ content: '' })
    const usage = { ...(said.usage as JsonObject), completion_tokens: 1 }
    const { output } = responseFromChat({ ...said, usage }, context)
    expect(() => responseFromChat(said, context)).toThrow('returned an empty response, and counts output tokens')
    expect(output).toMatchObject([{ content: [{ type: 'output_text', text: '' }] }])
  })

  test('is the same plain and streamed, for any content', () => {
    fc.assert(
      fc.property(chatAnswers, chat => {
        const events = streamed(chat)
        const assembler = createResponseAssembler({ clientSetOutputLimit: true })
        for (const event of events) assembler.push(JSON.stringify(event))
        expect(assembler.finish().body).toEqual(responseFromChat(chat, context))
        expect(events.map(event => event.sequence_number)).toEqual(events.map((_, index) => index))
      }),
    )
  })

  test('is read by the official client, event by event', async () => {
    await fc.assert(
      fc.asyncProperty(chatAnswers, async chat => {
        const plain = responseFromChat(chat, context)
        const { response, grown } = await readWithClient(streamed(chat))
        expect(response).toMatchObject(plain)
        for (const item of plain.output as JsonObject[]) expect(grown[String(item.id)] ?? '').toBe(textOf(item))
      }),
    )
  })

  test('that breaks off ends with an error that the official client throws', async () => {
    const stream = createResponseStream(context)
    const chunk = { ...answer({}), choices: [{ index: 0, delta: { content: 'Hel' } }] }
    const error = new ProxyError({ status: 502, code: 'upstream_error', message: 'Upstream broke off.' })
    const events = [...stream.push(chunk), ...stream.fail(error)]
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', code: 'upstream_error', message: 'Upstream broke off.' },
      { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } },
    ])
    await expect(readWithClient(events)).rejects.toThrow('Upstream broke off.')
  })

  test.each([
    [{ error: { message: 'Provider returned error', code: 502 } }, 'Provider returned error'],
    [{ choices: [{ index: 0, delta: {}, error: { message: 'Overloaded' } }] }, 'Overloaded'],
  ])('with an error in it throws it, whatever follows', (chunk, message) => {
    const stream = createResponseStream(context)
    const readAll = () => {
      stream.push(chunk as JsonObject)
      stream.push({ choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] })
      stream.finish()
    }
    expect(readAll).toThrow(message)
  })

  test('throws an error that its stream reports at once', () => {
    const stream = createResponseStream(context)
    stream.push({ choices: [{ index: 0, delta: { content: 'Hi.' } }] })
    expect(() => stream.push({ error: { message: 'Overloaded' } })).toThrow('Overloaded')
  })

  test('with interleaved calls has them one after another', () => {
    const fragment = (index: number, called: object, more = {}) => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index, ...more, function: called }] } }],
    })
    const stream = createResponseStream(context)
    const events = [
      ...stream.push(fragment(0, { name: 'a', arguments: '{' }, { id: 'call_a' })),
      ...stream.push(fragment(1, { name: 'b', arguments: '{"x"' }, { id: 'call_b' })),
      ...stream.push(fragment(0, { arguments: '}' })),
      ...stream.push(fragment(1, { arguments: ':1}' })),
      ...stream.push({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }),
      ...stream.finish(),
    ]
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
    const calls = [
      { type: 'function_call', call_id: 'call_a', name: 'a', arguments: '{}' },
      { type: 'function_call', call_id: 'call_b', name: 'b', arguments: '{"x":1}' },
    ]
    expect(done).toMatchObject(calls)
    expect(events.at(-1)?.response).toMatchObject({ status: 'completed', output: calls })
  })
})

describe('splitting a response', () => {
  test('returns events that assemble to the same response', async () => {
    await fc.assert(
      fc.asyncProperty(chatAnswers, async chat => {
        const response = responseFromChat(chat, context)
        const { response: read, grown } = await readWithClient(splitResponse(response))
        expect(read).toMatchObject(response)
        for (const item of response.output as JsonObject[]) expect(grown[String(item.id)] ?? '').toBe(textOf(item))
      }),
    )
  })

  test('reasoning is in progress when it is added and completed when it is done, streamed and replayed', () => {
    const chat = answer({ content: 'Hi.', reasoning: 'Greet.' })
    for (const events of [streamed(chat), splitResponse(responseFromChat(chat, context))]) {
      const items = events.filter(({ item }) => (item as JsonObject | undefined)?.type === 'reasoning')
      expect(items.map(({ type, item }) => [type, (item as JsonObject).status])).toEqual([
        ['response.output_item.added', 'in_progress'],
        ['response.output_item.done', 'completed'],
      ])
    }
  })

  test('replays items of unknown kinds whole', () => {
    const item = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search' } }
    const events = splitResponse({ id: 'resp_1', object: 'response', status: 'completed', output: [item] })
    expect(events.slice(2, 4)).toEqual([
      { type: 'response.output_item.added', sequence_number: 2, output_index: 0, item },
      { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item },
    ])
  })

  test('replays reasoning text, and a signature only with the last event of its item', () => {
    const item = {
      id: 'rs_1',
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'S' }],
      content: [{ type: 'reasoning_text', text: 'T' }],
      encrypted_content: 'gAAA',
    }
    const events = splitResponse({ id: 'resp_1', object: 'response', status: 'completed', output: [item] })
    expect(events[2]?.item).toEqual({ id: 'rs_1', type: 'reasoning', summary: [], content: [] })
    expect(events.map(({ type }) => type).slice(3, -2)).toEqual([
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.content_part.added',
      'response.reasoning_text.delta',
      'response.reasoning_text.done',
      'response.content_part.done',
    ])
    expect(events.at(-2)?.item).toEqual(item)
  })
})
