import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalizePrompt } from '../../../../src/cache/text/normalize-prompt.ts'
import { findBypassReason } from '../../../../src/cache/verify/bypass.ts'
import { findObjections, isPlainQuestion, type SemanticRisk, verifyPair } from '../../../../src/cache/verify/verify.ts'
import { pairs } from '../text/pairs.ts'

const THRESHOLD = 0.95
const verify = (one: string, other: string, risk: SemanticRisk = 'balanced') =>
  verifyPair(normalizePrompt(one), normalizePrompt(other), risk)
const isEqual = (one: string, other: string) => normalizePrompt(one).normalized === normalizePrompt(other).normalized

function isServed(one: string, other: string, risk?: SemanticRisk): boolean {
  if (isEqual(one, other)) return true
  const { score, veto } = verify(one, other, risk)
  return veto === null && score > THRESHOLD
}

describe('serves other forms of one question', () => {
  test.each([
    ['How do I boil an egg?', 'What is the best way to boil an egg?'],
    ['How do I sort an array in Python?', "What's the best way to sort an array in Python?"],
    ['How do I cancel my subscription?', 'I want to cancel my subscription, how?'],
    ['How do I choose the colour of a wall?', 'How do I choose the color of a wall?'],
    ['How do I organise my phone contacts?', 'How can I organize my phone contacts?'],
    ['best time to visit Japan', 'What is the best time to visit Japan?'],
    ['How do I lower my blood pressure?', 'What is the best way to lower my blood pressure?'],
    ['difference between jam and jelly', 'What is the difference between jelly and jam?'],
    ['In Go, how do I reverse a string?', 'How can I reverse a string in Go?'],
  ])('%j, %j', (one, other) => {
    expect([one, other, isServed(one, other)]).toEqual([one, other, true])
  })
})

describe('no pair that breaks a law is served, whatever the verifier says', () => {
  test.each([
    ['number', 'How do I run 5 miles fast?', 'How do I run 10 miles fast?'],
    ['number', 'How do I carry two bags?', 'How do I carry bags?'],
    ['number', 'Is a balance of -$50 bad?', 'Is a balance of $50 bad?'],
    ['number', 'What is vitamin B12 good for?', 'What is vitamin B6 good for?'],
    ['identifier', 'How do I learn C?', 'How do I learn C++?'],
    ['identifier', 'How many MB are in a GB?', 'How many Mb are in a GB?'],
    ['identifier', 'who invented 2h?', 'who invented 2H?'],
    ['identifier', 'How do I learn R at home?', 'How do I learn D at home?'],
    ['negation', 'How do I travel with a passport?', 'How do I travel without a passport?'],
    ['negation', 'Why does my phone charge?', "Why doesn't my phone charge?"],
    ['opposite', 'How do I increase the volume of my phone?', 'How do I decrease the volume of my phone?'],
    ['opposite', 'How do I install Docker on Ubuntu?', 'How do I uninstall Docker on Ubuntu?'],
  ])('%s: %s', (law, one, other) => {
    expect(verify(one, other, 'generous').veto).toBe(law)
    expect(verify(other, one, 'generous').veto).toBe(law)
  })

  test.each([
    ['How do I carry two bags?', 'How can I carry 2 bags?'],
    ['What is the 1st law of motion?', 'What is the first law of motion?'],
    ['what is vitamin b12 good for', 'What is vitamin B12 good for?'],
    ['HOW DO I LOSE 5KG', 'How can I lose 5kg?'],
    ['how much is 5gb of data', 'How much is 5GB of data?'],
    ["Why can't I log in?", 'Why can I not log in?'],
  ])('none is broken by %j, %j', (one, other) => {
    expect(isEqual(one, other) ? null : verify(one, other).veto).toBeNull()
  })
})

describe('compares plain questions only', () => {
  test.each([
    ['How do I boil an egg?', true],
    ['reset password iphone', true],
    ['I am new to Go. How do I read a file?', true],
    ['Excel: how do I freeze a row?', true],
    ['How can I improve my English?', true],
    ['What do you think of my English?', false],
    ['How good is your English?', false],
    ['How do I improve this English?', false],
    ['I am tired.', false],
    ['x = 5;', false],
    ['What is "a b"?', false],
    ['How do I use `map`?', false],
    ['Say: how are you?', false],
    ['Translate how are you to French', false],
    ['I am ill. I am sad. What do I do?', false],
    ['Count the words. It is late', false],
    ['Improve it. What is your name?', false],
    ['How do I knit?\nHow do I sew?', false],
    [`What is ${'very '.repeat(50)}large?`, false],
  ])('%j: %s', (text, isPlain) => {
    expect(isPlainQuestion(normalizePrompt(text))).toBe(isPlain)
  })

  test('and names it', () => {
    expect(verify('How do I use `f(a)` in tests?', 'How do I use `f(b)` in tests?')).toEqual({
      score: 0,
      veto: 'prose',
    })
  })
})

describe('the project’s own pairs', () => {
  const different = pairs.filter(({ label }) => label === 0)
  const same = pairs.filter(({ label }) => label === 1)

  test('exist', () => {
    expect(different.length).toBeGreaterThan(2_500)
    expect(same.length).toBeGreaterThan(450)
  })

  /** These are about a capital or a contraction, and no word of theirs says so. */
  const inseparable =
    /\b(?:wrong to write|why is) monday|fix i like berlin|does france have the text|sort berlin|did i|what's up|who's/i

  test.each(different.filter(({ a }) => !inseparable.test(a) && findBypassReason(normalizePrompt(a)) === null))(
    'normalization separates $a | $b',
    ({ a, b }) => {
      expect(normalizePrompt(a).normalized).not.toBe(normalizePrompt(b).normalized)
    },
  )

  test('all but a few are separated', () => {
    expect(different.filter(({ a, b }) => isEqual(a, b)).length).toBeLessThan(12)
  })

  test('few of the different ones are served, and most of the same ones', () => {
    const served = (list: typeof pairs, risk: SemanticRisk) =>
      list.filter(({ a, b }) => isServed(a, b, risk)).length / list.length
    expect(served(different, 'balanced')).toBeLessThan(0.02)
    expect(served(different, 'generous')).toBeLessThan(0.05)
    expect(served(same, 'careful')).toBeGreaterThan(0.5)
    expect(served(same, 'balanced')).toBeGreaterThan(0.6)
  })

  test('in other languages, serves only questions that differ in courtesy', () => {
    const foreign = pairs.filter(({ set }) => set === 'languages-2.jsonl')
    expect(foreign.filter(({ a, b, label }) => isServed(a, b) !== (label === 1))).toEqual([])
  })
})

describe('a risk is an operating point', () => {
  test('a more generous one has a higher score for every pair, and the same vetoes', () => {
    for (const { a, b } of pairs.slice(0, 300)) {
      const [careful, balanced, generous] = (['careful', 'balanced', 'generous'] as const).map(risk =>
        verify(a, b, risk),
      )
      if (balanced?.score === 0) continue
      expect(generous?.score).toBeGreaterThan(balanced?.score ?? 1)
      expect(balanced?.score).toBeGreaterThan(careful?.score ?? 1)
      expect([careful?.veto, generous?.veto]).toEqual([balanced?.veto, balanced?.veto])
    }
  })
})

test('questions with too few content words in common score 0', () => {
  const asked = normalizePrompt('How do I paint a wooden garden fence?')
  const scoreOf = (other: string, risk: SemanticRisk, cosine: number | null = null) =>
    verifyPair(asked, normalizePrompt(other), risk, cosine).score
  const [quarter, half] = ['How do I clean a fence?', 'How do I paint a fence?']
  const less = 'How do I sand a wooden fence before cold winter?'
  expect(scoreOf(quarter, 'generous')).toBe(0)
  expect(scoreOf(quarter, 'balanced', 0.9)).toBe(0)
  expect(scoreOf(half, 'balanced')).toBeGreaterThan(0)
  // Two of five: enough at `generous`, and where a cosine says more.
  expect(scoreOf(less, 'balanced')).toBe(0)
  expect(scoreOf(less, 'generous')).toBeGreaterThan(0)
  expect(scoreOf(less, 'balanced', 0.9)).toBeGreaterThan(0)
})

test('names the numbers that spoke most against a pair', () => {
  const found = findObjections(normalizePrompt('What is my IP address?'), normalizePrompt('What is your IP address?'))
  expect(found).toHaveLength(3)
  expect(found.every(([, effect], at) => effect < 0 && effect >= (found[at - 1]?.[1] ?? effect))).toBe(true)
})

const words = fc.constantFrom(
  ...'how what is are the a do does I you to from not without best way of in on and Paris dog dogs 5 6 kg mW buy sell price my your ? , it can'.split(
    ' ',
  ),
)
const questions = fc.array(words, { minLength: 3, maxLength: 12 }).map(parts => parts.join(' '))

test('the verdict is symmetric', () => {
  fc.assert(
    fc.property(questions, questions, (one, other) => {
      expect(verify(one, other)).toEqual(verify(other, one))
    }),
  )
})

describe('never serves a changed word that changes the meaning', () => {
  const topics = fc.constantFrom(
    'a cheap phone plan',
    'green tea leaves',
    'the old harbour bridge',
    'wild mountain flowers',
  )
  const frames = fc.constantFrom(
    (topic: string) => `How do I buy ${topic} %s?`,
    (topic: string) => `What is the best way to find ${topic} %s?`,
    (topic: string) => `Why are ${topic} popular %s?`,
  )
  const swaps = fc.constantFrom(
    ['for 5 dollars', 'for 6 dollars'],
    ['with milk', 'without milk'],
    ['in Oslo', 'in Bergen'],
    ['before dinner', 'after dinner'],
    ['5 mg a day', '5 g a day'],
    ['for him', 'for her'],
    ['if it rains', 'if it does not rain'],
    ['more than once', 'less than once'],
    ['every week', 'every month'],
  )
  test('numbers, units, names, negations, persons', () => {
    fc.assert(
      fc.property(topics, frames, swaps, (topic, frame, [one = '', other = '']) => {
        const [asked, cached] = [frame(topic).replace('%s', one), frame(topic).replace('%s', other)]
        expect([asked, cached, isServed(asked, cached)]).toEqual([asked, cached, false])
      }),
    )
  })
})
