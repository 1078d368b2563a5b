/** Cuts a stream into complete events. A client cannot use part of one, and an error must not be written into the middle. */

export interface EventSplitter {
  /** Returns the events that are now complete, with their bytes unchanged. */
  push(bytes: Uint8Array): Uint8Array[]
  /** Returns the rest when the stream ends within an event; empty when it does not. */
  end(): Uint8Array
}

/** Passes a stream on, each event as `change` returns it. */
export function transformEvents(
  stream: ReadableStream<Uint8Array>,
  change: (event: Uint8Array) => Uint8Array | Promise<Uint8Array>,
): ReadableStream<Uint8Array> {
  const splitter = createEventSplitter()
  return transformBytes(stream, async bytes => {
    const events = bytes ? splitter.push(bytes) : [splitter.end()]
    return concatBytes(await Promise.all(events.map(change)))
  })
}

/** Passes a stream on as `change` returns its bytes; null stands for its end. */
export function transformBytes(
  stream: ReadableStream<Uint8Array>,
  change: (bytes: Uint8Array | null) => Uint8Array | Promise<Uint8Array>,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read()
          const bytes = await change(done ? null : value)
          if (bytes.length > 0) controller.enqueue(bytes)
          if (done) return controller.close()
          if (bytes.length > 0) return
        }
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

export function createEventSplitter(): EventSplitter {
  const ends = createEventBoundaryFinder()
  /** The parts of an incomplete event. */
  let held: Uint8Array[] = []

  return {
    push(bytes) {
      const events: Uint8Array[] = []
      let start = 0
      for (let end = ends.findEnd(bytes, 0); end >= 0; end = ends.findEnd(bytes, end)) {
        // Most upstreams send each event by itself, so there is nothing to cut.
        const part = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)
        events.push(held.length === 0 ? part : concatBytes([...held, part]))
        held = []
        start = end
      }
      // Copied, because the caller may reuse its buffer.
      if (start < bytes.length) held.push(bytes.slice(start))
      return events
    },
    end() {
      const rest = concatBytes(held)
      held = []
      return rest
    },
  }
}

export interface EventBoundaryFinder {
  /** Returns the index after the blank line of the next event from `start` on, or -1 when more bytes are needed. */
  findEnd(bytes: Uint8Array, start: number): number
}

const LF = 10
const CR = 13

/** Lines end with LF, CR or CRLF. Blank lines before an event belong to that event. */
export function createEventBoundaryFinder(): EventBoundaryFinder {
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

  /** The bytes that have no CR: they are searched for line feeds alone, which is several times faster. */
  let withoutCr: Uint8Array | null = null

  function findLineFeeds(bytes: Uint8Array, start: number): number {
    for (let at = start; ; ) {
      const lineFeed = indexOf(bytes, LF, at)
      if (lineFeed !== at && at < bytes.length) isLineEmpty = false
      if (lineFeed < 0) {
        withoutCr = null
        return -1
      }
      at = lineFeed + 1
      if (endLine()) return at
    }
  }

  return {
    findEnd(bytes, start) {
      if (start === 0 && !afterCr) withoutCr = indexOf(bytes, CR, 0) < 0 ? bytes : null
      if (bytes === withoutCr) return findLineFeeds(bytes, start)
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

/** A Buffer made of the bytes would cost more than the search. */
function indexOf(bytes: Uint8Array, byte: number, from: number): number {
  return Buffer.prototype.indexOf.call(bytes as Buffer, byte, from)
}

/** Copies only when there are several parts. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  if (parts.length === 1 && only) return only
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
