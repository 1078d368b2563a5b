import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { extractFeatures } from '../../../src/cache/guards/extract-features.ts'
import { findVeto, type VetoReason } from '../../../src/cache/guards/find-veto.ts'
import { needsFreshAnswer } from '../../../src/cache/guards/needs-fresh-answer.ts'
import { fresh, lasting } from '../text/corpus/freshness.ts'
import { mayServe, mustVeto } from '../text/corpus/guard-pairs.ts'

function veto(asked: string, cached: string): VetoReason | null {
  return findVeto(extractFeatures(asked), extractFeatures(cached))
}

const vetoed = Object.entries(mustVeto).flatMap(([group, pairs]) =>
  pairs.map(([one, other]) => [group, one, other] as const),
)

test('the corpus is of some size', () => {
  expect(vetoed.length + mayServe.length).toBeGreaterThanOrEqual(120)
})

describe('keeps answers of different questions apart', () => {
  test.each(vetoed)('%s: %j is not %j', (_, one, other) => {
    expect(veto(one, other)).not.toBeNull()
    expect(veto(other, one)).not.toBeNull()
  })
})

describe('lets close wordings of one question through', () => {
  test.each(mayServe)('%j is %j', (one, other) => {
    expect(veto(one, other)).toBeNull()
    expect(veto(other, one)).toBeNull()
  })
})

const document = 'One river rose and another sank. '.repeat(30)

describe('names the reason', () => {
  test.each<[VetoReason, string, string]>([
    ['action', 'Cancel my booking', 'How do I cancel a booking?'],
    ['code', 'What does `a + b` do?', 'What does `a - b` do?'],
    ['quotes', 'Who said "yes"?', 'Who said "no"?'],
    ['courtesy', 'What rhymes with please?', 'What rhymes with?'],
    ['links', 'What is at www.example.org?', 'What is at www.example.com?'],
    ['identifiers', 'Where is WT-1a?', 'Where is WT-1b?'],
    ['symbols', 'Is a = b?', 'Is a ≠ b?'],
    ['numbers', 'Is 5 prime?', 'Is six prime?'],
    ['units', 'Is 5 kg heavy?', 'Is 5 lb heavy?'],
    ['letter-case', 'How did they help US?', 'How did they help us?'],
    ['languages', 'Write a loop in Rust', 'Write a loop in Ruby'],
    ['negation', 'Is it safe?', 'Is it not safe?'],
    ['antonyms', 'Who won the match?', 'Who lost the match?'],
    ['question-kind', 'Why do we dream?', 'When do we dream?'],
    ['modality', 'Should I refuse a tip?', 'Must I refuse a tip?'],
    ['particles', 'How do I sign up?', 'How do I sign in?'],
    ['direction', 'Which trains go from Rome?', 'Which trains go to Rome?'],
    ['possession', "Who is my wife's brother?", "Who is my brother's wife?"],
    ['pronouns', 'What is my name?', 'What is your name?'],
    ['tense', 'Will prices rise?', 'Did prices rise?'],
    ['restrictions', 'Which laptops are there?', 'Which are the cheapest laptops?'],
    ['other-tongues', '大阪在哪里', '东京在哪里'],
    ['word-order', 'Do cats chase dogs?', 'Do dogs chase cats?'],
    ['named-entities', 'Where is Lake Como?', 'Where is Lake Garda?'],
    ['content', 'is tea healthy', 'is soup healthy'],
    ['qualifiers', 'Which board games are good?', 'Which board games are good for toddlers?'],
    ['long-text', `Sum up: ${document}`, `Sum up: ${document} Still, one river dried.`],
  ])('%s: %j, %j', (reason, asked, cached) => {
    expect(veto(asked, cached)).toBe(reason)
  })
})

describe('knows questions about the moment', () => {
  test.each(fresh.map(text => [text]))('%j needs a fresh answer', text => {
    expect(needsFreshAnswer(text)).toBe(true)
  })

  test.each(lasting.map(text => [text]))('%j does not', text => {
    expect(needsFreshAnswer(text)).toBe(false)
  })
})

describe('for any text', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.string({ unit: 'grapheme', maxLength: 80 }),
    fc.array(fc.integer({ min: 0, max: 0xffff })).map(units => String.fromCharCode(...units)),
    fc
      .array(
        fc.constantFrom(
          ..."how many 5 five and hundred million II not n't un- US us \"a\" `b` 'c' to from Paris London $ % 3kg -4 1,000 x² C++ a@b.c http://x / < > ! ? . , 不 best only my your".split(
            ' ',
          ),
        ),
      )
      .map(words => words.join(' ')),
  )

  test('a question is its own, unless it asks to do something', () => {
    fc.assert(
      fc.property(anyText, text => {
        expect([null, 'action']).toContain(veto(text, text))
      }),
      { numRuns: 3000 },
    )
  })

  test('no pair makes the guards fail, and a veto holds both ways', () => {
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        expect(veto(one, other) === null).toBe(veto(other, one) === null)
      }),
      { numRuns: 3000 },
    )
  })

  test('freshness is told without failing', () => {
    fc.assert(
      fc.property(anyText, text => typeof needsFreshAnswer(text) === 'boolean'),
      { numRuns: 1000 },
    )
  })
})

// Quadratic work over as many characters would not end within the test's time limit.
test.each([
  'a',
  'A',
  '1 ',
  '"a" ',
  "'a ",
  '`a` ',
  'un',
  'aB',
  'a.b',
  '1,',
  '$',
  'not ',
  'five ',
  'hundred and ',
  'to a ',
  "a's ",
  'of a ',
  '不',
  'a@',
  '\\',
  '(',
  'x_',
  '!',
  '\ud800',
])('a long question of %j over and over is read and compared in linear time', unit => {
  const text = unit.repeat(100_000 / unit.length)
  expect(veto(text, text)).toBeNull()
  expect(veto(`${text} alpha`, `beta ${text}`)).not.toBeNull()
  expect(needsFreshAnswer(text)).toBe(false)
})
