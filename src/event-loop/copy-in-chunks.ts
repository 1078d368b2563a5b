/** Copies large buffers with pauses, so that a worker can take the copy and the caller keeps the original. */

const PIECE_BYTES = 1_048_576
const NONE = new Uint8Array(0)

/** Copies the bytes, between `before` and `behind`. */
export async function copyInChunks(
  bytes: Uint8Array,
  { before = NONE, behind = NONE }: { before?: Uint8Array; behind?: Uint8Array } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(before.length + bytes.length + behind.length)
  copy.set(before)
  copy.set(behind, before.length + bytes.length)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    copy.set(bytes.subarray(at, at + PIECE_BYTES), before.length + at)
    await new Promise(setImmediate)
  }
  return copy
}

/** Copies parts, none of which is large, into one buffer. */
export async function concatInChunks(parts: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  let pauseAt = PIECE_BYTES
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
    if (at < pauseAt) continue
    pauseAt = at + PIECE_BYTES
    await new Promise(setImmediate)
  }
  return joined
}
