import { expect, test } from 'vitest'
import { applyRateLimitHeaders } from '../../../src/admission/admission.ts'

const account = { requests_per_minute: 60 }
const REQUESTS = {
  'x-ratelimit-limit-requests': '60',
  'x-ratelimit-remaining-requests': '7',
  'x-ratelimit-reset-requests': '60s',
}

test('replaces the provider’s rate limit headers, but not the budget named by a rejection', () => {
  const headers = { 'x-ratelimit-remaining-requests': '9999', 'x-proxy-budget-remaining-usd': '0.1' }
  applyRateLimitHeaders(
    { resolvedKey: account, remaining: 7, spending: { remainingUsd: 2, tokens: { limit: 500, remaining: 80 } } },
    headers,
  )
  expect(headers).toEqual({
    ...REQUESTS,
    'x-proxy-budget-remaining-usd': '0.1',
    'x-ratelimit-limit-tokens': '500',
    'x-ratelimit-remaining-tokens': '80',
    'x-ratelimit-reset-tokens': '60s',
  })
})

test.each([
  ['nothing for a free request', null, null, {}],
  ['only requests without budgets', 7, null, REQUESTS],
  [
    'no tokens without a token limit',
    null,
    { remainingUsd: 1.5, tokens: null },
    { 'x-proxy-budget-remaining-usd': '1.5' },
  ],
])('reports %s', (_, remaining, spending, told) => {
  const headers = {}
  applyRateLimitHeaders({ resolvedKey: account, remaining, spending }, headers)
  expect(headers).toEqual(told)
})
