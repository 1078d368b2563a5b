/**
 * Packs a vector into bytes, from which every number comes back exactly as the upstream gave it: 32-bit floats where they are such, as all in
 * base64 are, else doubles. JSON usually has a float's rounded decimal, which is another number.
 */

/** 32-bit floats if they came as such; else the numbers in the JSON. */
export type GivenNumbers = Float32Array | readonly number[]

/** Part of every vector's name: a vector packed by a version with another form is not found. */
export const PACKED_FORM = 3

const FLOATS = 1
const DOUBLES = 2
const MOST_DIMENSIONS = 65_535

/** Returns null for a vector that cannot be stored: without numbers, with too many, or with one that is not finite. */
export function packVector(numbers: GivenNumbers): Uint8Array | null {
  if (numbers.length === 0 || numbers.length > MOST_DIMENSIONS || !numbers.every(Number.isFinite)) return null
  if (numbers instanceof Float32Array) return pack(FLOATS, numbers)
  const areFloats = numbers.every(number => Math.fround(number) === number)
  return areFloats ? pack(FLOATS, Float32Array.from(numbers)) : pack(DOUBLES, Float64Array.from(numbers))
}

/** The numbers as given. */
export function unpackNumbers(packed: Uint8Array): Float32Array | Float64Array {
  // A copy, because floats and doubles must start at a multiple of their size.
  const { buffer } = new Uint8Array(packed.subarray(1))
  return packed[0] === DOUBLES ? new Float64Array(buffer) : new Float32Array(buffer)
}

/** The numbers as 32-bit floats, as the upstream's base64 has them. */
export function unpackFloats(packed: Uint8Array): Float32Array {
  const numbers = unpackNumbers(packed)
  return numbers instanceof Float32Array ? numbers : Float32Array.from(numbers)
}

function pack(form: number, numbers: Float32Array | Float64Array): Uint8Array {
  return Buffer.concat([Uint8Array.of(form), new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)])
}
