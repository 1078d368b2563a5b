import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalizePrompt } from '../../../src/text/normalize/normalize-prompt.ts'
import { apart, becomes, stays } from './corpus/prompts.ts'

test('the corpus is of some size', () => {
  expect(becomes.length + stays.length + apart.length).toBeGreaterThanOrEqual(150)
  expect(stays.length + apart.length).toBeGreaterThanOrEqual(60)
})

describe('brings a prompt to its canonical form', () => {
  test.each(becomes)('%j becomes %j', (prompt, canonical) => {
    expect(normalizePrompt(prompt)).toBe(canonical)
  })
})

describe('keeps what carries meaning', () => {
  test.each(stays.map(prompt => [prompt]))('%j stays', prompt => {
    expect(normalizePrompt(prompt)).toBe(prompt)
  })
})

describe('keeps different prompts apart', () => {
  test.each(apart)('%j is not %j', (one, other) => {
    expect(normalizePrompt(one)).not.toBe(normalizePrompt(other))
  })
})

test('a courteous wording meets the plain one', () => {
  expect(normalizePrompt("Please, what's the capital of France?")).toBe(
    normalizePrompt('What is the capital of France?'),
  )
})

test.each([
  ['  Please!  ', 'please!'],
  ['Thank You', 'thank you'],
  ['Hi, please', 'hi, please'],
  ['   ', ''],
  ['', ''],
  ['?', '?'],
])('a prompt of nothing but fillers is kept: %j', (prompt, canonical) => {
  expect(normalizePrompt(prompt)).toBe(canonical)
})

const fragments = (
  "please kindly could you can you tell me what what's is the ? ! . , please, thanks thank you hi hi, 5 times 6 (5 6) 5! × * plus 2*3 how do i " +
  "` ``` \" ' \"a b\" 'a b' say note: x a i'd like to know world hello … - — İ Σ not can would divided by it! please? and can't dont ²"
).split(' ')
const wordings = fc
  .array(fc.tuple(fc.constantFrom(...fragments), fc.constantFrom(' ', ' ', ' ', '', '\n')), { maxLength: 14 })
  .map(parts => parts.map(([fragment, gap]) => fragment + gap).join(''))

describe('for any text', () => {
  test.each([
    ['of likely fragments', wordings],
    ['of any code points', fc.string({ unit: 'binary', maxLength: 60 })],
    ['of any graphemes', fc.string({ unit: 'grapheme', maxLength: 60 })],
    [
      'of any code units, lone surrogates too',
      fc.array(fc.integer({ min: 0, max: 0xffff })).map(units => String.fromCharCode(...units)),
    ],
  ])('%s, normalizing twice is normalizing once', (_, texts) => {
    fc.assert(
      fc.property(texts, text => {
        const once = normalizePrompt(text)
        expect(normalizePrompt(once)).toBe(once)
      }),
      { numRuns: 3000 },
    )
  })

  test('that holds something, something is left', () => {
    fc.assert(fc.property(wordings, text => (normalizePrompt(text) === '') === (text.trim() === '')))
  })
})

// Quadratic work over as many characters would not end within the test's time limit.
test.each([
  '`',
  '``` ',
  '"',
  "'a ",
  "' ",
  'please ',
  '!',
  '5!',
  '5 times ',
  '(',
  'could you ',
  'hi, ',
  "'d ",
  '` `` ',
  '5*',
  '×',
  ':',
  'x\u0301',
  'thank you ',
])('a long prompt of %j over and over is normalized in linear time', unit => {
  const once = normalizePrompt(unit.repeat(300_000 / unit.length))
  expect(normalizePrompt(once)).toBe(once)
})
