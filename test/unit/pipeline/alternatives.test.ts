import { expect, test } from 'vitest'
import { listAlternativeModels } from '../../../src/pipeline/request/parse-request.ts'
import { maxCost, requestSizeOfBody } from '../../../src/pipeline/spending/max-cost.ts'
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
  expect(listAlternativeModels(body)).toEqual(named)
})

test('a budget reserves for the most expensive of alternatives of which one responds, and for all that are called in turn', () => {
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
  const provider = { name: 'anthropic', pricedAs: 'anthropic', send: () => Promise.reject(new Error('unused')) }
  const reserve = (body: object) =>
    maxCost(requestSizeOfBody('messages', { model: 'cheap', max_tokens: 100, ...body }, 8), provider, { find })?.usd
  expect(reserve({})).toBeCloseTo(100 / 1e6, 9)
  expect(reserve({ models: ['dear', 'cheap'] })).toBeCloseTo(1_000 / 1e6, 9)
  expect(reserve({ fallbacks: [{ model: 'dear' }] })).toBeCloseTo(1_100 / 1e6, 9)
  expect(reserve({ fallbacks: [{ model: 'dear', max_tokens: 200 }] })).toBeCloseTo(2_200 / 1e6, 9)
  expect(reserve({ fallbacks: 'default' })).toBeNull()
})
