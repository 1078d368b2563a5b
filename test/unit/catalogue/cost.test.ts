import { expect, test } from 'vitest'
import {
  computeCostUsd,
  computePromptCacheSavings,
  computeResponseCost,
  formatUsd,
} from '../../../src/catalogue/catalogue.ts'
import { NO_USAGE } from '../../../src/formats/token-usage.ts'
import { readUsage } from '../../../src/formats/usage/read-usage.ts'

const model = {
  provider: 'openai',
  model: 'm',
  kind: 'chat' as const,
  inputUsdPerMillion: 2,
  cachedInputUsdPerMillion: 0.5,
  cacheWriteUsdPerMillion: 2.5,
  cacheWriteHourUsdPerMillion: 4,
  conditionalPrices: [],
  unitPrices: {},
  outputUsdPerMillion: 8,
}

test('reads OpenAI’s usage, and the aggregator’s cost in it', () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 20,
    prompt_tokens_details: { cached_tokens: 40 },
    cost: 0.0012,
  }
  expect(readUsage(usage)).toEqual({
    promptTokens: 100,
    cachedPromptTokens: 40,
    completionTokens: 20,
    reportedCostUsd: 0.0012,
  })
  expect(readUsage(null)).toBeNull()
  expect(readUsage({ prompt_tokens: 'many', cost: -1 })).toBeNull()
  expect(readUsage({ cost: 1e30 })).toBeNull()
})

test('cached prompt tokens cost the provider’s price for them', () => {
  const usage = {
    promptTokens: 1_000_000,
    cachedPromptTokens: 400_000,
    completionTokens: 100_000,
    reportedCostUsd: null,
  }
  expect(computeCostUsd(model, usage)).toBeCloseTo(0.6 * 2 + 0.4 * 0.5 + 0.1 * 8, 12)
  expect(computeCostUsd({ ...model, cachedInputUsdPerMillion: null }, usage)).toBeCloseTo(2 + 0.8, 12)
})

test('tokens written to the provider’s cache cost the price for them', () => {
  const usage = readUsage({
    prompt_tokens: 1_000_000,
    completion_tokens: 0,
    prompt_tokens_details: { cache_write_tokens: 500_000 },
  })
  expect(computeCostUsd(model, usage ?? NO_USAGE)).toBeCloseTo(0.5 * 2 + 0.5 * 2.5, 12)
})

test('audio, images, searches and requests cost their unit prices, else as text or nothing', () => {
  const usage = readUsage({
    prompt_tokens: 1_000_000,
    completion_tokens: 100_000,
    prompt_tokens_details: { audio_tokens: 300_000, image_tokens: 200_000, cached_tokens: 100_000 },
    completion_tokens_details: { audio_tokens: 40_000 },
    web_searches: 3,
  })
  const asText = 0.9 * 2 + 0.1 * 0.5 + 0.1 * 8
  expect(computeCostUsd(model, usage ?? NO_USAGE)).toBeCloseTo(asText, 12)
  const unitPrices = { audio_input: 32, image_input: 1, audio_output: 64, search: 0.01, request: 0.005 }
  const beyond = 0.3 * (32 - 2) + 0.2 * (1 - 2) + 0.04 * (64 - 8) + 3 * 0.01 + 0.005
  expect(computeCostUsd({ ...model, unitPrices }, usage ?? NO_USAGE)).toBeCloseTo(asText + beyond, 12)
})

test('the provider’s own figure has precedence; without prices the cost of a model is unknown', () => {
  expect(computeCostUsd(model, { ...NO_USAGE, promptTokens: 5, reportedCostUsd: 0.25 })).toBe(0.25)
  expect(computeCostUsd(undefined, { ...NO_USAGE, promptTokens: 5 })).toBeNull()
})

test.each([
  [0, '0'],
  [1, '1'],
  [0.0000015, '0.0000015'],
  [1e-10, '0.0000000001'],
  [12.5, '12.5'],
  [100, '100'],
])('formats %d as %s', (usd, text) => {
  expect(formatUsd(usd)).toBe(text)
})

test('a model of a server without keys is free, unless it has a price', () => {
  const usage = { ...NO_USAGE, promptTokens: 1_000_000 }
  const find = (_: string, name: string) => (name === 'm' ? (model as never) : undefined)
  const costOf = (name: string, isFreeWithoutPrice: boolean) =>
    computeResponseCost({ find }, { pricedAs: 'ollama', isFreeWithoutPrice }, { model: name, hasOthers: false }, usage)
  expect(costOf('m', true)).toBe(2)
  expect(costOf('other', true)).toBe(0)
  expect(costOf('other', false)).toBeNull()
})

test('the prompt cache saves what the same request would cost without it', () => {
  const saved = (usage: object, priced: object | null = model) =>
    computePromptCacheSavings(
      { find: () => (priced ?? undefined) as never },
      { pricedAs: 'openai' },
      { model: 'm', hasOthers: false },
      { ...NO_USAGE, promptTokens: 1_000_000, completionTokens: 1_000, ...usage },
    )
  expect(saved({ cachedPromptTokens: 400_000 })).toBeCloseTo(0.4 * 1.5, 12)
  // The reported cost says nothing about the cost without a cache.
  expect(saved({ cachedPromptTokens: 400_000, reportedCostUsd: 9 })).toBeCloseTo(0.4 * 1.5, 12)
  expect(saved({ cacheWriteTokens: 400_000, cacheWriteHourTokens: 100_000 })).toBeCloseTo(-0.3 * 0.5 - 0.1 * 2, 12)
  const part = { model: null, usage: { ...NO_USAGE, promptTokens: 1_000_000, cachedPromptTokens: 500_000 } }
  expect(saved({ cachedPromptTokens: 500_000, parts: [part, part] })).toBeCloseTo(2 * 0.5 * 1.5, 12)
  expect(saved({})).toBeNull()
  expect(saved({ cachedPromptTokens: 1 }, null)).toBeNull()
})
