/** Parses server-sent events from bytes, encodes typed events, and reads the name of an event. */

import { createParser } from 'eventsource-parser'
import { type JsonObject, parseJsonObject } from '../json/canonical.ts'

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
 * and invalid UTF-8 becomes U+FFFD. No input makes it throw, but exceptions of `onEvent` propagate. `onStray` gets failures that are no events
 * by the standard: some servers send a field named `error`, or a JSON object on its own line.
 */
export function createSseParser(onEvent: (event: SseEvent) => void, onStray?: (event: SseEvent) => void): SseParser {
  // The parser removes the one byte-order mark that the standard allows. The decoder must not remove another.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const parser = createParser({
    onEvent: message => onEvent({ event: message.event ?? null, data: message.data }),
    onError({ field, value, line }) {
      if (field === 'error') onStray?.({ event: 'error', data: value ?? '' })
      else if (line?.startsWith('{')) onStray?.({ event: null, data: line })
    },
  })
  /** The beginning of an incomplete line. The parser reports errors only for lines that it gets whole. */
  let partialLine = ''

  function feed(text: string): void {
    const end = endOfLines(text)
    if (end === text.length && partialLine === '') return void parser.feed(text)
    if (end > 0) parser.feed(partialLine + text.slice(0, end))
    partialLine = end > 0 ? text.slice(end) : partialLine + text
  }

  return {
    push: bytes => feed(decoder.decode(bytes, { stream: true })),
    end: () => feed(`${decoder.decode()}\n\n`),
  }
}

/** Returns the length of the text up to its last line end. A CR at the end does not count, because it may be half of a CRLF. */
function endOfLines(text: string): number {
  if (text.endsWith('\n')) return text.length
  return Math.max(text.lastIndexOf('\n'), text.length > 1 ? text.lastIndexOf('\r', text.length - 2) : -1) + 1
}

export type TypedEvent = JsonObject & { type: string }

const encoder = new TextEncoder()

export function encodeTypedEvents(events: readonly JsonObject[]): Uint8Array {
  return encoder.encode(events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}

/** Parses one whole event; null when it has no data. */
export function parseSseEvent(bytes: Uint8Array): SseEvent | null {
  let parsed: SseEvent | null = null
  const parser = createSseParser(event => {
    parsed = event
  })
  parser.push(bytes)
  parser.end()
  return parsed
}

/** Whether a body with this beginning is an event stream. */
export function beginsStream(text: string): boolean {
  // raw text: the beginning of a stream is no JSON.
  return /^\s*(?:data|event|id|retry|error)?:/.test(text)
}

/** Returns a whole event with new data. Its other lines stay unchanged. */
export function replaceData(event: Uint8Array, data: unknown): Uint8Array {
  const lines = new TextDecoder().decode(event).split(/\r\n|\r|\n/)
  const others = lines.filter(line => line !== '' && !/^\uFEFF?data(?::|$)/.test(line))
  return encoder.encode([...others, `data: ${JSON.stringify(data)}\n\n`].join('\n'))
}

/** Returns the data of a whole event; undefined when it is not a JSON object. */
export function parseEventData(event: Uint8Array): JsonObject | undefined {
  return parseJsonObject(parseSseEvent(event)?.data ?? '')
}

/** Bytes that are searched for the name, which is in the first line or at the beginning of the data. */
const NAME_PREFIX_BYTES = 128

/** Whether the event has one of these names, in its `event` line or as its data's type. */
export function hasEventName(event: Uint8Array, names: readonly string[]): boolean {
  const beginning = Buffer.from(event.buffer, event.byteOffset, Math.min(event.length, NAME_PREFIX_BYTES)).toString(
    'latin1',
  )
  const name =
    // raw text: an event whose name contains an escape is relayed like any other.
    /^event: ?(.*)/m.exec(beginning)?.[1]?.trimEnd() ?? /^data: ?\{\s*"type"\s*:\s*"([^"]*)"/m.exec(beginning)?.[1]
  return name !== undefined && names.includes(name)
}
