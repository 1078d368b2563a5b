/** Removes a credential from an upstream's error: some vendors quote the key that they refuse. */

const REDACTED = '[redacted]'
/** No real error is this long. */
const MAX_ERROR_BYTES = 1024 * 1024

/** Returns the body without the secret. It is read whole on the first read; anything beyond a mebibyte is dropped. */
export function redactSecret(body: ReadableStream<Uint8Array>, secret: string): ReadableStream<Uint8Array> {
  const reader = body.getReader()

  async function readText(): Promise<string> {
    const parts: Uint8Array[] = []
    for (let bytes = 0; bytes <= MAX_ERROR_BYTES; bytes += parts.at(-1)?.length ?? 0) {
      const { done, value } = await reader.read()
      if (done) return Buffer.concat(parts).toString()
      parts.push(value)
    }
    await reader.cancel()
    // The last bytes may be half a secret.
    return Buffer.concat(parts).subarray(0, MAX_ERROR_BYTES).toString().slice(0, -secret.length)
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const text = await readText()
        controller.enqueue(new TextEncoder().encode(secret === '' ? text : text.replaceAll(secret, REDACTED)))
        controller.close()
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
