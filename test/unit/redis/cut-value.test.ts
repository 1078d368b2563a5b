import { describe, expect, test } from 'vitest'
import { cutValue, joinValue } from '../../../src/redis/cut-value.ts'

function makeBytes(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (at * 7) & 255)
}

describe('cutValue', () => {
  test.each([1, 100, 900, 1_800, 2_720, 3_600, 4_090, 5_420, 6_144, 10_800, 100_000])(
    'comes back whole from %d bytes',
    length => {
      const { head, rest } = cutValue(makeBytes(length))
      expect(Buffer.from(joinValue(head, rest) ?? [])).toEqual(Buffer.from(makeBytes(length)))
    },
  )

  test('cuts a vector of 1,536 dimensions where the allocator has room of just that size', () => {
    const { head, rest } = cutValue(makeBytes(5_420))
    expect(head.length).toBe(5_120 - 6)
    expect(rest?.length).toBeLessThan(320)
  })

  test('leaves values whole that fill the room they get', () => {
    expect(cutValue(makeBytes(100)).rest).toBeNull()
    expect(cutValue(makeBytes(5_100)).rest).toBeNull()
  })

  test('does not take parts of two writings for one value', () => {
    const one = cutValue(makeBytes(5_420))
    const other = cutValue(makeBytes(5_420))
    expect(joinValue(one.head, other.rest)).toBeNull()
  })

  test('misses a value of which a part is gone', () => {
    const { head, rest } = cutValue(makeBytes(5_420))
    expect(joinValue(head, null)).toBeNull()
    expect(joinValue(null, rest)).toBeNull()
    expect(joinValue(Buffer.alloc(0), null)).toBeNull()
    expect(joinValue(Buffer.from([9, 1, 2]), null)).toBeNull()
  })
})
