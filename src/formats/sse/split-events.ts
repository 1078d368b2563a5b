/** Splits a stream into complete events. A client cannot use a part of an event, and an error must not be written into the middle of one. */

export interface EventSplitter {
  /** Returns the events that are now complete, with their bytes unchanged. */
  push(bytes: Uint8Array): Uint8Array[]
  /** Returns the incomplete event at the end of the stream; empty if there is none. */
  end(): Uint8Array
}

/** Returns the stream with each event replaced by the result of `change`. */
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

/** Returns the stream with its bytes replaced by the result of `change`, which gets null at the end. */
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
  const boundaries = createEventBoundaryFinder()
  /** The pieces of an incomplete event. */
  let pending: Uint8Array[] = []

  return {
    push(bytes) {
      const events: Uint8Array[] = []
      let start = 0
      for (let end = boundaries.findEnd(bytes, 0); end >= 0; end = boundaries.findEnd(bytes, end)) {
        // Most upstreams send each event by itself, so there is nothing to cut.
        const part = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)
        events.push(pending.length === 0 ? part : concatBytes([...pending, part]))
        pending = []
        start = end
      }
      // The bytes are copied, because the caller may reuse its buffer.
      if (start < bytes.length) pending.push(bytes.slice(start))
      return events
    },
    end() {
      const rest = concatBytes(pending)
      pending = []
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

/** Creates a finder of event ends. Lines end with LF, CR or CRLF. Blank lines before an event belong to that event. */
export function createEventBoundaryFinder(): EventBoundaryFinder {
  let isLineEmpty = true
  let hasLine = false
  /** Whether the last byte was a CR, so that an LF that follows belongs to it. */
  let afterCr = false

  /** Call at the end of a line. Returns true when the line ends an event. */
  function endLine(): boolean {
    const endsEvent = isLineEmpty && hasLine
    hasLine = !endsEvent
    isLineEmpty = true
    return endsEvent
  }

  /** The current bytes if they contain no CR. They are searched only for line feeds, which is several times faster. */
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

/** Searches without creating a Buffer, which would cost more than the search. */
function indexOf(bytes: Uint8Array, byte: number, from: number): number {
  return Buffer.prototype.indexOf.call(bytes as Buffer, byte, from)
}

/** Concatenates the parts. Copies only when there are several. */
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
