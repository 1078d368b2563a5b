/** Limits the size of an upstream's response: of one event in a stream, and of a plain response. */

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

const BLANK_LINES = ['\n\n', '\r\n\r\n', '\r\r']
const LONGEST_BLANK_LINE = 4

function countEventBytes(maxEventBytes: number): CountBytes {
  let open = 0
  /** The last bytes of the previous chunk: a blank line may span two chunks. */
  let tail = Buffer.alloc(0)
  return chunk => {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    const seam = Buffer.concat([tail, bytes.subarray(0, LONGEST_BLANK_LINE - 1)])
    const end = findLastEnd(bytes)
    if (end >= 0) open = bytes.length - end
    else open = findLastEnd(seam) >= 0 ? bytes.length : open + bytes.length
    tail = Buffer.concat([tail, bytes.subarray(1 - LONGEST_BLANK_LINE)]).subarray(1 - LONGEST_BLANK_LINE)
    return open > maxEventBytes ? `sent an event of more than ${maxEventBytes} bytes` : null
  }
}

/** Position of the last blank line; -1 when there is none. */
function findLastEnd(bytes: Buffer): number {
  return Math.max(...BLANK_LINES.map(line => bytes.lastIndexOf(line)))
}
