import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pairFeatures } from '../../../../src/cache/verify/pair-features.ts'
import { readQuestion } from '../../../../src/cache/verify/question-words.ts'
import {
  findStrongest,
  type ModelName,
  modelNames,
  readModel,
  scoreFeatures,
} from '../../../../src/cache/verify/trees.ts'

interface ParityPair {
  readonly a: string
  readonly b: string
  readonly cosine: number
  /** LightGBM's, by model. */
  readonly probabilities: Readonly<Record<ModelName, number>>
}

/** Normalized texts of board authors, written by `train-verifier`. */
const pairs = readFileSync(join(import.meta.dirname, '../../../fixtures/verifier-parity.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line) as ParityPair)

const featuresFor = (name: ModelName, { a, b, cosine }: ParityPair) =>
  pairFeatures(readQuestion(a), readQuestion(b), name === 'cosine' ? cosine : null)

test.each(modelNames)('scores pairs by the model "%s" as LightGBM does, in either order', name => {
  const probability = (pair: ParityPair) => 1 / (1 + Math.exp(-scoreFeatures(featuresFor(name, pair))))
  const differs = pairs.filter(
    pair =>
      Math.abs(probability(pair) - pair.probabilities[name]) > 1e-4 ||
      probability(pair) !== probability({ ...pair, a: pair.b, b: pair.a }),
  )
  expect(differs).toEqual([])
  expect(pairs).toHaveLength(300)
  expect(new Set(pairs.map(({ probabilities }) => probabilities[name])).size).toBeGreaterThan(250)
})

test.each(modelNames)('knows every number that the model "%s" uses', name => {
  const { features, trees, space } = readModel(name)
  const { names } = pairFeatures(readQuestion('how do I bake bread'), readQuestion('how can I bake a cake'), 0.9)
  expect(features.filter(feature => !names.includes(feature))).toEqual([])
  expect(Math.max(...trees.flatMap(({ feature }) => feature))).toBe(features.length - 1)
  expect([features.includes('cosine'), space !== null]).toEqual([name === 'cosine', name === 'cosine'])
})

test.each(modelNames)('divides the distance from the mean log odds of the model "%s" among the numbers', name => {
  const mean = readModel(name).trees.reduce((sum, tree) => sum + (tree.mean[0] ?? 0), 0)
  for (const pair of pairs.slice(0, 20)) {
    const features = featuresFor(name, pair)
    const against = findStrongest(features, 3)
    expect(against).toEqual(findStrongest(features, 1_000).slice(0, 3))
    expect(against.map(([, effect]) => effect)).toEqual(against.map(([, effect]) => effect).sort((x, y) => x - y))
    const least = findStrongest(features, 1_000).reduce((sum, [, effect]) => sum + effect, mean)
    // The numbers that spoke for the pair are left out.
    expect(scoreFeatures(features)).toBeGreaterThanOrEqual(least - 1e-3)
  }
})
