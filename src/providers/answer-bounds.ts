/** Limits the size of an upstream's response: of one event in a stream, and of a plain response. */
import { createEventEnds } from '../formats/sse/split-events.ts'

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
