/**
 * Redacts credentials whose text is split over several events. Strings at the same position of successive events continue each other, such as
 * deltas of text or of a tool call's arguments. Events whose text may be the beginning of a credential are held until that is known. They are
 * then forwarded unchanged, or with the credential redacted.
 */
import { type JsonObject, writeField } from '../../formats/json/canonical.ts'
import { parseStreamFrame, type StreamFrame } from '../../formats/sse/chunk-reader.ts'
import type { Credentials } from './credentials.ts'

/** Fewer matching characters do not hold an event: they reveal little of a credential, and most texts end in one or two. They are remembered. */
const MIN_HELD_CHARS = 4
/** The upper bound on the bytes of held events. Beyond it, the events are forwarded, and only later text is redacted. */
const MAX_HELD_BYTES = 256 * 1024

/** The upper bound on remembered texts of a stream or a realtime session. */
const MAX_TEXTS = 256

/** Matches fields that distinguish texts which arrive interleaved. The index of a message's block is not used, because blocks are often joined. */
const POSITION = /^(?:type|response_id)$|_index$/
/** Matches event types that may be followed by a long pause. */
const END = /(?:done|stop|completed|incomplete|failed|cancelled|error)$/

interface HeldEvent<E> {
  event: E
  body: JsonObject | null
  isChanged: boolean
}

/** An object inside an event, and its path, which is the same in similar events. */
interface EventNode {
  object: JsonObject
  path: string
}

interface Part<E> {
  held: HeldEvent<E>
  object: JsonObject
  name: string
}

/** The text at one position, beginning where a credential may begin. */
interface OpenText<E> {
  /** The beginning of the text that was already forwarded. */
  sent: string
  /** The strings of the text in the held events. */
  parts: Part<E>[]
  /** The whole text. */
  text: string
  /** The end that may be the beginning of a credential. */
  end: string
}

export class EventFilter<E extends string | Uint8Array> {
  readonly #credentials: Credentials
  readonly #write: (event: E, body: JsonObject) => E
  readonly #texts = new Map<string, OpenText<E>>()
  #held: HeldEvent<E>[] = []
  #heldBytes = 0
  hasFound = false

  /** `write` returns the event with another body. */
  constructor(credentials: Credentials, write: (event: E, body: JsonObject) => E) {
    this.#credentials = credentials
    this.#write = write
  }

  /** Returns the events to forward now. `data` is the event's data. */
  push(event: E, data: string): E[] {
    const frame = parseStreamFrame(data)
    const held: HeldEvent<E> = { event, body: frame.kind === 'chunk' ? frame.chunk : null, isChanged: false }
    this.#held.push(held)
    this.#heldBytes += event.length
    if (isEnd(frame)) return this.#release()
    if (held.body) this.#read(held, held.body)
    if (this.#heldBytes > MAX_HELD_BYTES || ![...this.#texts.values()].some(isHeld)) return this.#release()
    // The event is copied, because the caller may reuse its buffer.
    held.event = event.slice() as E
    return []
  }

  /** Returns the held events. */
  end(): E[] {
    return this.#release()
  }

  /** Reads all strings of an event. It uses no recursion, because a provider may nest them to any depth. */
  #read(held: HeldEvent<E>, body: JsonObject): void {
    // In an event with choices, only the choices continue texts of earlier events.
    const open: EventNode[] = [
      Array.isArray(body.choices) ? { object: body.choices as object as JsonObject, path: '' } : rootOf(body),
    ]
    for (let next = open.pop(); next; next = open.pop()) {
      const { object, path } = next
      for (const name of Object.keys(object)) {
        const value = object[name]
        if (typeof value === 'string') {
          const end = this.#credentials.openEndOf(value)
          if (end !== '' || this.#texts.size > 0) this.#readText({ held, object, name }, `${path}.${name}`, end)
        } else if (typeof value === 'object' && value !== null) {
          open.push({ object: value as JsonObject, path: `${path}.${segmentOf(object, name, value)}` })
        }
      }
    }
  }

  #readText(part: Part<E>, position: string, end: string): void {
    const known = this.#texts.get(position)
    if (!known && end === '') return
    const value = String(part.object[part.name]).toWellFormed()
    const open = known ?? { sent: '', parts: [], text: '', end }
    open.parts.push(part)
    open.text += value
    if (known) open.end = this.#credentials.openEndOf(open.text)
    else this.#open(position, open)
  }

  #open(position: string, text: OpenText<E>): void {
    this.#texts.set(position, text)
    if (this.#texts.size <= MAX_TEXTS) return
    for (const [oldest, { parts }] of this.#texts) if (parts.length === 0) return void this.#texts.delete(oldest)
  }

  #release(): E[] {
    for (const [position, open] of this.#texts) {
      if (open.parts.length === 0) continue
      const safe = this.#credentials.redact(open.text)
      if (safe !== open.text) this.#redact(open, safe)
      // The redacted text may end in a credential that is the beginning of another one.
      if (open.end === '' || !safe.endsWith(open.end)) this.#texts.delete(position)
      Object.assign(open, { sent: open.end, parts: [], text: open.end })
    }
    const events = this.#held.map(({ event, body, isChanged }) =>
      isChanged && body ? this.#write(event, body) : event,
    )
    this.#held = []
    this.#heldBytes = 0
    return events
  }

  /** Writes the redacted text into the first of its strings, and empties the others. */
  #redact({ parts, sent }: OpenText<E>, safe: string): void {
    this.hasFound = true
    let start = 0
    while (start < sent.length && safe[start] === sent[start]) start++
    for (const [at, { held, object, name }] of parts.entries()) {
      writeField(object, name, at === 0 ? safe.slice(start) : '')
      held.isChanged = true
    }
  }
}

function isEnd(frame: StreamFrame): boolean {
  if (frame.kind === 'chunk') return typeof frame.chunk.type === 'string' && END.test(frame.chunk.type)
  return frame.kind !== 'empty'
}

function isHeld({ parts, end }: OpenText<unknown>): boolean {
  return parts.length > 0 && end.length >= MIN_HELD_CHARS
}

function rootOf(body: JsonObject): EventNode {
  let path = ''
  for (const name of Object.keys(body)) if (POSITION.test(name)) path += `${name}:${body[name]} `
  return { object: body, path }
}

/** Returns the path segment of a child. An array element is identified by its `index`: a chunk may contain only the second choice. */
function segmentOf(parent: JsonObject, name: string, value: object): unknown {
  return Array.isArray(parent) ? ((value as JsonObject).index ?? name) : name
}
