/**
 * Redacts credentials whose text is split over several events. Strings at the same position of successive events continue each other: a
 * delta of text, of a tool call's arguments. Events whose text may be the beginning of a credential are held until it is known, then go
 * unchanged, or with the credential redacted.
 */
import { type JsonObject, writeField } from '../../formats/json/canonical.ts'
import { parseStreamFrame, type StreamFrame } from '../../formats/sse/stream-frame.ts'
import type { Credentials } from './credentials.ts'

/** Fewer characters of a credential do not tell it, and most texts end in one or two: they are forwarded at once, and remembered. */
const FEWEST_HELD = 4
/** All bytes of the events that are held. Beyond it they are forwarded, and only what follows is redacted. */
const MOST_HELD_BYTES = 256 * 1024

/** Texts that wait for more, over all of a realtime session. */
const MOST_TEXTS = 256

/** Fields of an event that tell apart texts which arrive interleaved. The blocks of a message do not, and are often joined. */
const POSITION = /^(?:type|response_id)$|_index$/
/** Types of events behind which nothing more may come for a long time. */
const END = /(?:done|stop|completed|incomplete|failed|cancelled|error)$/

interface HeldEvent<E> {
  event: E
  body: JsonObject | null
  isChanged: boolean
}

/** A part of an event, and where it is in all events like it. */
interface Place {
  object: JsonObject
  path: string
}

interface Part<E> {
  held: HeldEvent<E>
  object: JsonObject
  name: string
}

/** The text at one position, from where a credential may begin. */
interface OpenText<E> {
  /** What was forwarded of it already. */
  sent: string
  /** Its strings in the events that are held. */
  parts: Part<E>[]
  /** All of it. */
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

  /** Returns the events to forward now. `data` is what the event carries. */
  push(event: E, data: string): E[] {
    const frame = parseStreamFrame(data)
    const held: HeldEvent<E> = { event, body: frame.kind === 'chunk' ? frame.chunk : null, isChanged: false }
    this.#held.push(held)
    this.#heldBytes += event.length
    if (isEnd(frame)) return this.#release()
    if (held.body) this.#read(held, held.body)
    if (this.#heldBytes > MOST_HELD_BYTES || ![...this.#texts.values()].some(isHeld)) return this.#release()
    // Copied, because the caller may use its buffer again.
    held.event = event.slice() as E
    return []
  }

  /** Returns the rest. */
  end(): E[] {
    return this.#release()
  }

  /** Reads all strings of an event; without recursion, since a provider may nest them as deep as it likes. */
  #read(held: HeldEvent<E>, body: JsonObject): void {
    // Beside choices, nothing is continued.
    const open: Place[] = [
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
          open.push({ object: value as JsonObject, path: `${path}.${placeOf(object, name, value)}` })
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
    if (this.#texts.size <= MOST_TEXTS) return
    for (const [oldest, { parts }] of this.#texts) if (parts.length === 0) return void this.#texts.delete(oldest)
  }

  #release(): E[] {
    for (const [position, open] of this.#texts) {
      if (open.parts.length === 0) continue
      const safe = this.#credentials.redact(open.text)
      if (safe !== open.text) this.#redact(open, safe)
      // What was redacted may end in a credential that is the beginning of another.
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

  /** Writes the whole text into the first of its strings. */
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
  return parts.length > 0 && end.length >= FEWEST_HELD
}

function rootOf(body: JsonObject): Place {
  let path = ''
  for (const name of Object.keys(body)) if (POSITION.test(name)) path += `${name}:${body[name]} `
  return { object: body, path }
}

/** A chunk of the second choice has no other: its index counts, not where it stands. */
function placeOf(parent: JsonObject, name: string, value: object): unknown {
  return Array.isArray(parent) ? ((value as JsonObject).index ?? name) : name
}
