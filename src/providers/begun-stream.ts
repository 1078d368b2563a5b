/** A response's stream whose first part is awaited: an earlier failure can then become an error response with a status. */

/** Resolves with the first part. `cancel` is called when the client leaves. */
export async function openBegun(
  parts: AsyncGenerator<Uint8Array, unknown>,
  cancel: (reason: unknown) => Promise<void>,
): Promise<ReadableStream<Uint8Array>> {
  const first = await parts.next()
  let isFirst = true
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = isFirst ? first : await parts.next()
        isFirst = false
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
}
