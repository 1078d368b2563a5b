/** Reads a plain response to its end. */
import { GatheredBytes } from '../event-loop/gather-bytes.ts'
import { LONGEST_ON_LOOP } from '../event-loop/off-loop.ts'
import { joinBytes } from '../formats/sse/split-events.ts'
import { broken } from './upstream-failure.ts'

/** Larger plain responses are not held in memory; no provider sends any. */
export const MAX_PLAIN_BYTES = 64 * 1024 * 1024

/** A response's bytes: whole when short, else gathered for a worker. */
export type AnswerBytes = { whole: Uint8Array } | { gathered: GatheredBytes }

/** Long responses are not joined here. Throws a 502 when there are more bytes than allowed. */
export async function readBytes(
  body: ReadableStream<Uint8Array>,
  provider: string,
  mostBytes: number,
): Promise<AnswerBytes> {
  const parts: Uint8Array[] = []
  const gathered = new GatheredBytes()
  let length = 0
  for await (const part of body) {
    length += part.length
    if (length > mostBytes) throw broken(provider, `gave an answer of more than ${mostBytes} bytes`)
    parts.push(part)
    if (length > LONGEST_ON_LOOP) for (const bytes of parts.splice(0)) gathered.add(bytes)
  }
  const [only] = parts
  if (length > LONGEST_ON_LOOP) return { gathered }
  return { whole: parts.length === 1 && only ? only : joinBytes(parts) }
}

/** Returns a response's bytes. Throws as `readBytes` does. */
export async function readAll(
  body: ReadableStream<Uint8Array>,
  provider: string,
  mostBytes: number = MAX_PLAIN_BYTES,
): Promise<Uint8Array> {
  const read = await readBytes(body, provider, mostBytes)
  return 'whole' in read ? read.whole : joinBytes(read.gathered.parts)
}
