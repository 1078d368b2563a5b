/** How many bytes of a response may come: counted as they do, and, of a plain one, read to the end. */
import { ByteCollector } from '../event-loop/byte-collector.ts'
import type { MemoryReservation } from '../event-loop/stream-memory.ts'
import { MAX_MAIN_THREAD_BYTES } from '../event-loop/worker-pool.ts'
import { concatBytes, createEventBoundaryFinder } from '../formats/sse/split-events.ts'
import { brokenResponseError } from './upstream-failure.ts'

/** Larger plain responses are not held in memory; no provider sends any. */
export const MAX_PLAIN_RESPONSE_BYTES = 64 * 1024 * 1024

/** A response's bytes: whole when short, else gathered for a worker. */
export type ResponseBytes = { whole: Uint8Array } | { gathered: ByteCollector }

/**
 * Long responses are not joined here, and count in `held` as they come, until the client has read what is made of them: in a full budget they
 * wait. Throws a 502 when there are more bytes than allowed, a 503 when there is no memory for them.
 */
export async function readBytes(
  body: ReadableStream<Uint8Array>,
  provider: string,
  mostBytes: number,
  held?: MemoryReservation,
): Promise<ResponseBytes> {
  const parts: Uint8Array[] = []
  const gathered = new ByteCollector()
  let length = 0
  let counted = 0
  for await (const part of body) {
    length += part.length
    if (length > mostBytes) throw brokenResponseError(provider, `gave an answer of more than ${mostBytes} bytes`)
    parts.push(part)
    if (length <= MAX_MAIN_THREAD_BYTES) continue
    for (const bytes of parts.splice(0)) gathered.add(bytes)
    held?.add(length - counted)
    counted = length
    await held?.waitForSpace()
  }
  const [only] = parts
  if (length > MAX_MAIN_THREAD_BYTES) return { gathered }
  return { whole: parts.length === 1 && only ? only : concatBytes(parts) }
}

/** Returns a response's bytes. Throws as `readBytes` does. */
export async function readAllBytes(
  body: ReadableStream<Uint8Array>,
  provider: string,
  mostBytes: number = MAX_PLAIN_RESPONSE_BYTES,
  held?: MemoryReservation,
): Promise<Uint8Array> {
  const read = await readBytes(body, provider, mostBytes, held)
  return 'whole' in read ? read.whole : concatBytes(read.gathered.parts)
}

export interface ResponseSizeLimits {
  /** Bytes of a stream between two blank lines, which end events. */
  maxEventBytes: number
  /** Bytes of a response that is no stream. */
  maxResponseBytes: number
}

/** Counts a chunk; returns what is too large, or null. */
export type ByteCounter = (chunk: Uint8Array) => string | null

export function createByteCounter(
  contentType: string | null,
  { maxEventBytes, maxResponseBytes }: ResponseSizeLimits,
): ByteCounter {
  if (contentType?.includes('text/event-stream')) return countEventBytes(maxEventBytes)
  let bytes = 0
  return chunk => {
    bytes += chunk.length
    return bytes > maxResponseBytes ? `gave an answer of more than ${maxResponseBytes} bytes` : null
  }
}

function countEventBytes(maxEventBytes: number): ByteCounter {
  const ends = createEventBoundaryFinder()
  let open = 0
  return chunk => {
    let start = 0
    for (let end = ends.findEnd(chunk, 0); end >= 0; end = ends.findEnd(chunk, end)) {
      start = end
      open = 0
    }
    open += chunk.length - start
    return open > maxEventBytes ? `sent an event of more than ${maxEventBytes} bytes` : null
  }
}
