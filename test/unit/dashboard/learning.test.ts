import { expect, test } from 'vitest'
import { chooseJudgeModel, estimateDailyPairs, estimatePairCost } from '../../../src/dashboard/pages/judge-cost.ts'
import type { Calibration, Route } from '../../../src/dashboard/pages/types.ts'

const NOW = 1_800_000_000
const DAY = 86_400

const route = (fields: Partial<Route> = {}): Route => ({
  ...{ id: 'm', object: 'project.route', model: 'm', kind: 'chat', provider: 'openai', problem: null },
  ...{ input_usd_per_million: 0.4, output_usd_per_million: 1.6, ...fields },
})

function bands(stopped: Record<number, number>): Calibration['histogram'] {
  const none = { served: 9, saved_usd: 0, missed_usd: 0, same: 0, different: 0 }
  return Array.from({ length: 50 }, (_, at) => {
    const at_least = (at + 50) / 100
    return { ...none, at_least, stopped: stopped[at_least] ?? 0 }
  })
}

test('the judge is the first chat model with a known price that a provider serves', () => {
  const unknown = [route({ kind: 'embedding' }), route({ provider: null }), route({ input_usd_per_million: null })]
  expect(chooseJudgeModel([...unknown, route({ output_usd_per_million: null })])).toBeUndefined()
  expect(chooseJudgeModel([...unknown, route({ id: 'a' }), route({ id: 'b' })])?.id).toBe('a')
})

test('a pair costs two calls', () => {
  const judge = chooseJudgeModel([route()])
  expect(judge && estimatePairCost(judge)).toBeCloseTo(2 * (500 * 0.4e-6 + 10 * 1.6e-6), 12)
})

test.each([
  ['of a week', { 0.95: 7, 0.99: 7 }, 0.8, 30 * DAY, 2],
  ['of a project’s first two days', { 0.95: 7, 0.99: 7 }, 0.8, 2 * DAY, 7],
  ['of a project’s first hour, counted as a day', { 0.95: 7 }, 0.8, 3_600, 7],
  ['below the threshold', { 0.94: 12 }, 0.8, DAY, 12],
  ['at and above the floor', { 0.89: 12, 0.9: 12 }, 0.9, DAY, 12],
  ['none', {}, 0.8, DAY, 0],
])('near misses %s are so many pairs a day', (_, stopped, floor, age, expected) => {
  expect(estimateDailyPairs(bands(stopped), floor, NOW - age, NOW)).toBeCloseTo(expected, 9)
})
