import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { packVector, unpackFloats, unpackVector } from '../../../../src/cache/vectors/pack-vector.ts'

/** A unit vector with normally distributed components, as embedding models return them. */
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

describe('packVector', () => {
  test('preserves 32-bit floats bit by bit', () => {
    const vector = makeVector(1_536, 1)
    const packed = pack(vector)
    expect(unpackFloats(packed)).toEqual(vector)
    expect(unpackVector(packed)).toEqual(vector)
  })

  test('preserves any finite 32-bit floats, signed zeros and the smallest included', () => {
    const float = fc.float({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(fc.array(float, { minLength: 1, maxLength: 70 }), numbers => {
        const floats = Float32Array.from(numbers)
        expect(unpackFloats(pack(floats))).toEqual(floats)
        expect(Array.from(unpackVector(pack(numbers)))).toEqual(numbers)
      }),
    )
  })

  test('preserves any finite doubles', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(fc.array(double, { minLength: 1, maxLength: 70 }), numbers => {
        expect(Array.from(unpackVector(pack(numbers)))).toEqual(numbers)
      }),
    )
  })

  test('preserves integers of quantized vectors', () => {
    const numbers = Array.from({ length: 1_024 }, (_, at) => (at % 256) - 128)
    expect(Array.from(unpackVector(pack(numbers)))).toEqual(numbers)
  })

  test('uses four bytes a number, and eight for doubles', () => {
    expect(pack(makeVector(1_536, 4)).length).toBe(1 + 4 * 1_536)
    const doubles = Array.from({ length: 1_536 }, (_, at) => Math.sin(at + 1))
    expect(pack(doubles).length).toBe(1 + 8 * 1_536)
    expect(Array.from(unpackVector(pack(doubles)))).toEqual(doubles)
    expect(unpackFloats(pack(doubles))).toEqual(Float32Array.from(doubles))
  })

  test('reads bytes at any offset of a larger buffer', () => {
    for (const numbers of [makeVector(9, 5), [1 / 3, 2 / 3, 0.1]]) {
      const packed = pack(numbers)
      const within = Buffer.concat([Buffer.from('abc'), packed, Buffer.from('d')]).subarray(3, 3 + packed.length)
      expect(Array.from(unpackVector(within))).toEqual(Array.from(numbers))
    }
  })

  test.each([
    ['no numbers', []],
    ['NaN', [0.1, Number.NaN]],
    ['an infinite number', Float32Array.of(Number.POSITIVE_INFINITY)],
    ['more numbers than any model returns', new Float32Array(70_000)],
  ])('rejects %s', (_, numbers) => {
    expect(packVector(numbers)).toBeNull()
  })
})
