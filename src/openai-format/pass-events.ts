/** Passes a stream on event by event: nobody can use a part of one, and what broke off in the middle of one is told after it. */
import { createEventEnds } from './event-ends.ts'

export interface EventPasser {
  /** The bytes of all events that are complete; empty while none is. */
  push(bytes: Uint8Array): Uint8Array
  /** What is left when the stream ends in the middle of an event. */
  end(): Uint8Array
}

/** An event's bytes as the client is to have them: the same, others, or none. */
export type EditEvent = (event: Uint8Array) => Uint8Array

/** Without `edit`, bytes pass unchanged. */
export function createEventPasser(edit: EditEvent | null): EventPasser {
  const ends = createEventEnds()
  /** Parts of an event whose end has not come. */
  let held: Uint8Array[] = []

  return {
    push(bytes) {
      const passed: Uint8Array[] = []
      let start = 0
      for (let end = ends.find(bytes, 0); end >= 0; end = ends.find(bytes, end)) {
        const event = joinBytes([...held, bytes.subarray(start, end)])
        passed.push(edit ? edit(event) : event)
        held = []
        start = end
      }
      // Copied: the buffer it lies in may be reused by whoever read it.
      if (start < bytes.length) held.push(bytes.slice(start))
      return joinBytes(passed)
    },
    end() {
      const rest = joinBytes(held)
      held = []
      return edit && rest.length > 0 ? edit(rest) : rest
    },
  }
}

/** The bytes of all parts, copied only where there are several. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
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
