import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pairFeatures } from '../../../../src/cache/verify/pair-features.ts'
import { readQuestion } from '../../../../src/cache/verify/question-words.ts'
import { findStrongest, readModel, scoreFeatures } from '../../../../src/cache/verify/trees.ts'

interface ParityPair {
  readonly a: string
  readonly b: string
  /** LightGBM's. */
  readonly probability: number
}

/** Normalized texts of board authors, written by `train-verifier`. */
const pairs = readFileSync(join(import.meta.dirname, '../../../fixtures/verifier-parity.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line) as ParityPair)

const featuresOf = (one: string, other: string) => pairFeatures(readQuestion(one), readQuestion(other))

test('scores pairs as LightGBM does, in either order', () => {
  const probability = (one: string, other: string) => 1 / (1 + Math.exp(-scoreFeatures(featuresOf(one, other))))
  const differs = pairs.filter(
    ({ a, b, probability: wanted }) =>
      Math.abs(probability(a, b) - wanted) > 1e-4 || probability(a, b) !== probability(b, a),
  )
  expect(differs).toEqual([])
  expect(pairs).toHaveLength(300)
  expect(new Set(pairs.map(pair => pair.probability)).size).toBeGreaterThan(250)
})

test('knows every number that the model uses', () => {
  const { features, trees } = readModel()
  const { names } = featuresOf('how do I bake bread', 'how can I bake a cake')
  expect(features.filter(name => !names.includes(name))).toEqual([])
  expect(Math.max(...trees.flatMap(({ feature }) => feature))).toBe(features.length - 1)
})

test('divides the distance from the mean log odds among the numbers', () => {
  const mean = readModel().trees.reduce((sum, tree) => sum + (tree.mean[0] ?? 0), 0)
  for (const { a, b } of pairs.slice(0, 20)) {
    const features = featuresOf(a, b)
    const against = findStrongest(features, 3)
    expect(against).toEqual(findStrongest(features, 1_000).slice(0, 3))
    expect(against.map(([, effect]) => effect)).toEqual(against.map(([, effect]) => effect).sort((x, y) => x - y))
    const least = findStrongest(features, 1_000).reduce((sum, [, effect]) => sum + effect, mean)
    // The numbers that spoke for the pair are left out.
    expect(scoreFeatures(features)).toBeGreaterThanOrEqual(least - 1e-3)
  }
})
