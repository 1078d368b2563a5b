/**
 * Packs a vector into bytes, from which every number comes back exactly as the upstream gave it.
 *
 * Upstreams compute in 32-bit floats. Base64 carries exactly these; JSON has either a float's exact value or its shortest decimal, which
 * is another number. All three are stored as floats, four bytes a number. Numbers that are not a float's are stored as exceptions, or the
 * whole vector as doubles.
 */
import { shortestDecimal } from './shortest-decimal.ts'

/** 32-bit floats if they came as such; else the numbers in the JSON. */
export type GivenNumbers = Float32Array | readonly number[]

/** Part of every vector's name: a vector packed by a version with another form is not found. */
export const PACKED_FORM = 2

/** Numbers are the floats themselves. */
const FLOATS = 1
/** Numbers are the floats' shortest decimals, but for the exceptions behind them. */
const DECIMALS = 2
/** Numbers are doubles, eight bytes each. */
const DOUBLES = 3

/** Form, exceptions: 1 and 2 bytes. */
const HEADER_BYTES = 3
const MOST_DIMENSIONS = 65_535
/** A number's index and its double. */
const EXCEPTION_BYTES = 10
/** If more than one number in this many is an exception, doubles take less room. */
const NUMBERS_AN_EXCEPTION = 4

/** Returns null for a vector that cannot be stored: without numbers, with too many, or with one that is not finite. */
export function packVector(numbers: GivenNumbers): Uint8Array | null {
  if (numbers.length === 0 || numbers.length > MOST_DIMENSIONS || !areFinite(numbers)) return null
  if (numbers instanceof Float32Array) return pack(FLOATS, numbers)
  const floats = Float32Array.from(numbers)
  if (!areFinite(floats)) return pack(DOUBLES, Float64Array.from(numbers))
  if (numbers.every((number, at) => number === floats[at])) return pack(FLOATS, floats)
  const exceptions = findExceptions(numbers, floats)
  const isWorthIt = exceptions.length * NUMBERS_AN_EXCEPTION <= numbers.length
  return isWorthIt ? pack(DECIMALS, floats, exceptions) : pack(DOUBLES, Float64Array.from(numbers))
}

/** The numbers as given. */
export function unpackNumbers(packed: Uint8Array): Float32Array | Float64Array {
  const [form] = packed
  if (form === DOUBLES) return readDoubles(packed)
  return form === FLOATS ? readFloats(packed) : readDecimals(packed)
}

/** The numbers as 32-bit floats, as the upstream's base64 has them. */
export function unpackFloats(packed: Uint8Array): Float32Array {
  return packed[0] === DOUBLES ? Float32Array.from(readDoubles(packed)) : readFloats(packed)
}

function areFinite(numbers: GivenNumbers): boolean {
  for (let at = 0; at < numbers.length; at++) if (!Number.isFinite(numbers[at])) return false
  return true
}

interface Exception {
  at: number
  number: number
}

function findExceptions(numbers: readonly number[], floats: Float32Array): Exception[] {
  const exceptions: Exception[] = []
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] ?? 0
    if (shortestDecimal(floats[at] ?? 0) !== number) exceptions.push({ at, number })
  }
  return exceptions
}

function pack(form: number, numbers: Float32Array | Float64Array, exceptions: readonly Exception[] = []): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(form, 0)
  header.writeUInt16LE(exceptions.length, 1)
  const written = Buffer.alloc(exceptions.length * EXCEPTION_BYTES)
  for (const [i, { at, number }] of exceptions.entries()) {
    written.writeUInt16LE(at, i * EXCEPTION_BYTES)
    written.writeDoubleLE(number, i * EXCEPTION_BYTES + 2)
  }
  const bytes = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)
  return Buffer.concat([header, bytes, written])
}

function readFloats(packed: Uint8Array): Float32Array {
  return new Float32Array(copyOf(packed, HEADER_BYTES, packed.length - countExceptions(packed) * EXCEPTION_BYTES))
}

function readDoubles(packed: Uint8Array): Float64Array {
  return new Float64Array(copyOf(packed, HEADER_BYTES, packed.length))
}

function readDecimals(packed: Uint8Array): Float64Array {
  const numbers = Float64Array.from(readFloats(packed), shortestDecimal)
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  const first = packed.length - countExceptions(packed) * EXCEPTION_BYTES
  for (let at = first; at < bytes.length; at += EXCEPTION_BYTES) {
    numbers[bytes.readUInt16LE(at)] = bytes.readDoubleLE(at + 2)
  }
  return numbers
}

function countExceptions(packed: Uint8Array): number {
  return (packed[1] ?? 0) | ((packed[2] ?? 0) << 8)
}

/** A copy, because floats and doubles must start at a multiple of their size. */
function copyOf(packed: Uint8Array, from: number, to: number): ArrayBuffer {
  return new Uint8Array(packed.subarray(from, to)).buffer
}
