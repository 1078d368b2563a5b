/** Reads the whole of an answer's body. */
import { broken } from '../../upstream-failure.ts'

/** No answer comes near it. */
const MAX_BODY_BYTES = 64 * 1024 * 1024

/** Throws what reading the body throws, and a 502 where there is no end to it. */
export async function readBody(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  const parts: string[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > MAX_BODY_BYTES) throw broken('anthropic', `gave an answer of more than ${MAX_BODY_BYTES} bytes`)
    parts.push(decoder.decode(part, { stream: true }))
  }
  return parts.join('') + decoder.decode()
}
