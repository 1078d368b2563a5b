/** Copies a large buffer with pauses, so that a worker can take the copy and the caller keeps the original. */

const PIECE_BYTES = 1_048_576

/** `more` is appended. */
export async function copyInTurns(bytes: Uint8Array, more = new Uint8Array(0)): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length + more.length)
  copy.set(more, bytes.length)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    copy.set(bytes.subarray(at, at + PIECE_BYTES), at)
    await new Promise(setImmediate)
  }
  return copy
}
