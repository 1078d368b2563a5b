/** Messages requests that become Responses requests, and Responses that become messages, plain or in any split of their stream. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import { createMessageAssembler } from '../../../../src/formats/messages/assemble-message.ts'
import { splitResponse } from '../../../../src/formats/responses/responses-format.ts'
import {
  createResponseTranslator,
  restoreClientFieldNames,
  type TranslationContext,
  translateRequest,
} from '../../../../src/formats/translation.ts'

const TARGET = {
  endpoint: 'responses' as const,
  maxOutputTokens: null,
  canReason: true,
  supportsCacheControl: true,
  rejectsUnsupportedTools: false,
  extrasKeys: ['p m'],
}
const REQUEST: JsonObject = { model: 'm', max_tokens: 1_000, messages: [{ role: 'user', content: 'Hi.' }] }

function request(fields: JsonObject, target = TARGET): JsonObject {
  return translateRequest('messages', { ...REQUEST, ...fields }, target).body
}

function contextOf(stopSequences: string[] = []): TranslationContext {
  const context = { model: 'm', inputTokens: 1, requestId: 'req_1', extrasKeys: TARGET.extrasKeys, stopSequences }
  return { endpoint: 'messages', source: 'responses', context, expected: { clientSetOutputLimit: true } }
}

const reasoning = (id: string, ...texts: string[]): JsonObject => ({
  id: `rs_${id}`,
  type: 'reasoning',
  summary: texts.map(text => ({ type: 'summary_text', text })),
  encrypted_content: `gAAAA${id}`,
})
const call = (id: string): JsonObject => ({
  id: `fc_${id}`,
  type: 'function_call',
  status: 'completed',
  call_id: `call_${id}`,
  name: 'look',
  arguments: `{"at":"${id}"}`,
})
const say = (text: string, more: JsonObject = {}): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  ...more,
})
const respond = (output: JsonObject[], more: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  error: null,
  incomplete_details: null,
  model: 'm-2026',
  output,
  usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 4 }, output_tokens: 5, total_tokens: 15 },
  ...more,
})

const translate = (response: JsonObject, context = contextOf()): JsonObject =>
  createResponseTranslator(context).translateResponse(response).body

/** Translates the events of a stream, and assembles the message from what comes out. */
function stream(events: readonly JsonObject[], context = contextOf()): JsonObject {
  const translation = createResponseTranslator(context).createStreamTranslator()
  const written = events.flatMap(event => translation.push({ event: null, data: JSON.stringify(event) }))
  const assembler = createMessageAssembler()
  for (const event of [...written, ...translation.end()]) assembler.push(JSON.stringify(event))
  const { body, completeness } = assembler.finish()
  expect(completeness).not.toBe('inconsistent_chunks')
  return body
}

const blocksOf = (message: JsonObject) => message.content as JsonObject[]

/** Returns the items of a turn that the client sends back. */
function sendBack(message: JsonObject, target = TARGET): JsonObject[] {
  const uses = blocksOf(message).filter(({ type }) => type === 'tool_use')
  const results = uses.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'Blue.' }))
  const messages = [
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content: message.content },
    { role: 'user', content: results.length > 0 ? results : 'And now?' },
  ]
  return (request({ messages }, target).input as JsonObject[]).slice(1)
}

describe('a turn of the assistant', () => {
  const OUTPUT = [
    reasoning('a', 'Where?', 'There.'),
    say('I look.', { phase: 'commentary' }),
    call('a'),
    call('b'),
    reasoning('b'),
    call('c'),
    reasoning('c'),
    reasoning('d', 'Again.'),
    call('d'),
  ]
  const BACK = [
    reasoning('a', 'Where?', 'There.'),
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }], phase: 'commentary' },
    ...['a', 'b'].map(withoutStatus),
    reasoning('b'),
    withoutStatus('c'),
    reasoning('c'),
    reasoning('d', 'Again.'),
    withoutStatus('d'),
  ]
  function withoutStatus(id: string): JsonObject {
    const { id: _id, status: _status, ...sent } = call(id)
    return sent
  }

  test('comes back with reasoning, text and calls in their order', () => {
    const message = translate(respond(OUTPUT))
    expect(blocksOf(message).map(({ type, thinking }) => thinking ?? type)).toEqual([
      'Where?\n\nThere.',
      ...['text', 'tool_use', 'tool_use', 'redacted_thinking', 'tool_use', 'Again.', 'tool_use'],
    ])
    expect(message).toMatchObject({
      model: 'm-2026',
      stop_reason: 'tool_use',
      usage: { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 5 },
    })
    const items = sendBack(message)
    expect(items.slice(0, BACK.length)).toEqual(BACK)
    expect(items.slice(BACK.length).map(({ type, call_id }) => [type, call_id])).toEqual(
      ['a', 'b', 'c', 'd'].map(id => ['function_call_output', `call_${id}`]),
    )
  })

  test('keeps reasoning between two texts', () => {
    const items = sendBack(translate(respond([say('One.'), reasoning('a'), { ...say('Two.'), id: 'msg_2' }])))
    const text = (text: string) => ({ role: 'assistant', content: [{ type: 'output_text', text }] })
    expect(items).toMatchObject([text('One.'), reasoning('a'), text('Two.'), { role: 'user' }])
  })

  test('keeps reasoning whose text a provider returns whole', () => {
    const content = [{ type: 'reasoning_text', text: 'Where? There.' }]
    const item = { id: 'rs_1', type: 'reasoning', summary: [], content, status: 'completed', encrypted_content: null }
    const response = respond([item, call('a')])
    const message = stream(splitResponse(response))
    expect([message, blocksOf(message)[0]?.thinking]).toEqual([translate(response), 'Where? There.'])
    expect(sendBack(message)[0]).toEqual({ id: 'rs_1', type: 'reasoning', summary: [], content })
  })

  test('loses reasoning of another model or provider, and nothing else', () => {
    const items = sendBack(translate(respond(OUTPUT)), { ...TARGET, extrasKeys: ['another m'] })
    expect(items).not.toContainEqual(expect.objectContaining({ type: 'reasoning' }))
    expect(items.filter(({ type }) => type === 'function_call')).toHaveLength(4)
  })

  test('is the same plain, streamed, and from any events that a provider omits', () => {
    const items = fc.array(
      fc.oneof(
        fc.string().map(text => say(text === '' ? ' ' : text)),
        fc.tuple(fc.uuid(), fc.array(fc.string({ minLength: 1 }))).map(([id, texts]) => reasoning(id, ...texts)),
        fc.uuid().map(call),
      ),
      { minLength: 1 },
    )
    const omitted = fc.subarray([
      ...['response.output_text.delta', 'response.function_call_arguments.delta', 'response.output_item.added'],
      ...['response.reasoning_summary_text.delta', 'response.output_item.done'],
    ])
    fc.assert(
      fc.property(items, omitted, (output, types) => {
        const named = output.map((item, index) => ({ ...item, id: `item_${index}` }))
        const response = respond([...named, { ...say('End.'), id: 'last' }])
        const whole = translate(response)
        const events = splitResponse(response)
        expect(stream(events)).toEqual(whole)
        expect(stream(events.filter(({ type }) => !types.includes(type)))).toEqual(whole)
      }),
    )
  })

  test('has the items in order although their events interleave', () => {
    const response = respond([reasoning('a', 'Hm.'), call('a'), call('b')])
    const events = splitResponse(response)
    const isOf = (index: number) => (event: JsonObject) => event.output_index === index
    const [first, second] = [events.filter(isOf(1)), events.filter(isOf(2))]
    const mixed = [
      ...events.slice(0, events.findIndex(isOf(1))),
      ...first.slice(0, 2),
      ...second.slice(0, 2),
      ...first.slice(2),
      ...second.slice(2),
      ...events.slice(-1),
    ]
    expect(stream(mixed)).toEqual(translate(response))
  })

  test('ends without reasoning that nothing followed', () => {
    const message = translate(respond([call('a'), reasoning('b', 'Hm.')]))
    expect(sendBack(message).map(({ type }) => type)).toEqual(['function_call', 'function_call_output'])
  })
})

describe('the end of a response', () => {
  const refusal = { ...say(''), content: [{ type: 'refusal', refusal: 'No.' }] }
  test.each([
    [
      'max_tokens',
      respond([say('Blu')], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
    ],
    ['refusal', respond([say('Blu')], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } })],
    ['refusal', respond([refusal])],
    ['end_turn', respond([say('Blue.')])],
  ])('is %s', (reason, response) => {
    expect(translate(response).stop_reason).toBe(reason)
    expect(stream(splitResponse(response)).stop_reason).toBe(reason)
  })

  test('is a stop sequence, although the model went on', () => {
    const response = respond([say('One. Two. STOP Three.'), call('a')])
    const expected = { stop_reason: 'stop_sequence', stop_sequence: 'STOP' }
    const context = contextOf(['STOP', 'never'])
    for (const message of [translate(response, context), stream(splitResponse(response), context)]) {
      expect(message).toMatchObject(expected)
      expect(blocksOf(message)).toMatchObject([{ type: 'text', text: 'One. Two. ' }])
    }
    const without = respond([say('It begins with ST'), call('a')])
    expect(blocksOf(stream(splitResponse(without), context))).toEqual(blocksOf(translate(without)))
  })

  test.each([
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.' }, 'Slow down.'],
    [
      { type: 'response.failed', response: respond([], { status: 'failed', error: { message: 'Broken.' } }) },
      'Broken.',
    ],
  ])('is an error of the provider: %j', (event, message) => {
    const translation = createResponseTranslator(contextOf()).createStreamTranslator()
    expect(() => translation.push({ event: null, data: JSON.stringify(event) })).toThrow(message)
    expect(() => createResponseTranslator(contextOf()).createStreamTranslator().end()).toThrow('complete')
  })

  test('names hosted tools and sources that messages cannot represent', () => {
    const sources = [{ type: 'url_citation', url: 'https://example.com' }]
    const content = [{ type: 'output_text', text: 'Blue.', annotations: sources }]
    const output = [
      { id: 'ws_1', type: 'web_search_call' },
      { ...say(''), content },
    ]
    expect(createResponseTranslator(contextOf()).translateResponse(respond(output)).source).toEqual({
      completeness: 'omitted_parts',
      omitted: ['web_search_call', 'annotations'],
    })
  })
})

describe('a request', () => {
  const PDF = { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' }
  const PNG = { type: 'base64', media_type: 'image/png', data: 'iVBORw==' }
  const LOOK = { name: 'look', input_schema: { type: 'object' } }

  test('keeps images and documents, in messages and results', () => {
    const content = [
      { type: 'image', source: PNG },
      { type: 'document', source: PDF, title: 'a.pdf' },
      { type: 'document', source: { type: 'url', url: 'https://example.com/b.pdf' } },
    ]
    const parts = [
      { type: 'input_image', image_url: 'data:image/png;base64,iVBORw==', detail: 'auto' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
      { type: 'input_file', file_url: 'https://example.com/b.pdf' },
    ]
    const messages = [
      { role: 'user', content },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: content.slice(0, 2) }] },
    ]
    expect(request({ messages }).input).toEqual([
      { type: 'message', role: 'user', content: parts },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: parts.slice(0, 2) },
    ])
  })

  test('pairs each call with a result', () => {
    const messages = [
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'lost', content: '7' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: {} }] },
      { role: 'user', content: 'Go on.' },
    ]
    expect(request({ messages }).input).toMatchObject([
      { role: 'user' },
      { type: 'function_call' },
      { type: 'function_call_output', call_id: 'call_1' },
      { role: 'user', content: 'Go on.' },
    ])
  })

  test.each([
    [{ type: 'any' }, { tool_choice: 'required' }],
    [{ type: 'none' }, { tool_choice: 'none' }],
    [{ type: 'tool', name: 'look' }, { tool_choice: { type: 'function', name: 'look' } }],
    [
      { type: 'auto', disable_parallel_tool_use: true },
      { tool_choice: 'auto', parallel_tool_calls: false },
    ],
  ])('has the tool choice %j', (tool_choice, expected) => {
    expect(request({ tools: [LOOK], tool_choice })).toMatchObject(expected)
  })

  test.each([
    [{ thinking: { type: 'enabled', budget_tokens: 2_000 } }, { effort: 'low', summary: 'auto' }],
    [{ thinking: { type: 'adaptive' } }, { summary: 'auto' }],
    [{ thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'max' } }, { effort: 'high' }],
    [{ thinking: { type: 'disabled' } }, undefined],
  ])('with %j has the reasoning %j', (fields, reasoning) => {
    expect(request(fields).reasoning).toEqual(reasoning)
  })

  test('includes encrypted reasoning only where it can come back', () => {
    const include = ['reasoning.encrypted_content']
    expect(request({ tools: [LOOK] }).include).toEqual(include)
    expect(request({ thinking: { type: 'adaptive' } }).include).toEqual(include)
    expect(request({})).not.toHaveProperty('include')
    for (const target of [
      { ...TARGET, canReason: false },
      { ...TARGET, extrasKeys: [] },
    ])
      expect(request({ tools: [LOOK], thinking: { type: 'adaptive' } }, target)).not.toHaveProperty('include')
  })

  test.each([
    ['input[0].content[1].image_url', 'messages[0].content[1].source'],
    ['input[1].arguments', 'messages[1].content[0].input'],
    ['input[2].output', 'messages[2].content[0]'],
    ['input[3].content', 'messages[2].content'],
    ['tools[0].parameters.type', 'tools[0].input_schema.type'],
    ['max_output_tokens', 'max_tokens'],
    ['reasoning.effort', 'thinking'],
    ['text.format.schema', 'output_config.format.schema'],
    ['safety_identifier', 'metadata.user_id'],
  ])('an error about its %s names %s', (param, named) => {
    const content = [
      { type: 'text', text: 'Hi.' },
      { type: 'image', source: PNG },
    ]
    const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'Blue.' }
    const own = {
      ...REQUEST,
      messages: [
        { role: 'user', content },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: {} }] },
        { role: 'user', content: [result, { type: 'text', text: 'Go on.' }] },
      ],
      tools: [LOOK],
    }
    expect(restoreClientFieldNames('messages', own, TARGET, { param, message: 'No.' }).param).toBe(named)
  })

  test('has the format, the tier and the end user', () => {
    const schema = { type: 'object', properties: {} }
    const fields = { output_config: { format: { type: 'json_schema', schema } }, service_tier: 'standard_only' }
    expect(
      request({ ...fields, metadata: { user_id: 'u-1' }, temperature: 0.5, top_p: 1, stop_sequences: ['x'] }),
    ).toEqual({
      model: 'm',
      input: [{ type: 'message', role: 'user', content: 'Hi.' }],
      store: false,
      max_output_tokens: 1_000,
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
      service_tier: 'default',
      safety_identifier: 'u-1',
      temperature: 0.5,
    })
  })
})
