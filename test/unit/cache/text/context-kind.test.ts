import { describe, expect, test } from 'vitest'
import { normalizePromptText } from '../../../../src/cache/prompt-text.ts'
import { classifyContext } from '../../../../src/cache/text/context-kind.ts'
import { normalizeInSameContext } from '../../../../src/cache/text/normalize-prompt.ts'
import { processorMs } from '../../../harness/processor-time.ts'

const under = (system: string) => ({ model: 'm', messages: [{ role: 'system', content: system }, { role: 'user' }] })

describe('detects a context that contains the text to work on', () => {
  test.each([
    'Translate the user message to French.',
    'You are a spelling corrector.',
    'Classify the sentiment',
    'Fix each sentence you are given.',
    'Count the characters in the text',
    'You are a helpful Linux terminal',
    'Reply in the same tone as the user',
    'Write a title for the chat',
    'Du übersetzt ins Englische',
    '你是翻译助手',
    'Correct any mistakes',
    'Rate the politeness of what I say',
    'Traduis en anglais',
    'You are an English tutor: improve my sentence',
  ])('%j', system => {
    expect(classifyContext(under(system))).toBe('work')
  })

  test('detects it in earlier turns and in schemas too', () => {
    expect(classifyContext({ messages: [{ role: 'user', content: 'Translate what I say.' }] })).toBe('work')
    expect(classifyContext({ response_format: { json_schema: { name: 'translation' } } })).toBe('work')
    expect(classifyContext({ instructions: 'Paraphrase.' })).toBe('work')
  })
})

test.each([
  'You are a helpful assistant.',
  'You are a helpful assistant. Answer concisely.',
  'Answer the question in at most two sentences.',
  'You are a customer support agent of Acme. Be friendly and precise.',
  'Du bist ein hilfreicher Assistent.',
  'Think step by step, and give correct answers.',
  'Always respond in JSON with the field answer.',
  'Generate text about the country that the account counts in.',
])('%j has it answered', system => {
  expect(classifyContext(under(system))).toBe('instructions')
})

describe('a file gives no instructions', () => {
  const beside = (...parts: object[]) => classifyContext({ messages: [{ role: 'user', content: parts }] })
  const data = 'translate'.repeat(8_000)

  test.each([
    { type: 'image_url', image_url: { url: 'https://a.example/translate.png', detail: 'low' } },
    { type: 'input_image', image_url: 'https://a.example/convert.png' },
    { type: 'input_file', filename: 'summary.pdf', file_data: data },
    { type: 'file', file: { filename: 'transcript.pdf', file_data: data } },
    { type: 'input_audio', input_audio: { data, format: 'wav' } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    { type: 'image', source: { type: 'url', url: 'https://a.example/translate.png' } },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data }, citations: { enabled: true } },
    { type: 'document', source: { type: 'file', file_id: 'translate' } },
  ])('%#', part => {
    expect(beside(part)).toBe('instructions')
    expect(beside(part, { type: 'text', text: 'Translate what it says:' })).toBe('work')
  })

  test.each([
    { type: 'document', source: { type: 'url', url: 'u' }, context: 'Translate the question.' },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Translate all that you are asked.' } },
  ])('but a text that is read as an instruction does: %#', part => {
    expect(beside(part)).toBe('work')
  })
})

test('a text after another may be the text that the other one gives instructions for', () => {
  expect(
    classifyContext({
      content: [
        { type: 'text', text: 'Well put?' },
        { type: 'text', text: { taken: 'the following text' } },
      ],
    }),
  ).toBe('work')
})

test('quoted text is equal only if it is identical, also beside normalized text', () => {
  const contextBody = under('Translate into French.')
  const asked = normalizePromptText({ text: 'what is capital of france', contextBody }, 'context', '')
  for (const text of ['What is the capital of France?', 'what is capital of france ', 'What is capital of france']) {
    expect(normalizeInSameContext(asked, text).normalized).not.toBe(asked.normalized)
  }
  expect(normalizeInSameContext(asked, asked.text).normalized).toBe(asked.normalized)
})

describe('a question to "you"', () => {
  const shop = under('You are the assistant of Acme, a shop.')
  const read = (text: string, contextBody: object) =>
    normalizePromptText({ text, contextBody: { ...contextBody } }, JSON.stringify(contextBody), '')
  const isSame = (one: string, other: string, context: object) => {
    const asked = read(one, context)
    return asked.normalized === normalizeInSameContext(asked, other).normalized
  }

  test.each([
    ['How do you delete user data?', 'How do I delete user data?'],
    ['How do you calculate interest?', 'How to calculate interest'],
    ['How do you increase your confidence?', 'How do I increase my confidence?'],
  ])('%j differs from %j for an assistant with a persona', (one, other) => {
    expect([isSame(one, other, shop), isSame(other, one, shop)]).toEqual([false, false])
  })

  test('does not separate other wordings', () => {
    expect(isSame('How do I reset a password?', 'How to reset a password', shop)).toBe(true)
  })
})

test.each(['fix ', 'match ', 'same t', 'user’s ', 'a', 'é', '{"a":'])('reads %j, repeated, in linear time', unit => {
  const context = under(unit.repeat(Math.ceil(256_000 / unit.length)))
  expect(Math.min(...Array.from({ length: 3 }, () => processorMs(() => classifyContext(context))))).toBeLessThan(20)
  const longest = under(unit.repeat(Math.floor(64_000 / unit.length)))
  expect(Math.min(...Array.from({ length: 3 }, () => processorMs(() => classifyContext(longest))))).toBeLessThan(20)
})
