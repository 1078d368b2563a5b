/** The events of one stream, kept for those who come later, and read by each reader at a pace of its own. */
import type { ProxyError } from '../errors.ts'
import type { EventLump } from '../openai-format/event-lump.ts'

/** Upstream is read no further ahead of the fastest reader than this. */
const READ_AHEAD_BYTES = 1024 * 1024
/** A longer stream takes no further readers, and forgets what all have read. */
const REPLAYABLE_BYTES = 1024 * 1024
/** Lumps are forgotten so many at a time. */
const FORGET_LUMPS = 64

export class EventBuffer {
  readonly #readers = new Set<{ at: number }>()
  #lumps: EventLump[] = []
  /** Lumps forgotten in front of `#lumps`. */
  #forgotten = 0
  #pushedBytes = 0
  #furthestRead = 0
  #unreadBytes = 0
  #end: { failure: ProxyError | undefined } | null = null
  #wakeReaders: (() => void)[] = []
  #resumeWriter: (() => void) | null = null

  /** Whether a new reader would still hear all of it. */
  get isReplayable(): boolean {
    return this.#forgotten === 0 && this.#pushedBytes <= REPLAYABLE_BYTES
  }

  /** Adds events; resolves when there is room for more. */
  push(lump: EventLump): Promise<void> {
    this.#lumps.push(lump)
    this.#pushedBytes += lump.bytes.length
    this.#unreadBytes += lump.bytes.length
    this.#wake()
    // Without readers there is nobody to wait for: those who want the whole answer have room for all of it.
    if (this.#unreadBytes < READ_AHEAD_BYTES || this.#readers.size === 0) return ROOM
    return new Promise(resolve => {
      this.#resumeWriter = resolve
    })
  }

  /** No more events come. `failure` is thrown to those who have read all that came before it. */
  end(failure?: ProxyError): void {
    this.#end = { failure }
    this.#wake()
  }

  /** From the first event on. `read` resolves to null at the end; `close` gives the place up. */
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
    this.#lumps = this.#lumps.slice(least - this.#forgotten)
    this.#forgotten = least
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
