import { describe, expect, test } from 'vitest'
import { readAsked } from '../../../src/cache/asked-text.ts'
import { prove } from '../../../src/cache/proof/prove.ts'
import { handsOver } from '../../../src/text/handed-over.ts'
import { readBeside } from '../../../src/text/read-prompt.ts'
import { processorMs } from '../../harness/processor-time.ts'

const under = (system: string) => ({ model: 'm', messages: [{ role: 'system', content: system }, { role: 'user' }] })

describe('a context that has the message worked on', () => {
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
    expect(handsOver(under(system))).toBe(true)
  })

  test('is known by earlier turns and by schemas too', () => {
    expect(handsOver({ messages: [{ role: 'user', content: 'Translate what I say.' }] })).toBe(true)
    expect(handsOver({ response_format: { json_schema: { name: 'translation' } } })).toBe(true)
    expect(handsOver({ instructions: 'Paraphrase.' })).toBe(true)
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
  expect(handsOver(under(system))).toBe(false)
})

test('what is handed over is the same only to the letter, also beside what was written one way before', () => {
  const contextBody = under('Translate into French.')
  const asked = readAsked({ text: 'what is capital of france', contextBody }, 'context')
  for (const text of ['What is the capital of France?', 'what is capital of france ', 'What is capital of france']) {
    expect(prove(asked, readBeside(asked, text)).proved).toBe(false)
  }
  expect(prove(asked, readBeside(asked, asked.text)).proved).toBe(true)
})

test.each(['fix ', 'match ', 'same t', 'user’s ', 'a', 'é', '{"a":'])('%j over and over is read in no time', unit => {
  const context = under(unit.repeat(Math.ceil(256_000 / unit.length)))
  expect(Math.min(...Array.from({ length: 3 }, () => processorMs(() => handsOver(context))))).toBeLessThan(20)
  const longest = under(unit.repeat(Math.floor(64_000 / unit.length)))
  expect(Math.min(...Array.from({ length: 3 }, () => processorMs(() => handsOver(longest))))).toBeLessThan(20)
})
