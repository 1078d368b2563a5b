import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  MAX_SEMANTIC_CHARS,
  normalizeInSameContext,
  normalizePrompt,
} from '../../../../src/cache/text/normalize-prompt.ts'
import { processorMs } from '../../../harness/processor-time.ts'

describe('normalizes prose', () => {
  test.each([
    ["Hi, could you please tell me what's the capital of France?", 'what is the capital of france'],
    ['How can I reset my password?', 'how to reset my password'],
    ['What is five times 6?', 'what is 5 × 6'],
    ['Could you explain recursion, please?', 'explain recursion'],
    ['Who is Bill?', 'who is Bill'],
    ['How do I sort an array in Python?', 'how to sort an array in Python'],
    ['What is "a  b"?', 'what is "a  b"'],
  ])('%j to %j', (text, normalized) => {
    expect(normalizePrompt(text).normalized).toBe(normalized)
  })
})

describe('reads a question as its writer meant it', () => {
  test.each([
    ['what is the capital of turkey', 'What is the capital of Turkey?'],
    ['WHAT IS THE CAPITAL OF FRANCE?', 'What is the capital of France?'],
    ['What Is The Capital Of France?', 'What is the capital of France?'],
    ['what is new york known for', 'What is New York known for?'],
    ['how tall is mount everest', 'How tall is Mount Everest?'],
    ['how do i install python on windows', 'How do I install Python on Windows?'],
    ['how do i use git rebase', 'How do I use Git rebase?'],
    ['Hi,\n\nhow do I reset my password?', 'How do I reset my password?'],
    ['Hello!\nHow do I reset my password?\nThanks', 'How do I reset my password?'],
    ['What is the\ncapital of France?', 'What is the capital of France?'],
    ['Question: what is the capital of France?', 'What is the capital of France?'],
    ['Hallo! Was bedeutet TCP? Danke', 'Was ist TCP?'],
    ["C'est quoi le TCP ?", "Qu'est-ce que le TCP ?"],
  ])('%j as %j', (text, same) => {
    expect(normalizePrompt(text).normalized).toBe(normalizePrompt(same).normalized)
  })
})

describe('leaves other text unchanged, except for outer white space', () => {
  test.each([
    'git log --oneline',
    'Translate: Please come',
    'a\tb c',
    'Schreibe den Satz um ?',
    'Summarize the following text',
    'x = 5;',
    `What is ${'a very '.repeat(80)} long text?`,
  ])('%j', text => {
    expect(normalizePrompt(`\n ${text} `)).toMatchObject({ normalized: text, isProse: false })
  })
})

test('never matches texts beyond the limit by meaning', () => {
  expect(normalizePrompt('a'.repeat(MAX_SEMANTIC_CHARS)).isSemantic).toBe(true)
  expect(normalizePrompt('a'.repeat(MAX_SEMANTIC_CHARS + 1)).isSemantic).toBe(false)
})

test('is idempotent', () => {
  const words = fc.constantFrom(
    ..."what is the how do I can you best books of cost does mean meaning five 6 times × plus percent US in France colour please hi thanks ? . ! , 'a' difference between to reset".split(
      ' ',
    ),
  )
  fc.assert(
    fc.property(fc.array(words, { maxLength: 12 }), parts => {
      const once = normalizePrompt(parts.join(' ')).normalized
      expect(normalizePrompt(once).normalized.length).toBeLessThanOrEqual(once.length)
    }),
  )
})

/** Far longer than any prompt. Quadratic work on this many characters would exceed the time limit. */
const MEGABYTE = 1_000_000
const units = [
  'I ',
  ')',
  '(',
  "'",
  '"',
  '`',
  'x ',
  '5 times ',
  'a\u0301\u0323',
  'please ',
  'a-',
  "a'",
  '1,',
  '?',
  ' ',
  '\n',
  'thanks ',
  '\ud800',
  '“',
  'é',
  'a.',
]

/** The lowest processor time of five runs, in milliseconds, because other processes run beside the tests. */
function fastestMs(text: string): number {
  return Math.min(...Array.from({ length: 5 }, () => processorMs(() => normalizePrompt(text))))
}

describe('reads any text in linear time', () => {
  test.each(units.map(unit => [unit]))('of %j over and over', unit => {
    const text = unit.repeat(Math.ceil(MEGABYTE / unit.length))
    // The longest text of each reading mode, and one that is far longer.
    for (const length of [600, MAX_SEMANTIC_CHARS, 16_000, MEGABYTE]) {
      expect(fastestMs(text.slice(0, length))).toBeLessThan(20)
    }
  })

  test.each([' x times 5', ')))', '?', '"'])('that ends in %j', end => {
    expect(fastestMs(`${'I '.repeat(MEGABYTE / 2)}${end}`)).toBeLessThan(20)
    expect(fastestMs(`${'I '.repeat(290)}${end}`)).toBeLessThan(20)
  })
})

test('does not reuse results for another text', () => {
  const read = (owner: string) => normalizePrompt('How do I boil an egg?', 'none', owner)
  expect(read('1 ')).toBe(read('1 '))
  expect(read('2 ')).not.toBe(read('1 '))
  expect(normalizeInSameContext(read('2 '), 'How do I boil an egg?')).toBe(read('2 '))
  expect({ ...read('2 '), owner: '1 ' }).toEqual(read('1 '))
})
