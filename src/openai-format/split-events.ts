/** Cuts a stream into whole events: nobody can use a part of one, and what broke off in the middle of one is told after it. */
import { createEventEnds } from './event-ends.ts'
import { joinBytes } from './join-bytes.ts'

export interface EventSplitter {
  /** The events that are complete now, each with its bytes as they came. */
  push(bytes: Uint8Array): Uint8Array[]
  /** What is left when the stream ends in the middle of an event; empty where it does not. */
  end(): Uint8Array
}

export function createEventSplitter(): EventSplitter {
  const ends = createEventEnds()
  /** Parts of an event whose end has not come. */
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
      // Copied: the buffer it lies in may be reused by whoever read it.
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
