/** Finds where the events of a stream end, each byte looked at once, however the bytes are cut. */

export interface EventEnds {
  /** Looks for the next event's end from `start` on: the index behind its blank line, or -1 where more bytes are needed. */
  find(bytes: Uint8Array, start: number): number
}

const LF = 10
const CR = 13

/** Lines end with LF, CR or CRLF; blank lines before an event belong to it. */
export function createEventEnds(): EventEnds {
  let isLineEmpty = true
  let hasLine = false
  /** A CR was the last byte: an LF may follow that belongs to it. */
  let afterCr = false

  /** Whether the line that ends here ends its event. */
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
