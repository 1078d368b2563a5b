import { expect, test } from 'vitest'
import { rankKeysByAffinity } from '../../../src/providers/balance-keys.ts'

const beginnings = Array.from({ length: 20_000 }, (_, at) => `prompt ${at}`)
const firstOf = (weights: Record<string, number>) => {
  const keys = Object.entries(weights).map(([name, weight]) => ({ name, weight }))
  return beginnings.map(beginning => rankKeysByAffinity(keys, beginning)[0]?.name)
}
const shareOf = (firsts: readonly unknown[], name: string) =>
  firsts.filter(first => first === name).length / firsts.length

test('chooses keys by their weights', () => {
  const firsts = firstOf({ a: 1, b: 3, c: 6 })
  for (const [name, share] of Object.entries({ a: 0.1, b: 0.3, c: 0.6 })) {
    expect(Math.abs(shareOf(firsts, name) - share)).toBeLessThan(0.015)
  }
})

test('a new key gets its share, and no other request moves', () => {
  const before = firstOf({ a: 1, b: 1 })
  const after = firstOf({ a: 1, b: 1, c: 2 })
  expect(after.every((name, at) => name === before[at] || name === 'c')).toBe(true)
  expect(Math.abs(shareOf(after, 'c') - 0.5)).toBeLessThan(0.015)
})
