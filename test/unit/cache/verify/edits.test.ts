import { expect, test } from 'vitest'
import { fitEditWeights } from '../../../../scripts/evaluate/edit-weights.ts'
import { EDITS } from '../../../../src/cache/verify/compared-pair.ts'
import { sumWeights } from '../../../../src/cache/verify/edits.ts'
import { pairFeatures } from '../../../../src/cache/verify/pair-features.ts'
import { readQuestion } from '../../../../src/cache/verify/question-words.ts'
import { readModel } from '../../../../src/cache/verify/trees.ts'

function editsOf(one: string, other: string): readonly string[] {
  let found: readonly string[] = []
  pairFeatures(readQuestion(one), readQuestion(other), null, edits => {
    found = edits
    return 0
  })
  return found
}

test('names words of one question alone, words for others, other openings, and the stretches between equal words', () => {
  expect(editsOf('how do I bake bread', 'how do I bake white bread')).toEqual([
    '+ white',
    'rest  / white',
    'at  / white',
  ])
  expect(editsOf('how do I bake bread', 'why do I cook bread')).toEqual([
    ...['for how / why', 'for cook / how', 'for bake / why', 'for bake / cook'],
    ...['rest bake how / cook why', 'opening how / why', 'opening how do / why do', 'opening how do i / why do i'],
    ...['at how / why', 'at bake / cook'],
  ])
  // Words that only moved are in the stretches, and exchanged with others.
  expect(editsOf('in Go how do I sort', 'how do I sort in Go')).toEqual([
    ...['rest  / ', 'opening how / in', 'opening how do / in go', 'opening how do i / in go how'],
    ...['at  / in go', 'at  / in go', 'exchanged how do i / in'],
  ])
  expect(editsOf('how do I bake bread', 'how do I bake bread')).toEqual(['rest  / '])
})

test('names two words that are the other way round by what stands between them', () => {
  const exchanges = (one: string, other: string) => editsOf(one, other).filter(edit => edit.startsWith('exchanged'))
  // The adverb "instead" is content too, and is exchanged with each of the two.
  expect(exchanges('can I use oil instead of butter', 'can I use butter instead of oil')).toEqual([
    ...['exchanged  / of', 'exchanged instead of / instead of', 'exchanged r of / r of', 'exchanged  / of'],
  ])
  expect(exchanges('the capital of France', 'France capital')).toEqual(['exchanged  / of'])
  expect(exchanges('how do I bake bread', 'how do I bake white bread')).toEqual([])
  // Further apart, what stands between them hardly occurs twice.
  const far = 'that all the other people on this planet like'
  expect(exchanges(`do cats ${far} dogs`, `do dogs ${far} cats`)).not.toContainEqual(expect.stringContaining('people'))
})

test('names the same edits in either order', () => {
  const pair = ['what is the best way to bake white bread', 'how can a beginner bake bread at home'] as const
  expect(editsOf(...pair)).toEqual(editsOf(pair[1], pair[0]))
})

test('does not name long stretches, nor many words for many others', () => {
  const edits = editsOf('how do I bake big soft round white bread', 'how do I cook thin hard square dark old cakes')
  expect(edits).toContain('long')
  expect(edits.filter(edit => /^(?:for|at|\+) /.test(edit))).toEqual([])
})

test('is one of the numbers of a pair, by the weights of its model', () => {
  const edits = editsOf('how do I bake bread', 'how do I bake white bread')
  const numberBy = (cosine: number | null) =>
    pairFeatures(readQuestion('how do I bake bread'), readQuestion('how do I bake white bread'), cosine).get(EDITS)
  const sumBy = (name: 'words' | 'cosine') => sumWeights(edits, new Map(Object.entries(readModel(name).edits)))
  expect(numberBy(null)).toBeCloseTo(sumBy('words'), 5)
  expect(numberBy(0.9)).toBeCloseTo(sumBy('cosine'), 5)
})

const row = (label: 0 | 1, edits: readonly string[], trained: number, set = 'x') => ({
  label,
  edits,
  trained,
  set,
  weight: 1,
})

test('weights of edits are those of rows that are trained on, and a row is summed by weights that do not know it', () => {
  const everyFold = 0b11111
  const inFold = (fold: number) => everyFold & ~(1 << fold)
  const rows = [
    ...Array.from({ length: 40 }, (_, at) => row(1, ['harmless'], inFold(at % 4))),
    ...Array.from({ length: 40 }, (_, at) => row(0, ['harmful'], inFold(at % 4))),
    // Seen in one fold only, so that the weights without that fold do not know it.
    ...Array.from({ length: 10 }, () => row(0, ['secret'], inFold(0))),
    // Never trained on, and too rare.
    ...Array.from({ length: 40 }, () => row(1, ['harmful', 'unseen'], 0)),
    ...Array.from({ length: 3 }, () => row(0, ['rare'], inFold(1))),
  ]
  const { weights, sums } = fitEditWeights(rows, () => {})
  expect(weights.harmless).toBeGreaterThan(0.5)
  expect(weights.harmful).toBeLessThan(-0.5)
  expect(weights.secret).toBeLessThan(0)
  expect([weights.unseen, weights.rare]).toEqual([undefined, undefined])
  const known = new Map(Object.entries(weights))
  expect(sums[120]).toBeCloseTo(sumWeights(['harmful', 'unseen'], known), 9)
  expect(sums[80]).toBeGreaterThan(sumWeights(['secret'], known))
})
