/** Streams large byte arrays, which would block the event loop if copied at once. */

/** Longer bytes are streamed to a provider. Copying this much takes less than a millisecond. */
export const MAX_UNCHUNKED_BYTES = 1_048_576
const CHUNK_BYTES = 262_144

/** Returns a stream that yields to the event loop before each chunk. */
export function streamInChunks(bytes: Uint8Array | Promise<Uint8Array>): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream(
    {
      async pull(controller) {
        const whole = await bytes
        await new Promise(setImmediate)
        controller.enqueue(whole.subarray(at, at + CHUNK_BYTES))
        at += CHUNK_BYTES
        if (at >= whole.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}
