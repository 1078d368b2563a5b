/** Finds the ends of a stream's events, reading each byte once, however the bytes are split. */

export interface EventEnds {
  /** Searches for the next event's end from `start` on. Returns the index after its blank line, or -1 when more bytes are needed. */
  find(bytes: Uint8Array, start: number): number
}

const LF = 10
const CR = 13

/** Lines end with LF, CR or CRLF; blank lines before an event belong to it. */
export function createEventEnds(): EventEnds {
  let isLineEmpty = true
  let hasLine = false
  /** The last byte was a CR: an LF that follows belongs to it. */
  let afterCr = false

  /** Returns whether the line that ends here ends its event. */
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
