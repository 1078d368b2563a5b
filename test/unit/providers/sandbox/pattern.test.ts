import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compilePattern } from '../../../../src/providers/sandbox/pattern/compile-pattern.ts'
import { matchesProgram } from '../../../../src/providers/sandbox/pattern/match-pattern.ts'
import { parsePattern } from '../../../../src/providers/sandbox/pattern/parse-pattern.ts'
import { createBudget, SchemaError } from '../../../../src/providers/sandbox/schema/budget.ts'

const STEPS = 200_000

function matches(pattern: string, text: string): boolean {
  const budget = createBudget(STEPS)
  return matchesProgram(compilePattern(parsePattern(pattern, budget), budget), text, budget)
}

/** Patterns small enough for the engine's own matcher to be the judge. */
const { pattern } = fc.letrec<{ pattern: string; term: string; atom: string }>(tie => ({
  atom: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(
      'a',
      'b',
      'é',
      '.',
      '\\d',
      '\\w',
      '\\s',
      '[ab]',
      '[^a]',
      '[a-c0-3]',
      '\\p{L}',
      '😀',
      '^',
      '$',
      '\\b',
      '\\B',
    ),
    tie('pattern').map(inner => `(${inner})`),
    tie('pattern').map(inner => `(?:${inner})`),
    tie('pattern').map(inner => `(?=${inner})`),
    tie('pattern').map(inner => `(?!${inner})`),
    tie('pattern').map(inner => `(?<=${inner})`),
    tie('pattern').map(inner => `(?<!${inner})`),
  ),
  term: fc
    .tuple(tie('atom'), fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '{0,1}', '*?'))
    .map(([atom, count]) => (/^(\^|\$|\\[bB]|\(\?<?[=!])/.test(atom) ? atom : atom + count)),
  pattern: fc
    .array(fc.array(tie('term'), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 })
    .map(list => list.map(terms => terms.join('')).join('|')),
}))

test('agrees with the engine on patterns and texts that it can judge', () => {
  let matched = 0
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', ' ', '1', '😀', '\n', '_'), maxLength: 6 })
  fc.assert(
    fc.property(pattern, text, (source, subject) => {
      const expected = new RegExp(source, 'u').test(subject)
      if (expected) matched++
      expect(matches(source, subject), `/${source}/ on ${JSON.stringify(subject)}`).toBe(expected)
    }),
    { numRuns: 2_000 },
  )
  expect(matched).toBeGreaterThan(200)
})

describe('patterns that hold an engine up for hours are judged within their budget', () => {
  test.each([
    ['^(a+)+$', `${'a'.repeat(200)}!`],
    ['^(a|a)*$', `${'a'.repeat(200)}!`],
    ['^(a|aa)+$', `${'a'.repeat(200)}!`],
    ['(.*)*(.*)*x$', 'a'.repeat(200)],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(200)],
    ['^(?=(a+)+$)b', 'a'.repeat(200)],
  ])('%s', (source, subject) => {
    expect(matches(source, subject)).toBe(false)
  })
})

test('a pattern only valid without the Unicode flag is read as engines read it then', () => {
  expect(matches('^a\\-b$', 'a-b')).toBe(true)
  expect(matches('^x{,3}$', 'x{,3}')).toBe(true)
})

test.each(['(', '[b-a]', '^(a)\\1$', '(?i:a)'])('%s is refused', source => {
  expect(() => matches(source, 'a')).toThrow(SchemaError)
})
