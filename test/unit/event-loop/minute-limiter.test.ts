import { expect, test } from 'vitest'
import { createMinuteLimiter } from '../../../src/event-loop/minute-limiter.ts'

test('limits each group separately', () => {
  const take = createMinuteLimiter(20)
  const takeMany = (group: string) => Array.from({ length: 30 }, () => take(group))
  expect(takeMany('1 a').filter(Boolean)).toHaveLength(20)
  expect(take('1 b')).toBe(true)
  expect(take('2 a')).toBe(true)
  expect(take('1 a')).toBe(false)
})
