import { expect, test } from 'vitest'
import { translateChatBody } from '../../../../src/providers/anthropic/request/translate-chat.ts'

const MARK = { cache_control: { type: 'ephemeral' } }
const tool = (name: string) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
})
const chat = {
  model: 'claude-haiku-4-5',
  tools: [tool('first'), tool('second')],
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'One?' },
    { role: 'assistant', content: 'One.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Two' },
        { type: 'text', text: 'or three?' },
      ],
    },
  ],
}

function translate(body: typeof chat | Record<string, unknown>, marksCache: boolean) {
  return JSON.parse(translateChatBody(body, { maxOutputTokens: null, addsCacheBreakpoints: marksCache }).body)
}
const marksIn = (sent: unknown) => JSON.stringify(sent).split('"cache_control"').length - 1

test('marks the last tool, the system prompt and the last block of the last turn, and changes nothing else', () => {
  const plain = translate(chat, false)
  const marked = translate(chat, true)
  expect(marksIn(plain)).toBe(0)
  expect(marksIn(marked)).toBe(3)
  expect(marked.tools.at(-1)).toMatchObject(MARK)
  expect(marked.system.at(-1)).toMatchObject(MARK)
  expect(marked.messages.at(-1).content.at(-1)).toEqual({ type: 'text', text: 'or three?', ...MARK })
  expect(JSON.parse(JSON.stringify(marked, (key, value) => (key === 'cache_control' ? undefined : value)))).toEqual(
    plain,
  )
})

test('without tools and system prompt, marks only the turn', () => {
  expect(marksIn(translate({ model: chat.model, messages: [{ role: 'user', content: 'Hi' }] }, true))).toBe(1)
})

test.each([
  ['a tool', { tools: [{ ...tool('first'), ...MARK }, tool('second')] }],
  [
    'a message',
    {
      messages: [
        { role: 'user', content: 'Hi', ...MARK },
        { role: 'user', content: 'Ho' },
      ],
    },
  ],
  ['a part', { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', ...MARK }] }] }],
])('a request that has marked %s keeps only its own mark', (_, fields) => {
  const own = { ...chat, ...fields }
  expect(translate(own, true)).toEqual(translate(own, false))
  expect(marksIn(translate(own, true))).toBe(1)
})
