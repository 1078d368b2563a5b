/** Splits a stream into whole events: a partial event is useless, and an error must be written between events. */
import { createEventEnds } from './event-ends.ts'
import { joinBytes } from './join-bytes.ts'

export interface EventSplitter {
  /** Returns the events that are complete now, each with its original bytes. */
  push(bytes: Uint8Array): Uint8Array[]
  /** The incomplete event at the stream's end; empty when there is none. */
  end(): Uint8Array
}

export function createEventSplitter(): EventSplitter {
  const ends = createEventEnds()
  /** Parts of an incomplete event. */
  let held: Uint8Array[] = []

  return {
    push(bytes) {
      const events: Uint8Array[] = []
      let start = 0
      for (let end = ends.find(bytes, 0); end >= 0; end = ends.find(bytes, end)) {
        events.push(joinBytes([...held, bytes.subarray(start, end)]))
        held = []
        start = end
      }
      // Copied, because the stream's reader may reuse its buffer.
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
