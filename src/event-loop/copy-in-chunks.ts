/** Copies large buffers and yields to the event loop in between. The copy can be transferred to a worker. */

const CHUNK_BYTES = 1_048_576
const EMPTY = new Uint8Array(0)

/** Returns a copy of the bytes, with `before` in front and `behind` at the end. */
export async function copyInChunks(
  bytes: Uint8Array,
  { before = EMPTY, behind = EMPTY }: { before?: Uint8Array; behind?: Uint8Array } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(before.length + bytes.length + behind.length)
  copy.set(before)
  copy.set(behind, before.length + bytes.length)
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    copy.set(bytes.subarray(at, at + CHUNK_BYTES), before.length + at)
    await new Promise(setImmediate)
  }
  return copy
}

/** Concatenates parts, each of which must be small. */
export async function concatInChunks(parts: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  let yieldAt = CHUNK_BYTES
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
    if (at < yieldAt) continue
    yieldAt = at + CHUNK_BYTES
    await new Promise(setImmediate)
  }
  return joined
}
