import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { packVector, unpackFloats, unpackNumbers } from '../../../src/vector-cache/pack-vector.ts'
import { shortestDecimal } from '../../../src/vector-cache/shortest-decimal.ts'

/** A unit vector as models make them: components spread normally. */
function makeVector(dimensions: number, seed: number): Float32Array {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 1) / 2 ** 32
  }
  const normal = () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next())
  const values = Array.from({ length: dimensions }, normal)
  const length = Math.hypot(...values)
  return Float32Array.from(values, value => value / length)
}

function pack(numbers: Float32Array | readonly number[]): Uint8Array {
  const packed = packVector(numbers)
  if (!packed) throw new Error('The vector was not packed')
  return packed
}

/** The shortest decimal by trying all of them: slow, and sure. */
function trySmallestDecimal(float: number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const decimal = Number(float.toPrecision(digits))
    if (Math.fround(decimal) === float) return decimal
  }
  return float
}

describe('packVector', () => {
  test('gives 32-bit floats back bit by bit', () => {
    const vector = makeVector(1_536, 1)
    const packed = pack(vector)
    expect(unpackFloats(packed)).toEqual(vector)
    expect(unpackNumbers(packed)).toEqual(vector)
  })

  test('gives any finite 32-bit floats back, signed zeros and the smallest included', () => {
    const float = fc.float({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(fc.array(float, { minLength: 1, maxLength: 70 }), numbers => {
        const floats = Float32Array.from(numbers)
        expect(unpackFloats(pack(floats))).toEqual(floats)
        expect(Array.from(unpackNumbers(pack(numbers)))).toEqual(numbers)
      }),
    )
  })

  test('gives any finite doubles back', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(fc.array(double, { minLength: 1, maxLength: 70 }), numbers => {
        expect(Array.from(unpackNumbers(pack(numbers)))).toEqual(numbers)
      }),
    )
  })

  test('keeps the decimals that a server wrote its floats by, in no more room than the floats', () => {
    const floats = makeVector(1_536, 2)
    const decimals = Array.from(floats, trySmallestDecimal)
    expect(decimals).not.toEqual(Array.from(floats))
    const packed = pack(decimals)
    expect(Array.from(unpackNumbers(packed))).toEqual(decimals)
    expect(unpackFloats(packed)).toEqual(floats)
    expect(packed.length).toBeLessThan(6_250)
  })

  test('keeps a few numbers that are no float among many that are', () => {
    const decimals = Array.from(makeVector(1_536, 3), trySmallestDecimal)
    decimals[7] = 1 / 3
    decimals[1_535] = -2 / 3
    const packed = pack(decimals)
    expect(Array.from(unpackNumbers(packed))).toEqual(decimals)
    expect(packed.length).toBeLessThan(6_250)
  })

  test('keeps whole numbers of quantized vectors', () => {
    const numbers = Array.from({ length: 1_024 }, (_, at) => (at % 256) - 128)
    expect(Array.from(unpackNumbers(pack(numbers)))).toEqual(numbers)
  })

  test('takes four bytes a number, and eight where numbers are doubles', () => {
    expect(pack(makeVector(1_536, 4)).length).toBe(3 + 4 * 1_536)
    const doubles = Array.from({ length: 1_536 }, (_, at) => Math.sin(at + 1))
    expect(pack(doubles).length).toBe(3 + 8 * 1_536)
    expect(Array.from(unpackNumbers(pack(doubles)))).toEqual(doubles)
    expect(unpackFloats(pack(doubles))).toEqual(Float32Array.from(doubles))
  })

  test('reads bytes that lie anywhere in a larger buffer', () => {
    for (const numbers of [makeVector(9, 5), [1 / 3, 2 / 3, 0.1]]) {
      const packed = pack(numbers)
      const within = Buffer.concat([Buffer.from('abc'), packed, Buffer.from('d')]).subarray(3, 3 + packed.length)
      expect(Array.from(unpackNumbers(within))).toEqual(Array.from(numbers))
    }
  })

  test.each([
    ['no numbers', []],
    ['a number that is none', [0.1, Number.NaN]],
    ['an infinite one', Float32Array.of(Number.POSITIVE_INFINITY)],
    ['more numbers than any model gives', new Float32Array(70_000)],
  ])('refuses %s', (_, numbers) => {
    expect(packVector(numbers)).toBeNull()
  })
})

describe('shortestDecimal', () => {
  test('is the shortest that rounds to the float', () => {
    fc.assert(
      fc.property(fc.float({ min: Math.fround(1e-6), max: 1, noNaN: true }), float => {
        expect(shortestDecimal(float)).toBe(trySmallestDecimal(float))
        expect(shortestDecimal(-float)).toBe(-trySmallestDecimal(float))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([0, -0, 0.5, 1, 123_456, 1e-20, 3e38])('gives %d back', number => {
    expect(shortestDecimal(Math.fround(number))).toBe(Math.fround(number))
  })

  test('knows the float of 0.1', () => {
    expect(shortestDecimal(Math.fround(0.1))).toBe(0.1)
  })
})
