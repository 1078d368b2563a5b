/** Keeps usage out of a stream whose client did not ask for it; every other byte passes unchanged. */
import { hideUsage } from './usage.ts'

export interface UsageDropper {
  /** Bytes that can be passed on: whole events, without usage. */
  push(bytes: Uint8Array): Uint8Array
  /** What is left when the stream ends in the middle of an event. */
  end(): Uint8Array
}

const LF = 10
const CR = 13
const EMPTY = new Uint8Array(0)
const USAGE_KEY = Buffer.from('"usage"')
const decoder = new TextDecoder()
const encoder = new TextEncoder()

export function createUsageDropper(): UsageDropper {
  let held: Uint8Array = EMPTY

  return {
    push(bytes) {
      const all = held.length === 0 ? bytes : join([held, bytes])
      const passed: Uint8Array[] = []
      let start = 0
      for (let end = findEventEnd(all, start); end > 0; end = findEventEnd(all, start)) {
        const event = withoutUsage(all.subarray(start, end))
        if (event.length > 0) passed.push(event)
        start = end
      }
      // Copied: the buffer it lies in may be reused by whoever read it.
      held = start === all.length ? EMPTY : all.slice(start)
      return join(passed)
    },
    end() {
      const rest = withoutUsage(held)
      held = EMPTY
      return rest
    },
  }
}

/** Index behind the blank line that ends the event beginning at `start`; 0 while there is none. */
function findEventEnd(bytes: Uint8Array, start: number): number {
  let lineStart = start
  for (let i = start; i < bytes.length; i++) {
    if (bytes[i] !== LF && bytes[i] !== CR) continue
    // A lone CR at the very end may be half of a CRLF.
    if (bytes[i] === CR && i + 1 === bytes.length) return 0
    const next = bytes[i] === CR && bytes[i + 1] === LF ? i + 2 : i + 1
    if (i === lineStart && lineStart > start) return next
    lineStart = next
    i = next - 1
  }
  return 0
}

/** The event as it is, unless it tells usage: rewritten then, or empty where it was there for nothing else. */
function withoutUsage(event: Uint8Array): Uint8Array {
  if (!Buffer.from(event.buffer, event.byteOffset, event.byteLength).includes(USAGE_KEY)) return event
  const lines = decoder.decode(event).split(/\r\n|\n|\r/)
  const data = lines.filter(line => line.startsWith('data:')).map(line => line.slice(5).replace(/^ /, ''))
  const told = data.join('\n')
  const shown = hideUsage(told)
  if (shown === null) return EMPTY
  if (shown === told) return event
  const others = lines.filter(line => line !== '' && !line.startsWith('data:'))
  return encoder.encode(`${[...others, `data: ${shown}`].join('\n')}\n\n`)
}

function join(parts: readonly Uint8Array[]): Uint8Array {
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
