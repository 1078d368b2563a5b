/** How many bytes of a response may come: counted as they do, and, of a plain one, read to the end. */
import { GatheredBytes } from '../event-loop/gather-bytes.ts'
import { LONGEST_ON_LOOP } from '../event-loop/off-loop.ts'
import type { Held } from '../event-loop/stream-memory.ts'
import { createEventEnds, joinBytes } from '../formats/sse/split-events.ts'
import { broken } from './upstream-failure.ts'

/** Larger plain responses are not held in memory; no provider sends any. */
export const MAX_PLAIN_BYTES = 64 * 1024 * 1024

/** A response's bytes: whole when short, else gathered for a worker. */
export type AnswerBytes = { whole: Uint8Array } | { gathered: GatheredBytes }

/**
 * Long responses are not joined here, and count in `held` as they come, until the client has read what is made of them: in a full budget they
 * wait. Throws a 502 when there are more bytes than allowed, a 503 when there is no memory for them.
 */
export async function readBytes(
  body: ReadableStream<Uint8Array>,
  provider: string,
  mostBytes: number,
  held?: Held,
): Promise<AnswerBytes> {
  const parts: Uint8Array[] = []
  const gathered = new GatheredBytes()
  let length = 0
  let counted = 0
  for await (const part of body) {
    length += part.length
    if (length > mostBytes) throw broken(provider, `gave an answer of more than ${mostBytes} bytes`)
    parts.push(part)
    if (length <= LONGEST_ON_LOOP) continue
    for (const bytes of parts.splice(0)) gathered.add(bytes)
    held?.add(length - counted)
    counted = length
    await held?.space()
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
  held?: Held,
): Promise<Uint8Array> {
  const read = await readBytes(body, provider, mostBytes, held)
  return 'whole' in read ? read.whole : joinBytes(read.gathered.parts)
}

export interface AnswerBounds {
  /** Bytes of a stream between two blank lines, which end events. */
  maxEventBytes: number
  /** Bytes of a response that is no stream. */
  maxAnswerBytes: number
}

/** Counts a chunk; returns what is too large, or null. */
export type CountBytes = (chunk: Uint8Array) => string | null

export function createByteCounter(
  contentType: string | null,
  { maxEventBytes, maxAnswerBytes }: AnswerBounds,
): CountBytes {
  if (contentType?.includes('text/event-stream')) return countEventBytes(maxEventBytes)
  let bytes = 0
  return chunk => {
    bytes += chunk.length
    return bytes > maxAnswerBytes ? `gave an answer of more than ${maxAnswerBytes} bytes` : null
  }
}

function countEventBytes(maxEventBytes: number): CountBytes {
  const ends = createEventEnds()
  let open = 0
  return chunk => {
    let start = 0
    for (let end = ends.find(chunk, 0); end >= 0; end = ends.find(chunk, end)) {
      start = end
      open = 0
    }
    open += chunk.length - start
    return open > maxEventBytes ? `sent an event of more than ${maxEventBytes} bytes` : null
  }
}
