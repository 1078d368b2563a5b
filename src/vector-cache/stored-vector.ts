/** A vector as it is kept, and its form in Redis: what is known about it in a few bytes, then the packed numbers. */

export interface StoredVector {
  /** As `packVector` makes it. */
  packed: Uint8Array
  /** Of the input, as upstream counted them. */
  promptTokens: number
  /** What upstream called the model in its answer. */
  answeredAs: string
  /** Milliseconds since the epoch. */
  createdAtMs: number
}

const FORM = 1
/** Form, length of the model's name, prompt tokens, creation: 1, 1, 4 and 8 bytes. */
const HEADER_BYTES = 14
const MOST_NAME_BYTES = 255
const decoder = new TextDecoder()

export function encodeStoredVector({ packed, promptTokens, answeredAs, createdAtMs }: StoredVector): Uint8Array {
  const name = Buffer.from(answeredAs).subarray(0, MOST_NAME_BYTES)
  const header = Buffer.allocUnsafe(HEADER_BYTES)
  header.writeUInt8(FORM, 0)
  header.writeUInt8(name.length, 1)
  header.writeUInt32LE(promptTokens, 2)
  header.writeDoubleLE(createdAtMs, 6)
  return Buffer.concat([header, name, packed])
}

/** Null for bytes of another form: what an older or newer version wrote is unknown, not an error. */
export function decodeStoredVector(bytes: Uint8Array): StoredVector | null {
  if (bytes.length <= HEADER_BYTES || bytes[0] !== FORM) return null
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES)
  const packedAt = HEADER_BYTES + header.getUint8(1)
  return {
    packed: bytes.subarray(packedAt),
    promptTokens: header.getUint32(2, true),
    answeredAs: decoder.decode(bytes.subarray(HEADER_BYTES, packedAt)),
    createdAtMs: header.getFloat64(6, true),
  }
}
