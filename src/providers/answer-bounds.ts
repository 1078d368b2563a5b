/** How large an upstream's answer may grow before it is given up: an event without an end, or a plain answer without one. */

export interface AnswerBounds {
  /** Bytes of a stream from one blank line, which ends an event, to the next. */
  maxEventBytes: number
  /** Bytes of an answer that is no stream. */
  maxAnswerBytes: number
}

/** Counts a chunk; says what has grown too large, or null. */
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
  /** The end of what came before: a blank line may be cut in two. */
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

/** Where the last blank line begins; -1 where there is none. */
function findLastEnd(bytes: Buffer): number {
  return Math.max(...BLANK_LINES.map(line => bytes.lastIndexOf(line)))
}
