/** Names vectors, and packs their numbers as bytes. */
import { canonicalizeBody, type JsonObject, sha256 } from '../../formats/json/canonical.ts'

/** The numbers of a vector: 32-bit floats if received as such, or else the numbers of the JSON. */
export type VectorNumbers = Float32Array | readonly number[]

/** The version of the packed format. It is part of every vector's name, so that vectors of another format are not found. */
export const PACKED_VECTOR_FORMAT = 3

const FLOATS = 1
const DOUBLES = 2
const MAX_DIMENSIONS = 65_535

/** Packs a vector. Returns null when it has no numbers, too many, or one that is not finite. */
export function packVector(numbers: VectorNumbers): Uint8Array | null {
  if (numbers.length === 0 || numbers.length > MAX_DIMENSIONS || !numbers.every(Number.isFinite)) return null
  if (numbers instanceof Float32Array) return pack(FLOATS, numbers)
  const areFloats = numbers.every(number => Math.fround(number) === number)
  return areFloats ? pack(FLOATS, Float32Array.from(numbers)) : pack(DOUBLES, Float64Array.from(numbers))
}

export function dimensionsOf(packed: Uint8Array): number {
  return (packed.length - 1) / (packed[0] === DOUBLES ? Float64Array : Float32Array).BYTES_PER_ELEMENT
}

/** Returns the numbers with their original precision. */
export function unpackVector(packed: Uint8Array): Float32Array | Float64Array {
  // The bytes are copied, because floats and doubles must be aligned to their size.
  const { buffer } = new Uint8Array(packed.subarray(1))
  return packed[0] === DOUBLES ? new Float64Array(buffer) : new Float32Array(buffer)
}

/** Returns the numbers as 32-bit floats, the format of base64 responses. */
export function unpackFloats(packed: Uint8Array): Float32Array {
  const numbers = unpackVector(packed)
  return numbers instanceof Float32Array ? numbers : Float32Array.from(numbers)
}

function pack(format: number, numbers: Float32Array | Float64Array): Uint8Array {
  return Buffer.concat([Uint8Array.of(format), new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)])
}

/** A text, or token ids. */
export type EmbeddingInput = string | readonly number[]

export interface VectorNameFields {
  namespace: string
  /** As in `CacheControl`. */
  version: string
  /** The route from `routeIdOf`, because the same model name may mean another model elsewhere. */
  route: string
  /** The model as the client requested it. */
  model: string
  /** The dimensions that the client requested; null for the model's default. */
  dimensions: unknown
  /** The client's headers that may change the vector, as name and value, sorted by name. */
  headers?: readonly (readonly [name: string, value: string])[]
  /** All other fields of the request that can change the vector, including unknown fields. */
  otherFields: JsonObject
}

/** Returns the hex SHA-256 that names an input's vector. */
export type VectorNamer = (input: EmbeddingInput) => string

/** Creates a namer. Throws a 400 when `otherFields` is nested too deeply. */
export function createVectorNamer({
  namespace,
  version,
  route,
  model,
  dimensions,
  headers = [],
  otherFields,
}: VectorNameFields): VectorNamer {
  const fields = canonicalizeBody({ ...otherFields, model, dimensions })
  const parts = [`vector ${PACKED_VECTOR_FORMAT}`, namespace, version, route, fields]
  if (headers.length > 0) parts.push(JSON.stringify(headers))
  const space = sha256(parts.join('\n'))
  return input => sha256(`${space}${encodeInput(input)}`)
}

/** Encodes an input for hashing. A text and its tokens differ. Lone surrogates are escaped, because UTF-8 encodes them all alike. */
function encodeInput(input: EmbeddingInput): string {
  if (typeof input !== 'string') return `#${input.join()}`
  return input.isWellFormed() ? `t${input}` : `j${JSON.stringify(input)}`
}
