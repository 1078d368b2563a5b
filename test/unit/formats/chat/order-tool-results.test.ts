import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { orderToolResults } from '../../../../src/formats/chat/order-tool-results.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import { translateMessagesRequest } from '../../../../src/formats/messages/message-request-to-chat.ts'
import { translateResponsesRequest } from '../../../../src/formats/responses/response-request-to-chat.ts'
import { checkToolOrder } from '../../../fake-provider/check-tool-order.ts'

const NO_MEDIA = new Map()
const calls = (...ids: string[]): JsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map(id => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
})
const result = (id: string): JsonObject => ({ role: 'tool', tool_call_id: id, content: 'x' })
const note = (text = 'note'): JsonObject => ({ role: 'user', content: text })

const ids = fc.constantFrom('a', 'b', 'c')
const anyMessage = fc.oneof(
  ids.map(result),
  fc.array(ids, { minLength: 1, maxLength: 3 }).map(all => calls(...all)),
  fc.constantFrom('user', 'system', 'developer', 'assistant').map((role): JsonObject => ({ role, content: 'said' })),
)
const anyConversation = fc.array(anyMessage, { maxLength: 14 })

/** Conversations in which each result directly follows its call, as strict vendors require. */
const validConversation = fc
  .array(
    fc.oneof(
      fc.uniqueArray(ids, { minLength: 1, maxLength: 3 }).map(all => [calls(...all), ...all.toReversed().map(result)]),
      fc.constantFrom('user', 'system', 'assistant').map((role): JsonObject[] => [{ role, content: 'said' }]),
    ),
    { maxLength: 6 },
  )
  .map(turns => turns.flat())

function isRefused(messages: readonly JsonObject[]): boolean {
  const request = { path: '/v1/chat/completions', body: { messages } } as unknown as Parameters<
    typeof checkToolOrder
  >[0]
  return checkToolOrder(request) !== null
}

describe('ordering tool results', () => {
  test('neither loses nor repeats a message, keeps the order of other messages, and returns a valid conversation', () => {
    fc.assert(
      fc.property(anyConversation, said => {
        const messages = said.map((message, index): JsonObject => ({ ...message, content: `said ${index}` }))
        const ordered = orderToolResults(messages, NO_MEDIA)
        const texts = ordered.flatMap(({ content }) => JSON.stringify(content).match(/said \d+/g) ?? [])
        expect(texts.toSorted()).toEqual(messages.map(({ content }) => content as string).toSorted())
        const kept = messages.filter(({ role }) => role !== 'tool')
        expect(ordered.filter(message => kept.includes(message))).toEqual(kept)
        expect(isRefused(ordered)).toBe(false)
        // Ordering an ordered conversation changes nothing.
        expect(orderToolResults(ordered, NO_MEDIA)).toEqual(ordered)
      }),
    )
  })

  test('leaves a valid conversation unchanged, including reused ids', () => {
    fc.assert(
      fc.property(validConversation, messages => {
        expect(isRefused(messages)).toBe(false)
        expect(orderToolResults(messages, NO_MEDIA)).toEqual(messages)
      }),
    )
  })

  test('repairs a conversation with messages between calls and results', () => {
    fc.assert(
      fc.property(validConversation, fc.array(fc.nat()), (messages, places) => {
        const withNotes = [...messages]
        for (const place of places) withNotes.splice(place % (withNotes.length + 1), 0, note())
        expect(isRefused(orderToolResults(withNotes, NO_MEDIA))).toBe(false)
      }),
    )
  })

  test('adds a missing result to a call, and keeps a result without a call as a user message', () => {
    const messages = [result('x'), note(), calls('a', 'b'), note('2'), result('b'), result('y'), note('3')]
    const [, , caller, second, matched] = messages
    const told = (id: string) => ({
      role: 'user',
      content: [
        { type: 'text', text: `Returned by call ${id}:` },
        { type: 'text', text: 'x' },
      ],
    })
    const missing = { role: 'tool', tool_call_id: 'a', content: '(No result was recorded.)' }
    expect(orderToolResults(messages, NO_MEDIA)).toEqual([
      ...[told('x'), note(), caller, matched, missing, second, told('y'), note('3')],
    ])
  })

  test('finds the calls of results that came before them, in the same order', () => {
    const [first, second] = ['1', '2'].map(content => ({ ...result('a'), content }))
    const messages = [first, second, note(), calls('a'), calls('a')] as JsonObject[]
    expect(orderToolResults(messages, NO_MEDIA)).toEqual([note(), calls('a'), first, calls('a'), second])
  })

  test('puts media in the place of the last result of their message, behind their call', () => {
    const [one, two, lone, early] = [result('a'), result('b'), result('x'), result('c')]
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    const media = new Map([one, two, lone, early].map(each => [each, [picture]]))
    const pictures = (...all: string[]) => ({
      role: 'user',
      content: all.flatMap(id => [{ type: 'text', text: `Returned by call ${id}:` }, picture]),
    })
    const ordered = orderToolResults(
      [calls('a', 'b'), one, note(), two, note('2'), lone, early, note('3'), calls('c')],
      media,
    )
    const [heading, shown] = pictures('x').content
    expect(ordered).toEqual([
      ...[calls('a', 'b'), one, two, note(), pictures('a', 'b'), note('2')],
      { role: 'user', content: [heading, { type: 'text', text: 'x' }, shown] },
      ...[note('3'), calls('c'), early, pictures('c')],
    ])
  })

  test('takes linear time for many messages with one call id', () => {
    const many = Array.from({ length: 30_000 })
    const messages = [...many.map(() => result('a')), ...many.map(() => calls('a')), ...many.map(() => result('a'))]
    expect(orderToolResults(messages, NO_MEDIA)).toHaveLength(messages.length)
  })
})

const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }
const rolesOf = (chat: JsonObject) => (chat.messages as JsonObject[]).map(({ role, tool_call_id: id }) => id ?? role)

describe('a translated conversation', () => {
  test('of Responses has notes and images behind all results of a turn', () => {
    const input = [
      { role: 'user', content: 'q' },
      { type: 'function_call', call_id: 'c1', name: 'view_image', arguments: '{}' },
      { type: 'function_call', call_id: 'c2', name: 'view_image', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: [image] },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'scaled' }] },
      { type: 'function_call_output', call_id: 'c2', output: [image] },
    ]
    const chat = translateResponsesRequest({ model: 'm', input }, ['p m'])
    expect(rolesOf(chat)).toEqual(['user', 'assistant', 'c1', 'c2', 'system', 'user'])
    const types = ['text', 'image_url', 'text', 'image_url']
    const content = types.map(type => expect.objectContaining({ type }))
    expect((chat.messages as JsonObject[]).at(-1)).toEqual({ role: 'user', content })
  })

  test('of Responses has a note between two calls behind the result of the first', () => {
    const input = [
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { role: 'user', content: 'and' },
      { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: '1' },
      { type: 'function_call_output', call_id: 'c2', output: '2' },
    ]
    expect(rolesOf(translateResponsesRequest({ model: 'm', input }, ['p m']))).toEqual([
      'assistant',
      'c1',
      'user',
      'assistant',
      'c2',
    ])
  })

  test('of Messages has notes behind results that came in their own messages', () => {
    const messages = [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: ['t1', 't2'].map(id => ({ type: 'tool_use', id, name: 'f', input: {} })),
      },
      { role: 'system', content: 'hurry' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'note' },
          { type: 'tool_result', tool_use_id: 't1', content: 'x' },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't2', content: 'y' }] },
    ]
    const target = { maxOutputTokens: null, canReason: false, supportsCacheControl: false, extrasKeys: ['p m'] }
    const chat = translateMessagesRequest({ model: 'm', max_tokens: 9, messages }, target)
    expect(rolesOf(chat)).toEqual(['user', 'assistant', 't1', 't2', 'system', 'user'])
  })
})
