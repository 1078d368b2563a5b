import { expect, test } from 'vitest'
import { readRetryAfter } from '../../../src/providers/retry-after.ts'

const NOW = Date.UTC(2026, 0, 1)
const MINUTE = 60_000

test.each([
  [{ 'retry-after': '2' }, 2_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:03 GMT' }, 3_000],
  [{ 'retry-after': 'Thu, 01 Jan 2020 00:00:00 GMT' }, 0],
  [{ 'retry-after': '9', 'retry-after-ms': '20' }, 20],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '-1' }, null],
  [{}, null],
])('reads Retry-After: %o', (headers, milliseconds) => {
  expect(readRetryAfter({ status: 503, headers: new Headers(headers) }, NOW)).toBe(milliseconds)
})

test.each<[string, Record<string, string>, number | null]>([
  ['OpenAI’s', { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' }, 6 * MINUTE],
  ['OpenAI’s in milliseconds', { 'x-ratelimit-reset-tokens': '20ms' }, 20],
  ['OpenAI’s in hours', { 'x-ratelimit-reset-requests': '1h2m3.5s' }, 62 * MINUTE + 3_500],
  ['Groq’s', { 'x-ratelimit-reset-requests': '2m59.56s' }, 179_560],
  ['Azure’s', { 'x-ratelimit-reset-requests': '10' }, 10_000],
  ['Cerebras’', { 'x-ratelimit-remaining-requests-day': '0', 'x-ratelimit-reset-requests-day': '90' }, 90_000],
  [
    'OpenRouter’s, in milliseconds',
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW + MINUTE) },
    MINUTE,
  ],
  ['GitHub’s, in seconds', { 'x-ratelimit-reset': String(NOW / 1000 + 30) }, 30_000],
  ['Anthropic’s', { 'anthropic-ratelimit-requests-reset': '2026-01-01T00:01:00Z' }, MINUTE],
  ['a time that has passed', { 'anthropic-ratelimit-requests-reset': '2025-01-01T00:01:00Z' }, 0],
  [
    'the exhausted limit',
    {
      'x-ratelimit-remaining-requests': '99',
      'x-ratelimit-reset-requests': '24h0m0s',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '7s',
    },
    7_000,
  ],
  [
    'the later one of two exhausted limits',
    {
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:00:20Z',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:40Z',
    },
    40_000,
  ],
  [
    'the first one where none is exhausted',
    {
      'x-ratelimit-remaining-requests': '9',
      'x-ratelimit-reset-requests': '24h0m0s',
      'x-ratelimit-remaining-tokens': '50',
      'x-ratelimit-reset-tokens': '7s',
    },
    7_000,
  ],
  [
    'the limit that may be exhausted',
    {
      'x-ratelimit-reset-requests': '60s',
      'x-ratelimit-remaining-tokens': '50',
      'x-ratelimit-reset-tokens': '7s',
    },
    MINUTE,
  ],
  ['Retry-After first', { 'retry-after': '3', 'x-ratelimit-reset-requests': '6m0s' }, 3_000],
  [
    'nothing that cannot be read',
    { 'x-ratelimit-reset-requests': 'soon', 'x-ratelimit-remaining-requests': '0' },
    null,
  ],
  ['no limits', { 'x-ratelimit-limit-requests': '60', 'x-ratelimit-remaining-requests': '0' }, null],
])('of a 429 without Retry-After, reads %s', (_, headers, milliseconds) => {
  expect(readRetryAfter({ status: 429, headers: new Headers(headers) }, NOW)).toBe(milliseconds)
})

test('reads resets of a 429 alone: some providers send them with each response', () => {
  expect(
    readRetryAfter({ status: 503, headers: new Headers({ 'x-ratelimit-reset-requests': '6m0s' }) }, NOW),
  ).toBeNull()
})
