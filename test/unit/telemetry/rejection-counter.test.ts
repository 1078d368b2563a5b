import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRejectionCounter } from '../../../src/telemetry/rejection-counter.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('logs each reason at most once a second, with count and addresses', () => {
  const info = vi.fn()
  const refusals = createRejectionCounter({ info })
  refusals.record('invalid_api_key', '192.0.2.1')
  for (let i = 0; i < 30; i++) refusals.record('invalid_api_key', i % 3 === 0 ? '192.0.2.1' : '2001:db8:0:1::/64')
  refusals.record('rate_limit_exceeded', '192.0.2.1')
  expect(info.mock.calls.map(([fields]) => [fields.reason, fields.count])).toEqual([
    ['invalid_api_key', 1],
    ['rate_limit_exceeded', 1],
  ])
  vi.advanceTimersByTime(1_000)
  expect(info.mock.calls.slice(2).map(([fields]) => fields)).toEqual([
    {
      reason: 'invalid_api_key',
      count: 30,
      total: 31,
      addresses: { '2001:db8:0:1::/64': 20, '192.0.2.1': 10 },
    },
  ])
  // After a quiet second, the next rejection is logged at once.
  vi.advanceTimersByTime(2_000)
  refusals.record('invalid_api_key', '192.0.2.1')
  expect(info).toHaveBeenCalledTimes(4)
  expect(refusals.totals()).toEqual({ invalid_api_key: 32, rate_limit_exceeded: 1 })
})

test('counts addresses beyond the limit together', () => {
  const info = vi.fn()
  const refusals = createRejectionCounter({ info })
  for (let i = 0; i < 12_000; i++) refusals.record('missing_api_key', `address ${i}`)
  vi.advanceTimersByTime(1_000)
  expect(info.mock.calls[1]?.[0].addresses).toMatchObject({ others: 1_999 })
})

test('counts by key, each rejection once, and made-up keys beyond the limit as none', () => {
  const rejections = createRejectionCounter({ info: vi.fn() })
  for (const key of ['a', 'a', 'b', undefined]) rejections.record('rate_limit_exceeded', '192.0.2.1', key)
  rejections.record('invalid_api_key', '192.0.2.1', 'a')
  expect(rejections.take()).toEqual([
    { reason: 'rate_limit_exceeded', keyHash: 'a', count: 2 },
    { reason: 'rate_limit_exceeded', keyHash: 'b', count: 1 },
    { reason: 'rate_limit_exceeded', keyHash: '', count: 1 },
    { reason: 'invalid_api_key', keyHash: 'a', count: 1 },
  ])
  expect(rejections.take()).toEqual([])
  for (let i = 0; i < 12_000; i++) rejections.record('invalid_api_key', '192.0.2.1', `${i}`)
  const taken = rejections.take()
  expect(taken.length).toBe(10_001)
  expect(taken.at(-1)).toEqual({ reason: 'invalid_api_key', keyHash: '', count: 2_000 })
  expect(rejections.totals()).toEqual({ rate_limit_exceeded: 4, invalid_api_key: 12_001 })
})
