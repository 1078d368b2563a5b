import { encode } from 'gpt-tokenizer/encoding/cl100k_base'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors/errors.ts'
import { countTextTokens } from '../../../../src/formats/tokens/count-tokens.ts'
import { createTextCompletion } from '../../../../src/providers/sandbox/completions.ts'

interface Completion {
  id: string
  object: string
  choices: {
    index: number
    text: string
    finish_reason: string
    logprobs: null
  }[]
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

const MODEL = 'gpt-3.5-turbo-instruct'
const complete = (request: object) =>
  createTextCompletion({ model: MODEL, prompt: 'Once upon a time', ...request }) as unknown as Completion

function paramOf(request: object): string | null {
  try {
    complete(request)
  } catch (error) {
    if (error instanceof ProxyError && error.status === 400) return error.param
    throw error
  }
  throw new Error('The request was not rejected')
}

test('a completion is marked, and sixteen tokens long by default', () => {
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

test('the same request has the same response', () => {
  const { created: _, ...one } = createTextCompletion({ model: MODEL, prompt: 'x' })
  const { created: __, ...other } = createTextCompletion({ model: MODEL, prompt: 'x', stream: true })
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

  test('choices are in the order of prompts', () => {
    const texts = complete({ prompt: ['first', 'second'], n: 2, max_tokens: 100 }).choices.map(choice => choice.text)
    expect(texts.map(text => text.match(/first|second/)?.[0])).toEqual(['first', 'first', 'second', 'second'])
  })
})

test('stop ends the text', () => {
  expect(complete({ stop: [' Test'], max_tokens: 100 }).choices[0]).toMatchObject({
    text: '[sandbox]',
    finish_reason: 'stop',
  })
})

test.each<[string, object]>([
  ['prompt', { prompt: undefined }],
  ['prompt', { prompt: [] }],
  ['prompt', { prompt: 5 }],
  ['prompt', { prompt: ['a', 1] }],
  ['prompt', { prompt: [1.5] }],
  ['prompt', { prompt: [[]] }],
  ['prompt', { prompt: [-1] }],
  ['prompt', { prompt: Array.from({ length: 2_049 }, () => 'a') }],
  ['n', { n: 0 }],
  ['n', { prompt: Array.from({ length: 100 }, () => 'a'), n: 100 }],
  ['max_tokens', { max_tokens: -1 }],
  ['logprobs', { logprobs: 6 }],
  ['echo', { echo: true }],
  ['suffix', { suffix: 5 }],
  ['stop', { stop: 5 }],
  ['model', { model: null }],
])('rejects a bad %s by name: %#', (param, change) => {
  expect(paramOf(change)).toBe(param)
})
