/**
 * Packs a vector into compact bytes, from which every number comes back exactly as the upstream gave it.
 *
 * Upstreams compute in 32-bit floats. Base64 carries exactly these; JSON has either a float's exact value or its shortest decimal, which
 * is another number. All three fit in about 3.5 bytes a number: 23 bits of mantissa and the sign unchanged, and four bits for the
 * exponent, which varies little within a vector. Numbers that are not a float's are stored as exceptions, or the whole vector as doubles.
 */
import { shortestDecimal } from './shortest-decimal.ts'

/** 32-bit floats if they came as such; else the numbers in the JSON. */
export type GivenNumbers = Float32Array | readonly number[]

/** Numbers are the floats themselves. */
const FLOATS = 1
/** Numbers are the floats' shortest decimals. */
const DECIMALS = 2
/** Numbers are doubles, eight bytes each. */
const DOUBLES = 3

/** Form, largest exponent, dimensions, exceptions: 1, 1, 2 and 2 bytes. */
const HEADER_BYTES = 6
const DOUBLES_HEADER_BYTES = 1
const MOST_DIMENSIONS = 65_535
/** A number's index and its double. */
const EXCEPTION_BYTES = 10
/** If more than one number in this many is an exception, doubles take less room. */
const NUMBERS_AN_EXCEPTION = 4

/** Exponent codes: the distance below the largest, or one of these. */
const ZERO_CODE = 14
const ESCAPE_CODE = 15

/** Returns null for a vector that cannot be stored: without numbers, with too many, or with one that is not finite. */
export function packVector(numbers: GivenNumbers): Uint8Array | null {
  if (numbers.length === 0 || numbers.length > MOST_DIMENSIONS || !isFinite_(numbers)) return null
  if (numbers instanceof Float32Array) return packFloats(numbers, FLOATS, [])
  const floats = Float32Array.from(numbers)
  if (!isFinite_(floats)) return packDoubles(numbers)
  if (numbers.every((number, at) => number === floats[at])) return packFloats(floats, FLOATS, [])
  const exceptions = findExceptions(numbers, floats)
  const isWorthIt = exceptions.length * NUMBERS_AN_EXCEPTION <= numbers.length
  return isWorthIt ? packFloats(floats, DECIMALS, exceptions) : packDoubles(numbers)
}

/** The numbers as given. */
export function unpackNumbers(packed: Uint8Array): Float32Array | Float64Array {
  if (packed[0] === DOUBLES) return readDoubles(packed)
  const floats = unpackWords(packed)
  return packed[0] === FLOATS ? floats : restoreDecimals(packed, floats)
}

/** The numbers as 32-bit floats, as the upstream's base64 has them. */
export function unpackFloats(packed: Uint8Array): Float32Array {
  return packed[0] === DOUBLES ? Float32Array.from(readDoubles(packed)) : unpackWords(packed)
}

function isFinite_(numbers: GivenNumbers): boolean {
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

function packDoubles(numbers: readonly number[]): Uint8Array {
  const packed = new Uint8Array(DOUBLES_HEADER_BYTES + numbers.length * 8)
  packed[0] = DOUBLES
  packed.set(new Uint8Array(Float64Array.from(numbers).buffer), DOUBLES_HEADER_BYTES)
  return packed
}

function readDoubles(packed: Uint8Array): Float64Array {
  // A copy, because a Float64Array must start at a multiple of eight bytes.
  return new Float64Array(new Uint8Array(packed.subarray(DOUBLES_HEADER_BYTES)).buffer)
}

function packFloats(floats: Float32Array, form: number, exceptions: readonly Exception[]): Uint8Array {
  const words = new Uint32Array(floats.buffer, floats.byteOffset, floats.length)
  const { codes, escaped, largest } = codeExponents(words)
  const { length } = words
  const mantissas = new Uint8Array(length * 3)
  for (let i = 0, at = 0; i < length; i++) {
    const word = words[i] ?? 0
    mantissas[at++] = word
    mantissas[at++] = word >>> 8
    mantissas[at++] = ((word >>> 16) & 0x7f) | ((word >>> 24) & 0x80)
  }
  const header = new Uint8Array(HEADER_BYTES)
  header.set([form, largest, length & 255, length >>> 8, exceptions.length & 255, exceptions.length >>> 8])
  return Buffer.concat([header, mantissas, codes, escaped, writeExceptions(exceptions)])
}

/** Two codes per byte, and the exponents that have no code, in order. */
function codeExponents(words: Uint32Array): { codes: Uint8Array; escaped: Uint8Array; largest: number } {
  let largest = 0
  for (let i = 0; i < words.length; i++) largest = Math.max(largest, ((words[i] ?? 0) >>> 23) & 255)
  const codes = new Uint8Array((words.length + 1) >>> 1)
  const escaped: number[] = []
  for (let i = 0; i < words.length; i++) {
    const exponent = ((words[i] ?? 0) >>> 23) & 255
    const below = largest - exponent
    const code = exponent === 0 ? ZERO_CODE : below < ZERO_CODE ? below : ESCAPE_CODE
    if (code === ESCAPE_CODE) escaped.push(exponent)
    codes[i >>> 1] = (codes[i >>> 1] ?? 0) | (code << ((i & 1) << 2))
  }
  return { codes, escaped: Uint8Array.from(escaped), largest }
}

function unpackWords(packed: Uint8Array): Float32Array {
  const length = (packed[2] ?? 0) | ((packed[3] ?? 0) << 8)
  const largest = packed[1] ?? 0
  const words = new Uint32Array(length)
  const codesAt = HEADER_BYTES + length * 3
  let escapedAt = codesAt + ((length + 1) >>> 1)
  for (let i = 0, at = HEADER_BYTES; i < length; i++, at += 3) {
    const code = ((packed[codesAt + (i >>> 1)] ?? 0) >>> ((i & 1) << 2)) & 15
    const exponent = code < ZERO_CODE ? largest - code : code === ZERO_CODE ? 0 : (packed[escapedAt++] ?? 0)
    const high = packed[at + 2] ?? 0
    words[i] =
      ((high & 0x80) << 24) |
      (exponent << 23) |
      ((high & 0x7f) << 16) |
      ((packed[at + 1] ?? 0) << 8) |
      (packed[at] ?? 0)
  }
  return new Float32Array(words.buffer)
}

/** They come last in the packed bytes. */
function writeExceptions(exceptions: readonly Exception[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(exceptions.length * EXCEPTION_BYTES))
  for (const [i, { at, number }] of exceptions.entries()) {
    bytes.setUint16(i * EXCEPTION_BYTES, at, true)
    bytes.setFloat64(i * EXCEPTION_BYTES + 2, number, true)
  }
  return new Uint8Array(bytes.buffer)
}

function restoreDecimals(packed: Uint8Array, floats: Float32Array): Float64Array {
  const numbers = new Float64Array(floats.length)
  for (let at = 0; at < floats.length; at++) numbers[at] = shortestDecimal(floats[at] ?? 0)
  const count = (packed[4] ?? 0) | ((packed[5] ?? 0) << 8)
  const start = packed.byteOffset + packed.byteLength - count * EXCEPTION_BYTES
  const bytes = new DataView(packed.buffer, start, count * EXCEPTION_BYTES)
  for (let at = 0; at < bytes.byteLength; at += EXCEPTION_BYTES) {
    numbers[bytes.getUint16(at, true)] = bytes.getFloat64(at + 2, true)
  }
  return numbers
}
