import { expect, test } from 'vitest'
import { largestCost } from '../../../src/pipeline/largest-cost.ts'
import { alternativesOf } from '../../../src/pipeline/parse-request.ts'
import type { CatalogueModel } from '../../../src/postgres/list-models.ts'

test.each([
  [{}, []],
  [{ models: ['a', 7, 'b'] }, ['a', 'b']],
  [{ models: 'a' }, []],
  [{ fallbacks: [{ model: 'a', max_tokens: 5 }, { model: 7 }, null] }, ['a']],
  [{ fallbacks: 'default' }, ['default']],
  [{ models: ['a'], fallbacks: ['b'] }, ['a', 'b']],
  [{ models: null, fallbacks: null }, []],
])('%j names %j', (body, named) => {
  expect(alternativesOf(body)).toEqual(named)
})

test('a budget reserves for the dearest of them, and for the longest answer', () => {
  const prices: Record<string, number> = { cheap: 1, dear: 10 }
  const find = (_: string, model: string) =>
    model in prices
      ? ({
          inputUsdPerMillion: 0,
          outputUsdPerMillion: prices[model],
          conditionalPrices: [],
          unitPrices: {},
        } as unknown as CatalogueModel)
      : undefined
  const provider = { name: 'anthropic', pricedAs: 'anthropic', ask: () => Promise.reject(new Error('unused')) }
  const reserve = (body: object) =>
    largestCost(
      { endpoint: 'messages', model: 'cheap', bytes: 8, isOpen: false, body: { max_tokens: 100, ...body } },
      provider,
      { find },
    )?.usd
  expect(reserve({})).toBeCloseTo(100 / 1e6, 9)
  expect(reserve({ fallbacks: [{ model: 'dear' }] })).toBeCloseTo(1_000 / 1e6, 9)
  expect(reserve({ fallbacks: [{ model: 'dear', max_tokens: 200 }] })).toBeCloseTo(2_000 / 1e6, 9)
  expect(reserve({ fallbacks: 'default' })).toBeNull()
})
