import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { translateChatBody } from '../../../../src/providers/anthropic/request/translate-chat.ts'
import type { AnthropicResponseContext } from '../../../../src/providers/anthropic/response/response-context.ts'
import { ToolCallTranslator } from '../../../../src/providers/anthropic/response/tool-call-translator.ts'
import { translateResponse } from '../../../../src/providers/anthropic/response/translate-upstream-response.ts'
import { findShapeError } from '../../../fake-anthropic/request-schema.ts'

type Body = Record<string, unknown>

const UNION = { anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { $ref: '#/$defs/B' }] }
const DEFINED = { $defs: { B: { type: 'object', properties: { again: { $ref: '#' }, other: { $ref: '#/$defs/B' } } } } }

function ask(fields: Body) {
  const body = { model: 'claude-opus-5-5', messages: [{ role: 'user', content: 'Hi' }], ...fields }
  const { body: text, context } = translateChatBody(body, { maxOutputTokens: 1_000 })
  const request = JSON.parse(text)
  expect(findShapeError(request)).toBeNull()
  return { request, context }
}
const offer = (name: string, parameters?: object) => ({ type: 'function', function: { name, parameters } })

/** Returns the tool calls of a response, after checking that the plain and the streamed translation agree. */
function answer(context: AnthropicResponseContext, name: string, input: object): Body[] {
  const use = { type: 'tool_use', id: 'toolu_1', name, input }
  const message = { content: [use], stop_reason: 'tool_use', usage: {} }
  const plain = translateResponse(message as never, context) as { choices: { message: { tool_calls: Body[] } }[] }
  const writer = new ToolCallTranslator(context)
  const text = JSON.stringify(input)
  const pieces = text.match(/.{1,3}/gsu) ?? []
  const deltas = [
    ...writer.start(0, { ...use, input: {} } as never),
    ...pieces.flatMap(piece => writer.continue(0, piece)),
    ...writer.stop(0),
  ] as { tool_calls: [{ function: { name?: string; arguments: string } }] }[]
  const streamed = deltas.map(delta => delta.tool_calls[0].function)
  const [whole] = plain.choices[0]?.message.tool_calls ?? []
  expect(whole?.function).toEqual({ name: streamed[0]?.name, arguments: streamed.map(each => each.arguments).join('') })
  return [whole?.function as Body]
}

describe('a tool name that Anthropic rejects', () => {
  const names = ['files.read', 'a'.repeat(65), 'lire_été', 'with space', 'mcp/server:tool']

  test.each(names)('%s is replaced in tools, choice and conversation, and restored in the response', name => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [{ id: 'x', type: 'function', function: { name, arguments: '{"a":1}' } }] },
      { role: 'tool', tool_call_id: 'x', content: '1' },
    ]
    const chosen = { type: 'function', function: { name } }
    const { request, context } = ask({ messages, tools: [offer(name), offer('fine')], tool_choice: chosen })
    const sent = request.tools[0].name
    expect(sent).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(request.tools[1].name).toBe('fine')
    expect(request.tool_choice).toEqual({ type: 'tool', name: sent })
    expect(request.messages[1].content[0]).toMatchObject({ type: 'tool_use', name: sent, input: { a: 1 } })
    expect(answer(context, sent, { a: 1 })).toEqual([{ name, arguments: '{"a":1}' }])
  })

  test('has the same replacement in every request, and never another tool’s', () => {
    const name = fc.string({ minLength: 1, maxLength: 100 })
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 2, maxLength: 8 }), given => {
        const { request } = ask({ tools: given.map(each => offer(each)) })
        const sent = request.tools.map((tool: { name: string }) => tool.name)
        expect(new Set(sent).size).toBe(given.length)
        expect(ask({ tools: given.toReversed().map(each => offer(each)) }).request.tools).toEqual(
          request.tools.toReversed(),
        )
      }),
    )
  })
})

describe('a schema that Anthropic rejects', () => {
  test('with alternatives is wrapped in a property, and its value is unwrapped', () => {
    const { request, context } = ask({ tools: [offer('f', { ...UNION, ...DEFINED })] })
    expect(request.tools[0].input_schema).toEqual({
      type: 'object',
      properties: { value: UNION },
      required: ['value'],
      additionalProperties: false,
      $defs: {
        B: { type: 'object', properties: { again: { $ref: '#/properties/value' }, other: { $ref: '#/$defs/B' } } },
      },
    })
    expect(answer(context, 'f', { value: { a: 'b' } })).toEqual([{ name: 'f', arguments: '{"a":"b"}' }])
    // Input that the model sends without the wrapper is accepted as it is.
    expect(answer(context, 'f', { a: 'b' })).toEqual([{ name: 'f', arguments: '{"a":"b"}' }])
  })

  test.each([{ type: 'array', items: {} }, { type: 'string' }, { allOf: [{}, {}] }, { oneOf: [{}] }])('%j', schema => {
    const { request } = ask({ tools: [offer('f', schema)] })
    expect(request.tools[0].input_schema).toMatchObject({ type: 'object', properties: { value: schema } })
  })

  test('is applied to earlier calls of the tool, too', () => {
    const call = { id: 'x', type: 'function', function: { name: 'f', arguments: '{"a":"b"}' } }
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'x', content: '1' },
    ]
    const { request } = ask({ messages, tools: [offer('f', UNION)] })
    expect(request.messages[1].content[0].input).toEqual({ value: { a: 'b' } })
  })

  test('that is a reference is replaced by its definition', () => {
    const parameters = { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/B' }, ...DEFINED.$defs } }
    const { request, context } = ask({ tools: [offer('f', parameters)] })
    expect(request.tools[0].input_schema).toEqual({ ...DEFINED.$defs.B, $defs: parameters.$defs })
    expect(context.clientTools?.size).toBe(0)
  })

  test('text that was cut off is unchanged', () => {
    const { context } = ask({ tools: [offer('f', UNION)] })
    const writer = new ToolCallTranslator(context)
    writer.start(0, { type: 'tool_use', id: 'x', name: 'f', input: {} } as never)
    writer.continue(0, '{"value":{"a":')
    expect(writer.stop(0)).toEqual([{ tool_calls: [{ index: 0, function: { arguments: '{"value":{"a":' } }] }])
  })
})
