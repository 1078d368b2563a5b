/** Finds where events in a stream end. Each byte is examined once, however the bytes are chunked. */

export interface EventEnds {
  /** Returns the index after the blank line of the next event from `start` on, or -1 when more bytes are needed. */
  find(bytes: Uint8Array, start: number): number
}

const LF = 10
const CR = 13

/** Lines end with LF, CR or CRLF. Blank lines before an event belong to that event. */
export function createEventEnds(): EventEnds {
  let isLineEmpty = true
  let hasLine = false
  /** The last byte was a CR: an LF that follows belongs to it. */
  let afterCr = false

  /** Call at the end of a line. Returns true when the line ends an event. */
  function endLine(): boolean {
    const endsEvent = isLineEmpty && hasLine
    hasLine = !endsEvent
    isLineEmpty = true
    return endsEvent
  }

  return {
    find(bytes, start) {
      for (let at = start; at < bytes.length; at++) {
        const byte = bytes[at]
        if (afterCr) {
          afterCr = false
          if (endLine()) return byte === LF ? at + 1 : at
          if (byte === LF) continue
        }
        if (byte === CR) afterCr = true
        else if (byte !== LF) isLineEmpty = false
        else if (endLine()) return at + 1
      }
      return -1
    },
  }
}
