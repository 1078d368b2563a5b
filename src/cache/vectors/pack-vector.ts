/** A vector as the cache has it: its name, and its numbers as bytes. */
import { canonicalizeBody, type JsonObject, sha256 } from '../../formats/json/canonical.ts'

/** 32-bit floats if they came as such; else the numbers in the JSON. */
export type VectorNumbers = Float32Array | readonly number[]

/** Part of every vector's name: a vector packed by a version with another form is not found. */
export const PACKED_VECTOR_FORMAT = 3

const FLOATS = 1
const DOUBLES = 2
const MOST_DIMENSIONS = 65_535

/** Returns null for a vector that cannot be stored: without numbers, with too many, or with one that is not finite. */
export function packVector(numbers: VectorNumbers): Uint8Array | null {
  if (numbers.length === 0 || numbers.length > MOST_DIMENSIONS || !numbers.every(Number.isFinite)) return null
  if (numbers instanceof Float32Array) return pack(FLOATS, numbers)
  const areFloats = numbers.every(number => Math.fround(number) === number)
  return areFloats ? pack(FLOATS, Float32Array.from(numbers)) : pack(DOUBLES, Float64Array.from(numbers))
}

export function dimensionsOf(packed: Uint8Array): number {
  return (packed.length - 1) / (packed[0] === DOUBLES ? Float64Array : Float32Array).BYTES_PER_ELEMENT
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

/** A text, or token ids. */
export type EmbeddingInput = string | readonly number[]

export interface VectorNameFields {
  namespace: string
  /** The route that would answer, from `routeIdOf`: the same model name may mean another model elsewhere. */
  route: string
  /** As the client asked for it. */
  model: string
  /** As the client asked for it; null for the model's default. */
  dimensions: unknown
  /** The client's headers that may change the vector, as name and value, sorted by name. */
  headers?: readonly (readonly [name: string, value: string])[]
  /** Every other field of the request that can change the vector, including fields not known today. */
  otherFields: JsonObject
}

/** Hex SHA-256 of each input in one space. */
export type VectorNamer = (input: EmbeddingInput) => string

/** Throws a 400 when the other fields are nested too deeply. */
export function createVectorNamer({
  namespace,
  route,
  model,
  dimensions,
  headers = [],
  otherFields,
}: VectorNameFields): VectorNamer {
  const fields = canonicalizeBody({ ...otherFields, model, dimensions })
  const parts = [`vector ${PACKED_VECTOR_FORMAT}`, namespace, route, fields]
  if (headers.length > 0) parts.push(JSON.stringify(headers))
  const space = sha256(parts.join('\n'))
  return input => sha256(`${space}${spell(input)}`)
}

/** A text and the tokens that spell it are two inputs. Lone surrogates are escaped: as UTF-8, they would all hash alike. */
function spell(input: EmbeddingInput): string {
  if (typeof input !== 'string') return `#${input.join()}`
  return input.isWellFormed() ? `t${input}` : `j${JSON.stringify(input)}`
}
