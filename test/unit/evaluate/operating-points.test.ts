import { expect, test } from 'vitest'
import { choosePoints, curveOf, type ScoredPair } from '../../../scripts/evaluate/operating-points.ts'

/** 200 same pairs at the log odds 200 to 1, and 4,000 different ones: these, and the rest far below. */
function pairs(different: readonly number[], isVetoed = false): ScoredPair[] {
  const pair = (label: 0 | 1, logOdds: number) => ({ label, logOdds, isVetoed: label === 0 && isVetoed })
  return [
    ...Array.from({ length: 200 }, (_, at) => pair(1, 200 - at)),
    ...Array.from({ length: 4_000 }, (_, at) => pair(0, different[at] ?? -1 - at)),
  ]
}

test('chooses the lowest log odds at which at most so many of the different pairs are served', () => {
  // 4, 16 and 68 of 4,000.
  const different = Array.from({ length: 150 }, (_, at) => 150.5 - 2 * at)
  const curve = curveOf(pairs(different))
  expect(choosePoints(curve)).toEqual({ careful: 143, balanced: 119, generous: 15 })
  expect(curve.find(({ logOdds }) => logOdds === 143)).toEqual({
    logOdds: 143,
    same: 58 / 200,
    different: 4 / 4_000,
    wrong: 4 / 4_000 / (58 / 200 + 4 / 4_000),
  })
})

test('counts no pair that a law forbids', () => {
  expect(choosePoints(curveOf(pairs([110.5, 60.5, 40.5], true)))).toMatchObject({ careful: 1, generous: 1 })
  expect(() => choosePoints(curveOf([]))).toThrow('no log odds at which at most 0.1 %')
})
