/** Complete server-sent events that arrived together. Provides them with and without usage, because the proxy always requests usage, but clients may not. */

import { isJsonObject, type JsonObject, readField } from '../json/canonical.ts'
import { tryParseLosslessJson } from '../json/lossless-json.ts'
import { concatBytes } from './split-events.ts'
import { parseSseEvent, replaceData } from './sse.ts'

export class EventChunk {
  /** `performance.now()` when they arrived. */
  readonly arrivedMs = performance.now()
  /** The events as the upstream sent them. */
  readonly bytes: Uint8Array
  /** The length of each event. Storing views instead would retain the buffers that they belong to. */
  readonly #lengths: readonly number[]
  #withoutUsage: Uint8Array | null = null

  /** Each event's bytes include its closing blank line. */
  constructor(events: readonly Uint8Array[]) {
    this.bytes = concatBytes(events)
    this.#lengths = events.map(({ length }) => length)
  }

  /** The last event; null when there is none. */
  get lastEvent(): Uint8Array | null {
    const length = this.#lengths.at(-1)
    return length === undefined ? null : this.bytes.subarray(this.bytes.length - length)
  }

  /** The events without usage; empty when they contain only usage. Computed once for all subscribers. */
  get bytesWithoutUsage(): Uint8Array {
    this.#withoutUsage ??=
      indexOf(this.bytes, USAGE_KEY) < 0 ? this.bytes : concatBytes(this.#splitEvents().map(stripUsage))
    return this.#withoutUsage
  }

  /** Memory of the events, with and without usage. */
  get heldBytes(): number {
    return 2 * this.bytes.length
  }

  #splitEvents(): Uint8Array[] {
    let start = 0
    return this.#lengths.map(length => {
      const event = this.bytes.subarray(start, start + length)
      start += length
      return event
    })
  }
}

const EMPTY = new Uint8Array(0)
const USAGE_KEY = Buffer.from('"usage"')
/** OpenAI writes this into every chunk except the last. */
const NULL_USAGE = Buffer.from(',"usage":null')

/** Returns the event without usage: empty when it contained only usage, unchanged when it contained none. */
export function stripUsage(event: Uint8Array): Uint8Array {
  const at = indexOf(event, USAGE_KEY)
  if (at < 0) return event
  const isNullUsage = at > 0 && indexOf(event, NULL_USAGE) === at - 1
  if (!isNullUsage || indexOf(event, USAGE_KEY, at + 1) >= 0) return rewrite(event)
  const rest = event.slice(0, -NULL_USAGE.length)
  rest.set(event.subarray(at - 1 + NULL_USAGE.length), at - 1)
  return rest
}

/** Searches without creating a Buffer, which would cost several times as much as the search. */
function indexOf(bytes: Uint8Array, part: Buffer, from = 0): number {
  return Buffer.prototype.indexOf.call(bytes as Buffer, part, from)
}

/** Parses the event. It is empty without usage when it contains only usage. Its other numbers are not rounded. */
function rewrite(event: Uint8Array): Uint8Array {
  const chunk = tryParseLosslessJson(parseSseEvent(event)?.data ?? '')
  if (!isJsonObject(chunk) || !Object.hasOwn(chunk, 'usage')) return event
  const { usage, ...rest } = chunk
  const choices = readField(rest, 'choices')
  const isUsageChunk = usage !== null && Array.isArray(choices) && choices.length === 0
  return isUsageChunk && !hasGroqUsage(rest) ? EMPTY : replaceData(event, rest)
}

/** Whether the chunk has usage in `x_groq`, where Groq's clients read it even if they did not request it. */
function hasGroqUsage(chunk: JsonObject): boolean {
  const groq = readField(chunk, 'x_groq')
  return isJsonObject(groq) && isJsonObject(readField(groq, 'usage'))
}
