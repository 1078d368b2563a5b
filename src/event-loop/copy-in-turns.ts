/** Copies long bytes with pauses, so that a worker can have them and the copy's owner keeps them too. */

const PIECE_BYTES = 1_048_576

/** `more`: what comes behind them. */
export async function copyInTurns(bytes: Uint8Array, more = new Uint8Array(0)): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length + more.length)
  copy.set(more, bytes.length)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    copy.set(bytes.subarray(at, at + PIECE_BYTES), at)
    await new Promise(setImmediate)
  }
  return copy
}
