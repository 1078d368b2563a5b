/** Reads usage in every vendor's field names: which counts include others, and which values are not counts. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fillMissingCounts, markZeroCountsMissing } from '../../../../src/formats/token-usage.ts'
import { readInputUsage, readUsage } from '../../../../src/formats/usage/read-usage.ts'

const CHAT = { prompt_tokens: 1_000, completion_tokens: 100 }
const WHOLE = { promptTokens: 1_000, cachedPromptTokens: 0, completionTokens: 100, reportedCostUsd: null }

test.each([
  ['OpenAI’s chat', { ...CHAT, total_tokens: 1_100 }],
  ['OpenAI’s Responses', { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 }],
  ['counts as text', { prompt_tokens: '1000', completion_tokens: '100' }],
  ['two names, one without a count', { ...CHAT, input_tokens: 0, output_tokens: null }],
  ['Bedrock', { inputTokens: 1_000, outputTokens: 100, totalTokens: 1_100 }],
  ['a prompt and a total', { prompt_tokens: 1_000, total_tokens: 1_100 }],
  ['a completion and a total', { completion_tokens: 100, total_tokens: 1_100 }],
  ['a zero that the total contradicts', { prompt_tokens: 0, completion_tokens: 100, total_tokens: 1_100 }],
])('reads %s', (_, usage) => {
  expect(readUsage(usage)).toEqual(WHOLE)
})

test.each([
  ['OpenAI’s chat', { ...CHAT, prompt_tokens_details: { cached_tokens: 600 } }],
  ['Moonshot', { ...CHAT, cached_tokens: 600 }],
  ['DeepSeek', { ...CHAT, prompt_cache_hit_tokens: 600, prompt_cache_miss_tokens: 400 }],
  ['LiteLLM', { ...CHAT, cache_read_input_tokens: 600, prompt_tokens_details: { cached_tokens: 600 } }],
  ['Responses', { input_tokens: 1_000, output_tokens: 100, input_tokens_details: { cached_tokens: 600 } }],
  ['Anthropic, in addition to the input', { input_tokens: 400, output_tokens: 100, cache_read_input_tokens: 600 }],
  ['chat names, in addition to the prompt', { prompt_tokens: 400, completion_tokens: 100, cached_tokens: 600 }],
])('reads the cached tokens of %s', (_, usage) => {
  expect(readUsage(usage)).toEqual({ ...WHOLE, cachedPromptTokens: 600 })
})

test('adds cached tokens that only the total counts to the prompt', () => {
  const usage = { ...CHAT, prompt_tokens: 600, cached_tokens: 400 }
  expect(readUsage({ ...usage, total_tokens: 1_100 })).toEqual({ ...WHOLE, cachedPromptTokens: 400 })
  expect(readUsage({ ...usage, total_tokens: 700 })).toMatchObject({ promptTokens: 600, completionTokens: 100 })
})

test('counts tokens written to a cache once, in the prompt', () => {
  const counts = { output_tokens: 100, cache_creation_input_tokens: 500 }
  const kept = { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 200 }
  const expected = { ...WHOLE, cacheWriteTokens: 500, cacheWriteHourTokens: 200 }
  expect(readUsage({ ...counts, input_tokens: 500, cache_creation: kept })).toEqual(expected)
  const details = { cached_tokens: 0, cache_write_tokens: 500, cache_write_1h_tokens: 200 }
  expect(readUsage({ ...CHAT, prompt_tokens_details: details })).toEqual(expected)
})

describe('reasoning tokens', () => {
  const details = (reasoning_tokens: number) => ({ completion_tokens_details: { reasoning_tokens } })

  test.each([
    [
      'in addition to the completion, according to the total',
      { ...CHAT, total_tokens: 3_100, ...details(2_000) },
      2_100,
    ],
    ['in addition to the completion, because they exceed it', { ...CHAT, ...details(2_000) }, 2_100],
    ['part of the completion', { ...CHAT, total_tokens: 1_100, ...details(60) }, 100],
    ['part of the completion, without a total', { ...CHAT, ...details(100) }, 100],
    ['not reported', { ...CHAT, total_tokens: 3_100 }, 2_100],
  ])('%s', (_, usage, completionTokens) => {
    expect(readUsage(usage)?.completionTokens).toBe(completionTokens)
  })
})

test.each([
  ['a total alone', { total_tokens: 1_100 }, { missing: ['prompt', 'completion'], totalTokens: 1_100 }],
  ['zeros beside a total', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 1_100 }, { totalTokens: 1_100 }],
  ['a completion alone', { completion_tokens: 5_000 }, { missing: ['prompt'], completionTokens: 5_000 }],
  ['a prompt alone', { prompt_tokens: 5_000 }, { missing: ['completion'], promptTokens: 5_000 }],
  ['a prompt count that is text', { prompt_tokens: 'many', completion_tokens: 5 }, { missing: ['prompt'] }],
  ['a negative completion', { prompt_tokens: 5, completion_tokens: -5 }, { missing: ['completion'] }],
  ['a count beyond the plausible maximum', { prompt_tokens: 5, completion_tokens: 1e300 }, { missing: ['completion'] }],
  ['a cost alone', { cost: 0.25 }, { missing: ['prompt', 'completion'], reportedCostUsd: 0.25 }],
  ['cached tokens alone', { cache_creation_input_tokens: 9 }, { missing: ['prompt', 'completion'], promptTokens: 9 }],
])('%s are not the whole', (_, usage, expected) => {
  expect(readUsage(usage)).toMatchObject(expected)
})

test.each([
  null,
  undefined,
  {},
  [],
  [CHAT],
  '1100',
  1_100,
  { prompt_tokens: null },
  { prompt_tokens: { text: 5 } },
  { prompt_tokens: [5] },
  { prompt_tokens: '1e3' },
  { cost: -1 },
])('%j reports none', usage => {
  expect(readUsage(usage)).toBeNull()
})

test('usage without a completion count is read from its total', () => {
  expect(readInputUsage({ total_tokens: 30 })).toEqual({ ...WHOLE, promptTokens: 30, completionTokens: 0 })
  expect(readInputUsage({ prompt_tokens: 20, total_tokens: 20 })?.promptTokens).toBe(20)
})

describe('a reported cost', () => {
  const costOf = (usage: object) => readUsage({ ...CHAT, ...usage })?.reportedCostUsd
  const upstream = (usd: unknown) => ({ cost_details: { upstream_inference_cost: usd } })

  test.each([
    ['as text', { cost: '0.01' }, 0.01],
    ['without a customer’s key', { cost: 0.01, is_byok: false, ...upstream(0.01) }, 0.01],
    ['without a statement about the key', { cost: 0.01, ...upstream(0.009) }, 0.01],
    ['with a customer’s key', { cost: 0, is_byok: true, ...upstream(0.03) }, 0.03],
    ['with a customer’s key and a fee', { cost: 0.0015, is_byok: true, ...upstream(0.03) }, 0.0315],
    ['with a customer’s key, known only from the vendor’s cost', { cost: 0.0015, ...upstream(0.03) }, 0.0315],
    ['with a customer’s key and an unknown vendor’s cost', { cost: 0.0015, is_byok: true, ...upstream(null) }, null],
    ['in another form', { cost: { total_cost: 5 } }, null],
    ['implausibly high', { cost: 1e30 }, null],
  ])('%s', (_, usage, expected) => {
    const cost = costOf(usage)
    if (expected === null) expect(cost).toBeNull()
    else expect(cost).toBeCloseTo(expected, 12)
  })
})

describe('missing counts', () => {
  const estimate = { promptTokens: 30, completionTokens: 20 }
  const filled = (usage: object) => {
    const read = readUsage(usage)
    return read && fillMissingCounts(markZeroCountsMissing(read, { hasOutput: true }), estimate)
  }

  test.each([
    ['none', CHAT, [1_000, 100]],
    ['the prompt', { completion_tokens: 5_000 }, [30, 5_000]],
    ['the completion', { prompt_tokens: 5_000 }, [5_000, 20]],
    ['both, of a known total', { total_tokens: 1_100 }, [30, 1_070]],
    ['both, of a smaller total', { total_tokens: 25 }, [25, 20]],
    ['both, reported as zero', { prompt_tokens: 0, completion_tokens: 0 }, [30, 20]],
    ['a prompt that is reported in part', { output_tokens: 5, cache_creation_input_tokens: 500 }, [500, 5]],
  ])('%s', (_, usage, expected) => {
    const read = filled(usage)
    expect([read?.promptTokens, read?.completionTokens]).toEqual(expected)
    expect(read).not.toHaveProperty('missing')
  })
})

const counts = fc.record({
  fresh: fc.nat(1_000_000).map(n => n + 1),
  cached: fc.nat(1_000_000),
  written: fc.nat(1_000_000),
  completion: fc.nat(1_000_000).map(n => n + 1),
  thinking: fc.double({ min: 0, max: 1, noNaN: true }),
  asText: fc.boolean(),
  hasTotal: fc.boolean(),
})

test('equal counts are equal in every vendor’s names', () => {
  fc.assert(
    fc.property(counts, ({ fresh, cached, written, completion, thinking, asText, hasTotal }) => {
      const count = (n: number) => (asText ? `${n}` : n)
      const prompt = fresh + cached + written
      const reasoning_tokens = count(Math.floor(completion * thinking))
      const cache = { cached_tokens: count(cached), cache_write_tokens: count(written) }
      const total = hasTotal ? { total_tokens: count(prompt + completion) } : {}
      const forms = [
        {
          ...{ prompt_tokens: count(prompt), completion_tokens: count(completion), ...total },
          prompt_tokens_details: cache,
          completion_tokens_details: { reasoning_tokens },
        },
        {
          ...{ input_tokens: count(prompt), output_tokens: count(completion), ...total },
          input_tokens_details: cache,
          output_tokens_details: { reasoning_tokens },
        },
        {
          ...{ input_tokens: count(fresh), output_tokens: count(completion) },
          ...{ cache_read_input_tokens: count(cached), cache_creation_input_tokens: count(written) },
          output_tokens_details: { thinking_tokens: reasoning_tokens },
        },
      ]
      // Without cached tokens, the second form has the same counts as Anthropic's form, which the third covers.
      for (const form of forms.filter((_, at) => at !== 1 || cached + written > 0))
        expect(readUsage(form)).toMatchObject({
          promptTokens: prompt,
          cachedPromptTokens: cached,
          completionTokens: completion,
        })
    }),
  )
})

test('never throws and never counts less than nothing, for any input', () => {
  const keys = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'cached_tokens', 'input_tokens', 'cost']
  const value = fc.oneof(fc.jsonValue(), fc.nat(), fc.constantFrom(0, -1, '5', 'x', null, 1e300))
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...keys), value)), usage => {
      const read = readUsage(usage)
      if (!read) return
      const { promptTokens, cachedPromptTokens, cacheWriteTokens = 0, completionTokens } = read
      expect(Math.min(promptTokens, cachedPromptTokens, completionTokens)).toBeGreaterThanOrEqual(0)
      expect(cachedPromptTokens + cacheWriteTokens).toBeLessThanOrEqual(promptTokens)
    }),
  )
})
