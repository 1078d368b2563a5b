import fc from 'fast-check'
import { toSql } from 'pgvector'
import { expect, test } from 'vitest'
import { formatVector } from '../../../src/postgres/vectors.ts'

const GREATEST = 2_047

test('writes each number as pgvector does', () => {
  const numbers = Array.from({ length: 2 * GREATEST + 1 }, (_, i) => i - GREATEST)
  expect(formatVector(Float32Array.from(numbers))).toBe(toSql(numbers))
})

test('scales a vector to whole numbers, without effects on the next', () => {
  const vectors = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true, min: -1, max: 1 }), { maxLength: 600 })
  fc.assert(
    fc.property(vectors, numbers => {
      const greatest = Math.max(...numbers.map(Math.abs))
      const scale = greatest > 0 ? GREATEST / greatest : 0
      // `+ 0` turns negative zero into zero.
      expect(formatVector(Float32Array.from(numbers))).toBe(toSql(numbers.map(each => Math.round(each * scale) + 0)))
    }),
  )
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, -1e39])('rejects a vector with %d', number => {
  expect(() => formatVector(Float32Array.of(1, number, 2))).toThrow(RangeError)
})
