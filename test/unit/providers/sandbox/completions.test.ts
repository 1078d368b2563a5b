import { encode } from 'gpt-tokenizer/encoding/cl100k_base'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors.ts'
import { completeText } from '../../../../src/providers/sandbox/completions.ts'
import { countTextTokens } from '../../../../src/tokens/count-tokens.ts'

interface Completion {
  id: string
  object: string
  choices: {
    index: number
    text: string
    finish_reason: string
    logprobs: null | {
      tokens: string[]
      token_logprobs: (number | null)[]
      top_logprobs: (Record<string, number> | null)[] | null
      text_offset: number[]
    }
  }[]
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

const MODEL = 'gpt-3.5-turbo-instruct'
const complete = (request: object) =>
  completeText({ model: MODEL, prompt: 'Once upon a time', ...request }) as unknown as Completion

function paramOf(request: object): string | null {
  try {
    complete(request)
  } catch (error) {
    if (error instanceof ProxyError && error.status === 400) return error.param
    throw error
  }
  throw new Error('it was answered')
}

test('a completion is marked, and sixteen tokens long unless asked otherwise', () => {
  const { object, choices, usage } = complete({})
  expect(object).toBe('text_completion')
  expect(choices[0]).toMatchObject({
    index: 0,
    finish_reason: 'length',
    logprobs: null,
    text: expect.stringMatching(/^\[sandbox\] /),
  })
  expect(usage).toEqual({
    prompt_tokens: countTextTokens('Once upon a time', MODEL),
    completion_tokens: 16,
    total_tokens: 16 + 4,
  })
  expect(complete({ max_tokens: 500 }).choices[0]).toMatchObject({
    finish_reason: 'stop',
    text: expect.stringContaining('“Once upon a time”'),
  })
})

test('the same request is answered the same', () => {
  const { created: _, ...one } = completeText({ model: MODEL, prompt: 'x' })
  const { created: __, ...other } = completeText({ model: MODEL, prompt: 'x', stream: true })
  expect(other).toEqual(one)
})

describe('every form of prompt', () => {
  test.each<[string, unknown, number, number]>([
    ['a text', 'one two', 1, 2],
    ['texts', ['one', 'two', 'three'], 3, 3],
    ['tokens', encode('one two'), 1, 2],
    ['lists of tokens', [encode('one'), encode('two')], 2, 2],
  ])('%s', (_, prompt, choices, tokens) => {
    const answer = complete({ prompt })
    expect(answer.choices.map(choice => choice.index)).toEqual(Array.from({ length: choices }, (_, index) => index))
    expect(answer.usage.prompt_tokens).toBe(tokens)
  })

  test('choices stand in the order of prompts', () => {
    const texts = complete({ prompt: ['first', 'second'], n: 2, echo: true }).choices.map(choice => choice.text)
    expect(texts.map(text => text.split('[')[0])).toEqual(['first', 'first', 'second', 'second'])
  })

  test('tokens are echoed as the text they spell', () => {
    expect(complete({ prompt: encode('Hello 😀'), echo: true, max_tokens: 0 }).choices[0]).toMatchObject({
      text: 'Hello 😀',
      finish_reason: 'length',
    })
  })
})

test('candidates that are not returned are paid for', () => {
  const { choices, usage } = complete({ n: 2, best_of: 4 })
  expect(choices).toHaveLength(2)
  expect(usage.completion_tokens).toBe(4 * 16)
})

test('stop ends the text', () => {
  expect(complete({ stop: [' Test'], max_tokens: 100 }).choices[0]).toMatchObject({
    text: '[sandbox]',
    finish_reason: 'stop',
  })
})

test('log probabilities spell the text, the echoed prompt included', () => {
  const [choice] = complete({ logprobs: 2, echo: true, max_tokens: 5 }).choices
  const { tokens = [], token_logprobs = [], top_logprobs, text_offset = [] } = choice?.logprobs ?? {}
  expect(tokens.join('')).toBe(choice?.text)
  expect(tokens).toHaveLength(9)
  expect(token_logprobs[0]).toBeNull()
  expect(token_logprobs.slice(1).every(logprob => logprob !== null && logprob <= 0)).toBe(true)
  expect(top_logprobs?.slice(1).every(ranks => Object.keys(ranks ?? {}).length === 1)).toBe(true)
  for (const [index, offset] of text_offset.entries())
    expect(choice?.text.startsWith(tokens[index] ?? '?', offset)).toBe(true)
  expect(complete({ logprobs: 0 }).choices[0]?.logprobs?.top_logprobs).toBeNull()
})

test.each<[string, object]>([
  ['prompt', { prompt: undefined }],
  ['prompt', { prompt: [] }],
  ['prompt', { prompt: 5 }],
  ['prompt', { prompt: ['a', 1] }],
  ['prompt', { prompt: [1.5] }],
  ['prompt', { prompt: [[]] }],
  ['prompt', { prompt: [-1] }],
  ['prompt', { prompt: [99_999_999] }],
  ['prompt', { prompt: Array.from({ length: 2_049 }, () => 'a') }],
  ['n', { n: 0 }],
  ['n', { prompt: Array.from({ length: 100 }, () => 'a'), n: 100 }],
  ['best_of', { n: 3, best_of: 2 }],
  ['best_of', { best_of: 21 }],
  ['max_tokens', { max_tokens: -1 }],
  ['logprobs', { logprobs: 6 }],
  ['logprobs', { logprobs: true }],
  ['logprobs', { logprobs: 1, echo: true, prompt: 'a '.repeat(100_000) }],
  ['echo', { echo: 'yes' }],
  ['echo', { echo: true, prompt: 'a'.repeat(1_000_000), n: 128 }],
  ['echo', { echo: true, prompt: Array.from({ length: 20_000 }, () => 5) }],
  ['suffix', { suffix: 5 }],
  ['stop', { stop: 5 }],
  ['model', { model: null }],
])('a bad %s is refused by name: %#', (param, change) => {
  expect(paramOf(change)).toBe(param)
})
