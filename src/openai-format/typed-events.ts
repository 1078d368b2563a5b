/** Writes server-sent events that have their type both as the event's name and in its data, and end without `[DONE]`. */

import type { JsonObject } from '../json/json-object.ts'

export type TypedEvent = JsonObject & { type: string }

const encoder = new TextEncoder()

export function encodeTypedEvents(events: readonly TypedEvent[]): Uint8Array {
  return encoder.encode(events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}
