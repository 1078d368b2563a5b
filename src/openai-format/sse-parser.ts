/** Reads server-sent events from bytes, however they are cut, as the WHATWG standard defines the format. */

import { createParser } from 'eventsource-parser'

export interface SseEvent {
  /** The `event` field; null where the stream named none. */
  event: string | null
  data: string
}

export interface SseParser {
  push(bytes: Uint8Array): void
  /** Ends the stream. Unlike in a browser, an event that lacks only its blank line, or its last line end, counts. */
  end(): void
}

/**
 * Calls `onEvent` for each event, synchronously, within the `push` that completes it. Comments, `id` and `retry` are
 * skipped, and invalid UTF-8 reads as U+FFFD: no input makes it throw, but what `onEvent` throws passes through.
 */
export function createSseParser(onEvent: (event: SseEvent) => void): SseParser {
  // The parser strips the one byte-order mark the standard allows; the decoder must not strip another.
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
