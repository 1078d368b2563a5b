import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { writeNumbers } from '../../../src/pipeline/embeddings/write-numbers.ts'

function reread(numbers: Float32Array | Float64Array): number[] {
  return JSON.parse(`[${new TextDecoder().decode(writeNumbers(numbers))}]`)
}

describe('writeNumbers', () => {
  test('writes 32-bit floats of any size exactly', () => {
    const float = fc.float({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(fc.float32Array({ noNaN: true, noDefaultInfinity: true, maxLength: 50 }), floats => {
        expect(reread(floats)).toEqual(Array.from(floats))
      }),
    )
    fc.assert(
      fc.property(float, number => {
        expect(reread(Float32Array.of(number))).toEqual([number])
      }),
      { numRuns: 1_000 },
    )
  })

  test('writes the floats of vectors exactly, every bit pattern from the smallest to 1', () => {
    // Every exponent that vectors have, and mantissas all over the range.
    const floats: number[] = []
    for (let exponent = 100; exponent <= 127; exponent++) {
      for (let mantissa = 0; mantissa < 2 ** 23; mantissa += 99_991) {
        floats.push(new Float32Array(Uint32Array.of((exponent << 23) | mantissa).buffer)[0] ?? 0)
      }
      floats.push(new Float32Array(Uint32Array.of((exponent << 23) | 0x7fffff).buffer)[0] ?? 0)
    }
    expect(reread(Float32Array.from(floats))).toEqual(floats)
    expect(reread(Float32Array.from(floats, float => -float))).toEqual(floats.map(float => -float))
  })

  test('writes doubles of any size exactly', () => {
    fc.assert(
      fc.property(fc.float64Array({ noNaN: true, noDefaultInfinity: true, maxLength: 50 }), doubles => {
        expect(reread(doubles)).toEqual(Array.from(doubles))
      }),
    )
  })

  test('writes short decimals exactly', () => {
    const decimal = fc.tuple(fc.integer({ min: -999_999_999, max: 999_999_999 }), fc.integer({ min: 0, max: 15 }))
    fc.assert(
      fc.property(decimal, ([digits, places]) => {
        const number = Number(`${digits}e-${places}`)
        expect(reread(Float64Array.of(number))).toEqual([number])
      }),
      { numRuns: 2_000 },
    )
  })

  test('writes what is not between 0 and 1', () => {
    const numbers = [0, -0, 1, -1, 0.5, 2, 1e21, 5e-324, 1.797_693_134_862_315_7e308, -123.25, 0.999_999_999_999_9]
    expect(reread(Float64Array.from(numbers))).toEqual(numbers)
    expect(reread(new Float32Array(0))).toEqual([])
  })
})
