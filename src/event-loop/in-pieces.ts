/** Long bytes as a stream: as a whole they would be copied at one go, and lie in the connection's buffer until the client has read them. */

/** Longer bodies are handed over piece by piece: a copy of so much takes less than a millisecond. */
export const LONGEST_WHOLE_BYTES = 1_048_576
const PIECE_BYTES = 262_144

/** Others have their turn between one piece and the next. */
export function inPieces(bytes: Uint8Array | Promise<Uint8Array>): ReadableStream<Uint8Array> {
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
