/** Reads plain responses to their end, and limits the bytes of responses and of events. */
import { ByteCollector } from '../event-loop/chunks.ts'
import type { MemoryReservation } from '../event-loop/stream-memory.ts'
import { MAX_MAIN_THREAD_BYTES } from '../event-loop/worker-pool.ts'
import { concatBytes, createEventBoundaryFinder } from '../formats/sse/split-events.ts'
import { brokenResponseError } from './upstream-failure.ts'

/** The upper bound on a plain response, which is held in memory. No provider is known to send a larger one. */
export const MAX_PLAIN_RESPONSE_BYTES = 64 * 1024 * 1024

/** The upper bound on the body of an error, which normally has a few lines. */
const MAX_ERROR_BYTES = 1_048_576

/** The bytes of a response: `whole` when it is short, or `gathered` in parts for a worker. */
export type ResponseBytes = { whole: Uint8Array } | { gathered: ByteCollector }

/**
 * Reads a response to its end. A long response is not joined here, and its bytes are added to `held` as they arrive; reading waits while the
 * memory budget is full. Throws a 502 when there are more than `maxBytes`, and a 503 when there is no memory for them.
 */
export async function readBytes(
  body: ReadableStream<Uint8Array>,
  provider: string,
  maxBytes: number,
  held?: MemoryReservation,
): Promise<ResponseBytes> {
  const parts: Uint8Array[] = []
  const gathered = new ByteCollector()
  let length = 0
  let countedBytes = 0
  for await (const part of body) {
    length += part.length
    if (length > maxBytes) throw brokenResponseError(provider, `sent a response of more than ${maxBytes} bytes`)
    parts.push(part)
    if (length <= MAX_MAIN_THREAD_BYTES) continue
    for (const bytes of parts.splice(0)) gathered.add(bytes)
    held?.add(length - countedBytes)
    countedBytes = length
    await held?.waitForSpace()
  }
  if (length > MAX_MAIN_THREAD_BYTES) return { gathered }
  return { whole: concatBytes(parts) }
}

/** Returns a response's bytes in one array. Throws as `readBytes` does. */
export async function readAllBytes(
  body: ReadableStream<Uint8Array>,
  provider: string,
  maxBytes: number = MAX_PLAIN_RESPONSE_BYTES,
  held?: MemoryReservation,
): Promise<Uint8Array> {
  const read = await readBytes(body, provider, maxBytes, held)
  return 'whole' in read ? read.whole : concatBytes(read.gathered.parts)
}

/** Returns the text of an error response, and the response with its body ready to be read again. */
export async function readErrorText<Response extends { body: ReadableStream<Uint8Array> }>(
  response: Response,
  provider: string,
  maxBytes = MAX_ERROR_BYTES,
): Promise<[string, Response]> {
  const bytes = await readAllBytes(response.body, provider, maxBytes)
  return [new TextDecoder().decode(bytes), { ...response, body: new Blob([Uint8Array.from(bytes)]).stream() }]
}

export type ByteReader = ReturnType<typeof openReader>

export function openReader(body: ReadableStream<Uint8Array>) {
  return body.getReader()
}

/** Reads a stream to its end after its last event, so that the connection can be reused. */
export async function readToEnd(reader: ByteReader): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The response is already complete.
  }
}

export interface ResponseSizeLimits {
  /** The upper bound on one event of a stream: the bytes between two blank lines. */
  maxEventBytes: number
  /** The upper bound on a response that is not a stream. */
  maxResponseBytes: number
}

/** Counts a chunk. Returns a description of the excess, or null while the size is within the limit. */
export type ResponseSizeCheck = (chunk: Uint8Array) => string | null

export function createResponseSizeCheck(
  contentType: string | null,
  { maxEventBytes, maxResponseBytes }: ResponseSizeLimits,
): ResponseSizeCheck {
  if (contentType?.includes('text/event-stream')) return countEventBytes(maxEventBytes)
  let bytes = 0
  return chunk => {
    bytes += chunk.length
    return bytes > maxResponseBytes ? `sent a response of more than ${maxResponseBytes} bytes` : null
  }
}

function countEventBytes(maxEventBytes: number): ResponseSizeCheck {
  const boundaries = createEventBoundaryFinder()
  let openBytes = 0
  return chunk => {
    let start = 0
    for (let end = boundaries.findEnd(chunk, 0); end >= 0; end = boundaries.findEnd(chunk, end)) {
      start = end
      openBytes = 0
    }
    openBytes += chunk.length - start
    return openBytes > maxEventBytes ? `sent an event of more than ${maxEventBytes} bytes` : null
  }
}
