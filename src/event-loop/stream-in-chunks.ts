/** Streams large bytes: copied whole, they would block the event loop. */

/** Longer bytes are streamed to a provider. Copying this much takes less than a millisecond. */
export const MAX_UNCHUNKED_BYTES = 1_048_576
const PIECE_BYTES = 262_144

/** Yields to the event loop between two pieces. */
export function streamInChunks(bytes: Uint8Array | Promise<Uint8Array>): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream(
    {
      async pull(controller) {
        const whole = await bytes
        await new Promise(setImmediate)
        controller.enqueue(whole.subarray(at, at + PIECE_BYTES))
        at += PIECE_BYTES
        if (at >= whole.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}
