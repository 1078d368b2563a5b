/** Cuts a stream into complete events. A client cannot use part of one, and an error must not be written into the middle. */
import { createEventEnds } from './event-ends.ts'
import { joinBytes } from './join-bytes.ts'

export interface EventSplitter {
  /** Returns the events that are now complete, with their bytes unchanged. */
  push(bytes: Uint8Array): Uint8Array[]
  /** Returns the rest when the stream ends within an event; empty when it does not. */
  end(): Uint8Array
}

export function createEventSplitter(): EventSplitter {
  const ends = createEventEnds()
  /** The parts of an incomplete event. */
  let held: Uint8Array[] = []

  return {
    push(bytes) {
      const events: Uint8Array[] = []
      let start = 0
      for (let end = ends.find(bytes, 0); end >= 0; end = ends.find(bytes, end)) {
        // Most upstreams send each event by itself, so there is nothing to cut.
        const part = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)
        events.push(held.length === 0 ? part : joinBytes([...held, part]))
        held = []
        start = end
      }
      // Copied, because the caller may reuse its buffer.
      if (start < bytes.length) held.push(bytes.slice(start))
      return events
    },
    end() {
      const rest = joinBytes(held)
      held = []
      return rest
    },
  }
}
