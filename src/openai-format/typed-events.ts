/** Writes server-sent events with their type in both the event's name and its data, and without a closing `[DONE]`. */

import type { JsonObject } from '../json/json-object.ts'

export type TypedEvent = JsonObject & { type: string }

const encoder = new TextEncoder()

export function encodeTypedEvents(events: readonly TypedEvent[]): Uint8Array {
  return encoder.encode(events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}
