import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { alignDifferences } from '../../../../src/cache/proof/align.ts'
import type { DifferenceKind } from '../../../../src/cache/proof/difference.ts'
import { prove } from '../../../../src/cache/proof/prove.ts'
import { readPrompt } from '../../../../src/text/read-prompt.ts'
import { harmlessKinds } from '../../../../src/text/token.ts'
import { pairs } from '../../text/pairs.ts'

function proof(asked: string, cached: string) {
  return prove(readPrompt(asked), readPrompt(cached))
}

const different = pairs.filter(({ label }) => label === 0)
const same = pairs.filter(({ label }) => label === 1)

test('the pairs are of some number', () => {
  expect(different.length).toBeGreaterThanOrEqual(400)
  expect(same.length).toBeGreaterThanOrEqual(200)
})

describe('no answer is served for another question', () => {
  test.each(different)('$category: $a | $b', ({ a, b }) => {
    expect(proof(a, b).proved).toBe(false)
    expect(proof(b, a).proved).toBe(false)
    expect(readPrompt(a).normalized).not.toBe(readPrompt(b).normalized)
  })
})

describe('what asks the same is proved', () => {
  test.each(same.filter(({ category }) => category !== 'lost' && category !== 'rewording'))(
    '$category: $a | $b',
    ({ a, b }) => {
      expect(proof(a, b)).toMatchObject({ proved: true })
      expect(proof(b, a)).toMatchObject({ proved: true })
    },
  )

  test('most pairs that ask the same, freer rewordings among them, are proved', () => {
    const proved = same.filter(({ a, b }) => proof(a, b).proved)
    expect(proved.length / same.length).toBeGreaterThan(0.7)
  })
})

describe('names the kind of the first difference, and its place', () => {
  test.each<[DifferenceKind, string, string, number]>([
    ['number', 'Is 15 even?', 'Is 16 even?', 3],
    ['negation', 'Is it safe?', 'Is it not safe?', 5],
    ['modality', 'Can we park here?', 'May we park here?', 0],
    ['person', 'Is it my house?', 'Is it your house?', 6],
    ['letter-case', 'What is ACID?', 'What is acid?', 8],
    ['quotation', 'Who said "yes"?', 'Who said "no"?', 9],
    ['code', 'What is `a`?', 'What is `b`?', 8],
    ['sign', 'Is a + b hard?', 'Is a - b hard?', 5],
    ['added-words', 'How do I cook rice?', 'How do I cook brown rice?', 13],
    ['words', 'Is tea healthy?', 'Is milk healthy?', 3],
    ['verbatim', 'x = { a: 1 }', 'x = { a: 2 }', 9],
  ])('%s: %j, %j', (kind, asked, cached, askedAt) => {
    expect(proof(asked, cached)).toMatchObject({ proved: false, kind, askedAt })
  })
})

describe('shows people every difference', () => {
  test('harmless ones with their kind', () => {
    const differences = alignDifferences(
      readPrompt("Hi, what's the capital of france?"),
      readPrompt('What is the  capital of France'),
    )
    expect(differences.every(({ kind }) => kind === null)).toBe(true)
    const kinds = differences.flatMap(({ harmless }) => harmless ?? [])
    for (const kind of ['courtesy', 'contraction', 'white-space', 'known-name', 'closing-mark'])
      expect(kinds).toContain(kind)
  })

  test('and what keeps the two apart', () => {
    const differences = alignDifferences(readPrompt('How do I cook brown rice?'), readPrompt('How can I cook rice'))
    expect(differences.find(({ kind }) => kind !== null)).toMatchObject({
      kind: 'added-words',
      askedText: 'brown',
      cachedText: '',
    })
    expect(differences.find(({ kind }) => kind === null)).toMatchObject({
      askedText: 'How do I',
      cachedText: 'How can I',
    })
  })
})

const fragments =
  "What what's is the a of How do I can I you one Please please, thanks hi Hi, tell me five 5 six percent % × x times + - plus US U.S. TV France france colour best books book ? ! . , : ( ) \"a b\" 'a b' `c` mean meaning kids children not isn't Polish cost difference between and Wie bitte ist for to learn make reset somebody an & earn money online quickly my improve English get job has most beautiful moment life in examples give some or Machine Learning html amongst define on internet Quora questions would be funniest joke have heard ever someone advantages cats dogs".split(
    ' ',
  )
const wordings = fc
  .array(fc.tuple(fc.constantFrom(...fragments), fc.constantFrom(' ', ' ', ' ', '', '\n')), { maxLength: 12 })
  .map(parts => parts.map(([fragment, gap]) => fragment + gap).join(''))
const anyText = fc.oneof(
  wordings,
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
)

describe('for any texts', () => {
  test('a text is proved to be itself, and what is normalized alike is proved', () => {
    fc.assert(
      fc.property(anyText, text => {
        expect(proof(text, text)).toEqual({ proved: true, harmless: [] })
        expect(proof(text, readPrompt(text).normalized.concat(' ')).proved).toBe(true)
      }),
      { numRuns: 3000, examples: [["isn't isn't "]] },
    )
  })

  test('proof holds both ways, and its kinds are on the closed list', () => {
    fc.assert(
      fc.property(wordings, wordings, (one, other) => {
        const found = proof(one, other)
        expect(proof(other, one).proved).toBe(found.proved)
        if (readPrompt(one).normalized === readPrompt(other).normalized) expect(found.proved).toBe(true)
        if (found.proved) for (const kind of found.harmless) expect(harmlessKinds).toContain(kind)
        else {
          expect(found.askedAt).toBeLessThanOrEqual(one.length)
          expect(found.cachedAt).toBeLessThanOrEqual(other.length)
        }
      }),
      { numRuns: 3000 },
    )
  })
})

describe('a change of one character breaks the proof', () => {
  const letters = fc.string({ unit: fc.constantFrom(...'abcdefgXYZ'), minLength: 1, maxLength: 6 })
  const payloads = fc.oneof(
    fc.tuple(letters, letters).map(([a, b]) => `\`${a} = ${b}(1)\``),
    fc.tuple(letters, letters).map(([a, b]) => `"${a} ${b}"`),
    fc
      .tuple(fc.integer({ min: 10, max: 99_999 }), fc.constantFrom('mW', 'MW', 'kg', '%', ' km'))
      .map(([n, unit]) => n + unit),
    fc.string({ unit: fc.constantFrom(...'ABCDEFGH'), minLength: 2, maxLength: 5 }),
    fc.tuple(letters, letters).map(([a, b]) => `{"${a}": "${b}"}`),
    fc.tuple(letters, fc.integer({ min: 1, max: 999 })).map(([a, n]) => `${a},${n} ${a},${n + 1}`),
  )
  const frames = fc.constantFrom(
    (payload: string) => `What is ${payload}?`,
    (payload: string) => `How do I use ${payload} with tea?`,
    (payload: string) => `Explain ${payload}`,
    (payload: string) => `Translate: ${payload}`,
    (payload: string) => `What does ${payload} mean?`,
  )
  test('in code, quotations, measures, names in capitals and data', () => {
    fc.assert(
      fc.property(frames, payloads, fc.nat(), fc.constantFrom(...'aZ07-_'), (frame, payload, place, character) => {
        const at = place % payload.length
        const changed = payload.slice(0, at) + character + payload.slice(at + 1)
        const removed = payload.slice(0, at) + payload.slice(at + 1)
        fc.pre(changed !== payload && removed.trim() !== payload && removed !== '')
        // Two shapes of one mark are no change.
        expect(proof(frame(payload), frame(changed)).proved).toBe(false)
        expect(proof(frame(payload), frame(removed)).proved).toBe(
          payload.includes(' km') && removed === payload.replace(' ', '  '),
        )
      }),
      { numRuns: 3000 },
    )
  })

  test('white space and courtesy around prose do not', () => {
    const questions = fc.constantFrom(
      'What is a prion?',
      'How do I bake bread?',
      'Explain gravity',
      'Why is the sky blue?',
    )
    const before = fc.constantFrom('', ' ', '\n', 'Please ', 'Hi, ', 'Hello! ', 'Hi there,\n\n', 'please, ')
    const after = fc.constantFrom('', ' ', '\n', ' Thanks!', ' Thank you very much.', '\n\nMany thanks in advance')
    fc.assert(
      fc.property(questions, before, after, fc.constantFrom(' ', '  ', '   '), (question, opening, closing, space) => {
        const worded = opening + question.replaceAll(' ', space) + (closing.startsWith(' T') ? `.${closing}` : closing)
        expect(proof(question, worded.replace('?.', '?'))).toMatchObject({ proved: true })
      }),
      { numRuns: 500 },
    )
  })
})
