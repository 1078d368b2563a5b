/** A vector as it is stored, and its format in Redis: a few bytes of metadata, then the packed numbers. */

export interface StoredVector {
  /** From `packVector`. */
  packed: Uint8Array
  /** Tokens of the input, as the upstream counted them. */
  promptTokens: number
  /** The model's name in the upstream's response. */
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

/** Returns null for bytes of another format: an older or newer version's vector is a miss, not an error. */
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
