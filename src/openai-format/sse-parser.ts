/** Parses server-sent events from bytes, however they are chunked, as the WHATWG standard defines the format. */

import { createParser } from 'eventsource-parser'

export interface SseEvent {
  /** The `event` field; null when the event has none. */
  event: string | null
  data: string
}

export interface SseParser {
  push(bytes: Uint8Array): void
  /** Ends the stream. Unlike in a browser, a last event without its blank line or line end still counts. */
  end(): void
}

/**
 * Calls `onEvent` for each event, synchronously, within the `push` that completes it. Comments, `id` and `retry` are skipped,
 * and invalid UTF-8 becomes U+FFFD. No input makes it throw, but exceptions of `onEvent` pass through.
 */
export function createSseParser(onEvent: (event: SseEvent) => void): SseParser {
  // The parser removes the one byte-order mark that the standard allows. The decoder must not remove another.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const parser = createParser({
    onEvent: message => onEvent({ event: message.event ?? null, data: message.data }),
  })
  return {
    push(bytes) {
      parser.feed(decoder.decode(bytes, { stream: true }))
    },
    end() {
      parser.feed(`${decoder.decode()}\n\n`)
    },
  }
}
