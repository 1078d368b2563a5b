/** Buffers the events of one stream for late readers; each reader goes at its own pace. */
import type { ProxyError } from '../errors.ts'
import type { EventLump } from '../formats/sse/event-lump.ts'

/** The upstream is read at most this far ahead of the fastest reader. */
const READ_AHEAD_BYTES = 1024 * 1024
/** A longer stream takes no new readers, and drops events that every reader has read. */
const REPLAYABLE_BYTES = 1024 * 1024
/** Lumps are dropped in groups of this size. */
const FORGET_LUMPS = 64

export class EventBuffer {
  readonly #readers = new Set<{ at: number }>()
  #lumps: EventLump[] = []
  /** Number of lumps dropped before `#lumps`. */
  #forgotten = 0
  #pushedBytes = 0
  #furthestRead = 0
  #unreadBytes = 0
  #end: { failure: ProxyError | undefined } | null = null
  #wakeReaders: (() => void)[] = []
  #resumeWriter: (() => void) | null = null

  /** Whether a new reader would still get every event. */
  get isReplayable(): boolean {
    return this.#forgotten === 0 && this.#pushedBytes <= REPLAYABLE_BYTES
  }

  /** Adds events; resolves when there is room for more. */
  push(lump: EventLump): Promise<void> {
    this.#lumps.push(lump)
    this.#pushedBytes += lump.bytes.length
    this.#unreadBytes += lump.bytes.length
    this.#wake()
    // Nobody will read them.
    if (this.#readers.size === 0 && !this.isReplayable) this.#drop(this.#lumps.length)
    // Without live readers there is no backpressure: subscribers to the whole response have room for all of it.
    if (this.#unreadBytes < READ_AHEAD_BYTES || this.#readers.size === 0) return ROOM
    return new Promise(resolve => {
      this.#resumeWriter = resolve
    })
  }

  /** Ends the stream. `failure` is thrown to each reader after it has read everything before it. */
  end(failure?: ProxyError): void {
    this.#end = { failure }
    this.#wake()
  }

  /** Starts at the first event. `read` resolves to null at the end; `close` removes the reader. */
  openReader(): { read(): Promise<EventLump | null>; close(): void } {
    const reader = { at: 0 }
    this.#readers.add(reader)
    return {
      read: () => this.#read(reader),
      close: () => {
        this.#readers.delete(reader)
        this.#resume()
      },
    }
  }

  async #read(reader: { at: number }): Promise<EventLump | null> {
    for (;;) {
      const lump = this.#lumps[reader.at - this.#forgotten]
      if (lump) {
        this.#advance(reader, lump.bytes.length)
        return lump
      }
      if (this.#end?.failure) throw this.#end.failure
      if (this.#end) return null
      await new Promise<void>(resolve => this.#wakeReaders.push(resolve))
    }
  }

  #advance(reader: { at: number }, bytes: number): void {
    reader.at++
    if (reader.at > this.#furthestRead) {
      this.#furthestRead = reader.at
      this.#unreadBytes -= bytes
      if (this.#unreadBytes < READ_AHEAD_BYTES) this.#resume()
    }
    if (this.#pushedBytes > REPLAYABLE_BYTES) this.#forgetRead()
  }

  #forgetRead(): void {
    let least = this.#forgotten + this.#lumps.length
    for (const { at } of this.#readers) least = Math.min(least, at)
    if (least - this.#forgotten < FORGET_LUMPS) return
    this.#drop(least - this.#forgotten)
  }

  #drop(lumps: number): void {
    this.#lumps = this.#lumps.slice(lumps)
    this.#forgotten += lumps
  }

  #wake(): void {
    const woken = this.#wakeReaders
    this.#wakeReaders = []
    for (const wake of woken) wake()
  }

  #resume(): void {
    this.#resumeWriter?.()
    this.#resumeWriter = null
  }
}

const ROOM = Promise.resolve()
