/** Takes the closing usage chunk out of a stream whose client did not ask for it; every other byte passes unchanged. */
import { isJsonObject, parseJsonObject } from './json-object.ts'

export interface UsageDropper {
  /** Bytes that can be passed on: whole events, without the usage chunk. */
  push(bytes: Uint8Array): Uint8Array
  /** What is left when the stream ends in the middle of an event. */
  end(): Uint8Array
}

const LF = 10
const CR = 13
const EMPTY = new Uint8Array(0)
const decoder = new TextDecoder()
const USAGE_KEY = '"usage"'

export function createUsageDropper(): UsageDropper {
  let held: Uint8Array = EMPTY

  return {
    push(bytes) {
      const all = held.length === 0 ? bytes : join([held, bytes])
      const passed: Uint8Array[] = []
      let start = 0
      for (let end = findEventEnd(all, start); end > 0; end = findEventEnd(all, start)) {
        const event = all.subarray(start, end)
        if (!isUsageChunk(event)) passed.push(event)
        start = end
      }
      // Copied: the buffer it lies in may be reused by whoever read it.
      held = start === all.length ? EMPTY : all.slice(start)
      return join(passed)
    },
    end() {
      const rest = isUsageChunk(held) ? EMPTY : held
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

function isUsageChunk(event: Uint8Array): boolean {
  if (event.length < USAGE_KEY.length) return false
  const text = decoder.decode(event)
  if (!text.includes(USAGE_KEY)) return false
  const data = text
    .split(/\r\n|\n|\r/)
    .filter(line => line.startsWith('data:'))
    .map(line => line.slice(5))
    .join('\n')
  const chunk = parseJsonObject(data)
  return chunk !== undefined && isJsonObject(chunk.usage) && Array.isArray(chunk.choices) && chunk.choices.length === 0
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
