import { expect, test } from 'vitest'
import { sumUsage } from '../../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'

const record: UsageRecord = {
  recorded_at: '2026-03-01T09:59:59.999Z',
  request_id: 'a',
  project_id: 1,
  key_id: 2,
  endpoint: 'chat',
  model: 'm',
  provider: 'openrouter',
  cache_result: 'MISS',
  status: 200,
  streamed: false,
  prompt_tokens: 10,
  cached_prompt_tokens: 4,
  completion_tokens: 3,
  tokens_saved: 0,
  cost_usd: 0.25,
  saved_usd: 0,
  latency_ms: 8,
  duration_ms: 9,
}

test('sums records that agree', () => {
  const again = { ...record, request_id: 'b', streamed: true, status: 201, latency_ms: 9, duration_ms: 20 }
  expect(sumUsage([record, again])).toEqual([
    {
      project_id: 1,
      at: '2026-03-01T09:45:00.000Z',
      key_id: 2,
      endpoint: 'chat',
      model: 'm',
      provider: 'openrouter',
      cache_result: 'MISS',
      status_class: 2,
      requests: 2,
      prompt_tokens: 20,
      cached_prompt_tokens: 8,
      completion_tokens: 6,
      tokens_saved: 0,
      cost_usd: 0.5,
      saved_usd: 0,
      latency_ms: 17,
      duration_ms: 29,
      slow_requests: 0,
      end_user: null,
      provider_keys: null,
      bucket: 12,
      tags: null,
      miss_reason: '',
    },
  ])
})

test.each<[string, Partial<UsageRecord>]>([
  ['the project', { project_id: 3 }],
  ['the key', { key_id: 3 }],
  ['the quarter of an hour', { recorded_at: '2026-03-01T10:00:00.000Z' }],
  ['the endpoint', { endpoint: 'embeddings' }],
  ['the end user', { end_user: 'ada' }],
  ['the provider keys', { provider_keys: 'main' }],
  ['the model', { model: 'another' }],
  ['the provider', { provider: null }],
  ['the cache result', { cache_result: null }],
  ['the reason of a miss', { cache_reason: 'expired' }],
  ['the tags', { tags: { team: 'search' } }],
  ['the status class', { status: 502 }],
  ['the latency bucket (a quarter of an octave)', { latency_ms: 9.6 }],
])('%s separates records', (_, difference) => {
  const sums = sumUsage([record, { ...record, ...difference }])
  expect(sums.map(sum => sum.requests)).toEqual([1, 1])
})

test('a request is slow from one second on, as PostgreSQL rounds it', () => {
  const [sum] = sumUsage([999.9, 999.99999, 1000, 5000].map(duration_ms => ({ ...record, duration_ms })))
  expect(sum).toMatchObject({ requests: 4, slow_requests: 3 })
})

test('writes a missing value as no text, and puts the shortest latency into a bucket', () => {
  const [sum] = sumUsage([{ ...record, provider: null, cache_result: null, latency_ms: 0 }])
  expect(sum).toMatchObject({ provider: '', cache_result: '', bucket: -27 })
})
