import fc from 'fast-check'
import { encode as encodeCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { encode as encodeO200k } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, test } from 'vitest'
import {
  countPromptTokens,
  countTextTokens,
  estimatePromptTokens,
} from '../../../../src/formats/tokens/count-tokens.ts'
import { encodingOfModel, loadEncoding } from '../../../../src/formats/tokens/text-counter.ts'
import { processorMs } from '../../../harness/processor-time.ts'

const PROSE = "The quick brown fox jumps over the lazy dog, doesn't it? In 2024 we sold 1,234 units. "
const PLAIN = { disallowedSpecial: new Set<string>() }

/** Processor time in milliseconds: enough for a slow machine, and far below the time of a quadratic merge of a megabyte. */
const BOUND_MS = 2_000

describe('choosing the encoding of a model', () => {
  test.each([
    ['gpt-4', 'cl100k_base'],
    ['gpt-4-0613', 'cl100k_base'],
    ['openai/gpt-4-turbo', 'cl100k_base'],
    ['gpt-3.5-turbo-instruct', 'cl100k_base'],
    ['ft:gpt-3.5-turbo-0125:acme::x', 'cl100k_base'],
    ['text-embedding-3-small', 'cl100k_base'],
    ['gpt-4o', 'o200k_base'],
    ['openai/gpt-4o-mini', 'o200k_base'],
    ['gpt-4.1-nano', 'o200k_base'],
    ['gpt-5', 'o200k_base'],
    ['anthropic/claude-sonnet-4', 'o200k_base'],
    ['not-gpt-4', 'o200k_base'],
  ])('%s is counted in %s', (model, encoding) => {
    expect(encodingOfModel(model)).toBe(encoding)
  })
})

describe('counting the tokens of a text', () => {
  test('is exact in each vocabulary', () => {
    const text = `${PROSE} Grüße, 今天天气很好 😀 — x = y ** 2;`
    expect(countTextTokens(text)).toBe(encodeO200k(text).length)
    expect(countTextTokens(text, 'gpt-4')).toBe(encodeCl100k(text).length)
    expect(countTextTokens('')).toBe(0)
  })

  test('counts the text of a special token as plain text', () => {
    const text = 'a <|endoftext|> b <|im_start|>'
    expect(countTextTokens(text)).toBe(encodeO200k(text, PLAIN).length)
    expect(countTextTokens(text)).toBeGreaterThan(8)
  })

  test('agrees with the library for any text of short words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 120 }), text => {
        expect(countTextTokens(text)).toBe(encodeO200k(text, PLAIN).length)
      }),
    )
  })

  test('counts a long run nearly exactly, although it is cut', () => {
    const text = 'Donaudampfschifffahrtsgesellschaft'.repeat(40)
    const exact = encodeO200k(text).length
    expect(Math.abs(countTextTokens(text) - exact)).toBeLessThanOrEqual(2 * Math.ceil(text.length / 128))
  })

  test('never cuts a surrogate pair', () => {
    const text = `${'a'.repeat(127)}${'😀'.repeat(500)}`
    expect(countTextTokens(text)).toBe(encodeO200k(text).length)
  })

  test.each([
    ['a', 'letters'],
    ['漢', 'ideographs'],
    ['!', 'signs'],
    [' ', 'spaces'],
    ['\n', 'lines'],
    ['é', 'accents'],
    ['\ud800', 'lone surrogates'],
    ['\0', 'NUL bytes'],
    ['\u0301', 'combining marks'],
  ])('counts a megabyte of %j (%s) in bounded time', unit => {
    loadEncoding('o200k_base')
    const text = unit.repeat(1 << 20)
    expect(processorMs(() => countTextTokens(text))).toBeLessThan(BOUND_MS)
    expect(countTextTokens(text)).toBeGreaterThan(0)
  })

  test('estimates a megabyte of prose within two per cent', () => {
    const text = Array.from({ length: 12_000 }, (_, index) => `${PROSE}${index} `).join('')
    expect(text.length).toBeGreaterThan(1 << 20)
    const exact = encodeO200k(text).length
    expect(Math.abs(countTextTokens(text) / exact - 1)).toBeLessThan(0.02)
  })
})

describe('counting the prompt tokens of a chat', () => {
  // The example of OpenAI's cookbook on counting tokens, with the counts that it states for both generations.
  const messages = [
    {
      role: 'system',
      content: 'You are a helpful, pattern-following assistant that translates corporate jargon into plain English.',
    },
    { role: 'system', name: 'example_user', content: 'New synergies will help drive top-line growth.' },
    { role: 'system', name: 'example_assistant', content: 'Things working well together will increase revenue.' },
    {
      role: 'system',
      name: 'example_user',
      content: "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
    },
    {
      role: 'system',
      name: 'example_assistant',
      content: "Let's talk later when we're less busy about how to do better.",
    },
    { role: 'user', content: "This late pivot means we don't have time to boil the ocean for the client deliverable." },
  ]

  test('equals OpenAI’s count', () => {
    expect(countPromptTokens({ model: 'gpt-4', messages }, 'chat')).toBe(129)
    expect(countPromptTokens({ model: 'gpt-4o', messages }, 'chat')).toBe(124)
  })

  test('counts text parts as their text, and images by their detail', () => {
    const ask = (content: unknown) =>
      countPromptTokens({ model: 'gpt-4o', messages: [{ role: 'user', content }] }, 'chat')
    const text = { type: 'text', text: 'What is this?' }
    const image = (detail: string) => ({ type: 'image_url', image_url: { url: 'https://example.com/a.png', detail } })
    expect(ask([text])).toBe(ask('What is this?'))
    expect(ask([text, image('low')])).toBe(ask([text]) + 85)
    expect(ask([text, image('high')])).toBe(ask([text]) + 765)
    expect(ask([text, { type: 'input_audio', input_audio: { data: 'A'.repeat(4096), format: 'wav' } }])).toBe(
      ask([text]) + 2,
    )
    expect(ask([text, { type: 'file', file: { file_data: 'A'.repeat(1280) } }])).toBe(ask([text]) + 10)
  })

  test('counts tools and calls', () => {
    const plain = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
    const toolTokens = encodeO200k(JSON.stringify(tools)).length
    expect(countPromptTokens({ ...plain, tools }, 'chat')).toBe(countPromptTokens(plain, 'chat') + toolTokens)
    const call = { role: 'assistant', content: null, tool_calls: [{ function: { name: 'f', arguments: '{"a":1}' } }] }
    const withCall = countPromptTokens({ ...plain, messages: [...plain.messages, call] }, 'chat')
    expect(withCall).toBe(
      countPromptTokens(plain, 'chat') +
        3 +
        encodeO200k('assistant').length +
        3 +
        encodeO200k('f').length +
        encodeO200k('{"a":1}').length,
    )
  })
})

describe('counting the tokens of prompts and inputs', () => {
  test('counts every form', () => {
    const count = (prompt: unknown) => countPromptTokens({ model: 'gpt-3.5-turbo-instruct', prompt }, 'completions')
    const one = encodeCl100k('Hello there').length
    expect(count('Hello there')).toBe(one)
    expect(count(['Hello there', 'Hello there'])).toBe(2 * one)
    expect(count([1, 2, 3])).toBe(3)
    expect(count([[1, 2, 3], [4]])).toBe(4)
    expect(countPromptTokens({ input: ['Hello there'], model: 'text-embedding-3-small' }, 'embeddings')).toBe(one)
    expect(countPromptTokens({ prompt: 'a', suffix: 'b', model: 'davinci-002' }, 'completions')).toBe(2)
  })

  test('is bounded for a request of many long texts', () => {
    loadEncoding('o200k_base')
    const messages = Array.from({ length: 1000 }, () => ({ role: 'user', content: '漢字'.repeat(2000) }))
    let tokens = 0
    expect(processorMs(() => (tokens = countPromptTokens({ model: 'gpt-4o', messages }, 'chat')))).toBeLessThan(
      BOUND_MS,
    )
    const one = encodeO200k('漢字'.repeat(50)).length / 100
    expect(tokens / (4_000_000 * one)).toBeGreaterThan(0.9)
    expect(tokens / (4_000_000 * one)).toBeLessThan(1.1)
  })
})

test('throws for no JSON', () => {
  const json = fc.jsonValue({ maxDepth: 1 })
  const field = fc.constantFrom('model', 'messages', 'tools', 'prompt', 'input', 'suffix', 'response_format')
  const inner = fc.constantFrom(
    'role',
    'content',
    'name',
    'tool_calls',
    'function',
    'type',
    'text',
    'image_url',
    'file',
    'input_audio',
  )
  const objectOf = (item: fc.Arbitrary<unknown>) => fc.dictionary(inner, item, { maxKeys: 4 })
  const part = fc.oneof(json, objectOf(json))
  const value = fc.oneof(json, fc.array(objectOf(fc.oneof(part, fc.array(part, { maxLength: 3 }))), { maxLength: 3 }))
  fc.assert(
    fc.property(fc.dictionary(field, value), request => {
      for (const endpoint of ['chat', 'completions', 'embeddings'] as const) {
        expect(countPromptTokens(request, endpoint)).toBeGreaterThanOrEqual(0)
        expect(estimatePromptTokens(request, endpoint)).toBeGreaterThanOrEqual(0)
      }
    }),
  )
})

test('the estimate is near the count for prose in several scripts', () => {
  for (const text of [
    PROSE.repeat(20),
    'Быстрая лиса прыгает через ленивую собаку. '.repeat(20),
    '今天天气很好，我们去公园散步吧。'.repeat(20),
  ]) {
    const request = { model: 'gpt-4o', messages: [{ role: 'user', content: text }] }
    const ratio = estimatePromptTokens(request, 'chat') / countPromptTokens(request, 'chat')
    expect(ratio).toBeGreaterThan(0.75)
    expect(ratio).toBeLessThan(1.25)
  }
})
