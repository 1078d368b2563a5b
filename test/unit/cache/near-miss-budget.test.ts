import { expect, test } from 'vitest'
import { createNearMissBudget } from '../../../src/cache/near-miss-budget.ts'

test('of one group twenty are taken, and each group has its own', () => {
  const take = createNearMissBudget()
  const takeMany = (project: number, context: string) => Array.from({ length: 30 }, () => take(project, context))
  expect(takeMany(1, 'a').filter(Boolean)).toHaveLength(20)
  expect(take(1, 'b')).toBe(true)
  expect(take(2, 'a')).toBe(true)
  expect(take(1, 'a')).toBe(false)
})
