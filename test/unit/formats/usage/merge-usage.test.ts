/** Merges the usage that the chunks of a stream report. A later chunk without a count does not remove it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isJsonObject } from '../../../../src/formats/json/canonical.ts'
import { findUsage, mergeUsage } from '../../../../src/formats/usage/merge-usage.ts'
import { readNonNegativeNumber } from '../../../../src/formats/usage/read-count.ts'

const USAGE = { prompt_tokens: 1_000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 600 } }

test.each([
  null,
  undefined,
  {},
  [],
  '',
  0,
  'x',
  { prompt_tokens: 0, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 0 } },
  { prompt_tokens: null, completion_tokens: null, prompt_tokens_details: null },
  { prompt_tokens: 'x', completion_tokens: -1, prompt_tokens_details: [] },
  { prompt_tokens: 10, completion_tokens: '0' },
])('%j replaces nothing', later => {
  expect(mergeUsage(USAGE, later)).toEqual(USAGE)
})

test('merges field by field', () => {
  const early = { prompt_tokens: 1_000, completion_tokens: 1, cost: 0.001, is_byok: false }
  const later = { completion_tokens: '100', prompt_tokens_details: { cached_tokens: 600 }, cost: 0.002 }
  expect(mergeUsage(early, later)).toEqual({ ...early, ...later })
  expect(mergeUsage({ prompt_tokens: 'x' }, { prompt_tokens: 5 })).toEqual({ prompt_tokens: 5 })
  expect(mergeUsage('1100', USAGE)).toBe(USAGE)
  expect(mergeUsage(null, '1100')).toBe('1100')
})

test('a count of the whole response replaces an estimate', () => {
  const start = { input_tokens: 1_200, output_tokens: 8, service_tier: 'standard' }
  const end = { input_tokens: 1_000, output_tokens: 5, cache_read_input_tokens: null }
  expect(mergeUsage(start, end, { isCumulative: true })).toMatchObject({ input_tokens: 1_000, output_tokens: 5 })
  expect(mergeUsage(start, { input_tokens: 0, output_tokens: 5 }, { isCumulative: true })).toMatchObject({
    input_tokens: 1_200,
  })
  // All input tokens were cached.
  const cached = { input_tokens: 0, cache_read_input_tokens: 1_000, output_tokens: 5 }
  expect(mergeUsage(start, cached, { isCumulative: true })).toMatchObject(cached)
})

test.each([
  ['OpenAI', { choices: [], usage: USAGE }],
  ['Groq', { choices: [], x_groq: { id: 'req_1', usage: USAGE } }],
  ['Groq, in both places', { choices: [], usage: USAGE, x_groq: { usage: USAGE } }],
  ['Moonshot', { choices: [{ index: 0, delta: {}, usage: USAGE }], usage: null }],
])('reads usage where %s has it', (_, chunk) => {
  expect(findUsage(chunk)).toEqual(USAGE)
})

test.each([{}, { usage: null }, { choices: null }, { choices: [null, 'x'] }, { x_groq: 'x' }, { x_groq: {} }])(
  'reads none in %j',
  chunk => {
    expect(findUsage(chunk)).toBeNull()
  },
)

test('later usage never lowers a count', () => {
  const fields = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'cached_tokens'] as const
  const value = fc.oneof(fc.nat(100), fc.constantFrom(null, 0, '', 'x', '7', -3), fc.jsonValue())
  const usage = fc.oneof(fc.dictionary(fc.constantFrom(...fields), value), fc.jsonValue())
  const countIn = (merged: unknown, field: string) =>
    readNonNegativeNumber(isJsonObject(merged) ? merged[field] : null) ?? 0
  fc.assert(
    fc.property(fc.array(usage), usage, (before, later) => {
      const known = before.reduce<unknown>((sum, each) => mergeUsage(sum, each), null)
      const merged = mergeUsage(known, later)
      for (const field of fields) expect(countIn(merged, field)).toBeGreaterThanOrEqual(countIn(known, field))
    }),
  )
})
