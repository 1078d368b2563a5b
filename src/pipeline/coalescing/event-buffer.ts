/** Buffers the events of one stream for all its readers; each reader goes at its own pace, and the memory is the room's. */
import { createError, type ProxyError } from '../../errors/errors.ts'
import type { MemoryHolder, MemoryReservation, StreamMemory } from '../../event-loop/stream-memory.ts'
import type { EventChunk } from '../../formats/sse/event-chunk.ts'

/** The upstream is read at most this far ahead of the fastest reader. */
const READ_AHEAD_BYTES = 64 * 1024
/**
 * What the runtime takes beyond that for an upstream that is faster than its readers: what one read gave, of which the rest is still to be
 * passed on, and what it has read meanwhile, before it stops the socket.
 */
const RUNTIME_AHEAD_BYTES = 1536 * 1024
/** An upstream of which one read gives less than this is not ahead. */
const AHEAD_FROM_BYTES = 32 * 1024
/** A stream that has sent less than this is a new one. */
const NEW_BYTES = 1024 * 1024
/**
 * A longer stream takes no new readers, and drops events that every reader has read. Longer than what sockets take of a stream whose reader
 * stands still, so that equal requests which come one after the other share it.
 */
const REPLAYABLE_BYTES = 16 * 1024 * 1024
/** The places of dropped lumps are closed up in groups of this size. */
const CLOSED_UP_LUMPS = 64

interface Reader {
  at: number
  /** When it last took something. */
  tookMs: number
  cut: ProxyError | null
  onCut(): void
}

export interface EventReader {
  /** Resolves to null at the end. Throws what broke the stream off, or that the reader was cut off. */
  read(): Promise<EventChunk | null>
  close(): void
}

export class EventBuffer implements MemoryHolder {
  readonly #room: StreamMemory
  readonly #held: MemoryReservation
  readonly #readers = new Set<Reader>()
  /** From `#firstPlace` on; those before `#forgotten` have been dropped. */
  #lumps: (EventChunk | null)[] = []
  #firstPlace = 0
  #forgotten = 0
  #pushedBytes = 0
  #furthestRead = 0
  /** Of the fastest reader. */
  #unreadBytes = 0
  #end: { failure: ProxyError | undefined } | null = null
  #wakeReaders: (() => void)[] = []
  #resumeWriter: (() => void) | null = null
  #isAhead = false

  constructor(room: StreamMemory) {
    this.#room = room
    this.#held = room.reserve(this)
  }

  /** Whether a new reader would still get every event. */
  get isReplayable(): boolean {
    return this.#forgotten === 0 && this.#pushedBytes <= REPLAYABLE_BYTES
  }

  /** Adds events; resolves when there is room for more. */
  push(lump: EventChunk): Promise<void> {
    this.#lumps.push(lump)
    this.#pushedBytes += lump.bytes.length
    this.#unreadBytes += lump.bytes.length
    this.#held.add(lump.heldBytes)
    this.#wake()
    // Nobody reads them, and nobody can begin to.
    if (this.#readers.size === 0 && !this.isReplayable) this.#forgetRead()
    const isFast = lump.bytes.length >= AHEAD_FROM_BYTES
    if (isFast && !this.#isAhead && this.#pushedBytes < NEW_BYTES) this.rejectIfMemoryFull()
    const mustWait = this.#mustWait()
    this.#noteAhead(mustWait || (isFast && this.#readers.size > 0))
    if (!mustWait) return ROOM
    return new Promise(resolve => {
      this.#resumeWriter = resolve
    })
  }

  /** For a new stream: its readers are told that there is no room for it. */
  rejectIfMemoryFull(): void {
    if (!this.#room.isFull) return
    for (const reader of [...this.#readers]) this.#cut(reader, createError('tooManyUnreadStreams'))
  }

  /** Ends the stream. `failure` is thrown to each reader after it has read everything before it. */
  end(failure?: ProxyError): void {
    this.#end = { failure }
    this.#noteAhead(false)
    this.#wake()
    this.#closeWhenOver()
  }

  /** Starts at the first event. `onCut` is called when the room needs what the reader has not read: it gets nothing more. */
  openReader(onCut: () => void = () => {}): EventReader {
    const reader: Reader = { at: 0, tookMs: performance.now(), cut: null, onCut }
    this.#readers.add(reader)
    return { read: () => this.#read(reader), close: () => this.#leave(reader) }
  }

  freeConsumed(): void {
    this.#forgetRead()
  }

  unreadSinceMs(): number {
    const slowest = this.#slowest()
    const next = slowest && this.#lumpAt(slowest.at)
    return next ? Math.max(slowest.tookMs, next.arrivedMs) : Number.POSITIVE_INFINITY
  }

  disconnectSlowest(beforeMs: number): void {
    const slowest = this.#slowest()
    for (const reader of [...this.#readers]) {
      if (reader.at === slowest?.at && reader.tookMs < beforeMs) this.#cut(reader, createError('slowReader'))
    }
    this.#forgetRead()
  }

  resume(): void {
    const resumeWriter = this.#resumeWriter
    if (!resumeWriter || this.#mustWait()) return
    this.#resumeWriter = null
    resumeWriter()
  }

  async #read(reader: Reader): Promise<EventChunk | null> {
    for (;;) {
      if (reader.cut) throw reader.cut
      const lump = this.#lumpAt(reader.at)
      if (lump) {
        this.#advance(reader, lump.bytes.length)
        return lump
      }
      if (this.#end?.failure) throw this.#end.failure
      if (this.#end) return null
      await new Promise<void>(resolve => this.#wakeReaders.push(resolve))
    }
  }

  #advance(reader: Reader, bytes: number): void {
    const from = reader.at++
    reader.tookMs = performance.now()
    if (reader.at > this.#furthestRead) {
      this.#furthestRead = reader.at
      this.#unreadBytes -= bytes
    }
    const isKept = this.#pushedBytes <= REPLAYABLE_BYTES && this.#room.hasSpareSpace
    if (!isKept && from === this.#forgotten) this.#forgetRead()
    this.resume()
  }

  #cut(reader: Reader, error: ProxyError): void {
    reader.cut = error
    this.#room.recordDisconnect()
    this.#leave(reader)
    reader.onCut()
  }

  #leave(reader: Reader): void {
    if (!this.#readers.delete(reader)) return
    // Whoever left last has ended the call; or nobody reads on as it comes.
    if (this.#readers.size === 0) this.#noteAhead(false)
    this.resume()
    this.#closeWhenOver()
  }

  /** In a full room, the slowest reader sets the pace; else the fastest. Without live readers there is no backpressure. */
  #mustWait(): boolean {
    if (this.#readers.size === 0) return false
    if (!this.#room.isFull) return this.#unreadBytes >= READ_AHEAD_BYTES
    return this.#lumpAt(this.#slowest()?.at ?? 0) !== null
  }

  #noteAhead(isAhead: boolean): void {
    if (isAhead === this.#isAhead) return
    this.#isAhead = isAhead
    this.#held.add(isAhead ? RUNTIME_AHEAD_BYTES : -RUNTIME_AHEAD_BYTES)
  }

  #slowest(): Reader | null {
    let slowest: Reader | null = null
    for (const reader of this.#readers) {
      const isSlower =
        !slowest || reader.at < slowest.at || (reader.at === slowest.at && reader.tookMs < slowest.tookMs)
      if (isSlower) slowest = reader
    }
    return slowest
  }

  #lumpAt(place: number): EventChunk | null {
    return this.#lumps[place - this.#firstPlace] ?? null
  }

  #forgetRead(): void {
    const least = this.#slowest()?.at ?? this.#firstPlace + this.#lumps.length
    let bytes = 0
    for (; this.#forgotten < least; this.#forgotten++) {
      bytes += this.#lumpAt(this.#forgotten)?.heldBytes ?? 0
      this.#lumps[this.#forgotten - this.#firstPlace] = null
    }
    if (this.#forgotten - this.#firstPlace >= CLOSED_UP_LUMPS) {
      this.#lumps = this.#lumps.slice(this.#forgotten - this.#firstPlace)
      this.#firstPlace = this.#forgotten
    }
    if (bytes > 0) this.#held.add(-bytes)
  }

  /** A stream that is over has no new readers, and one without events none at all. */
  #closeWhenOver(): void {
    if (!this.#end || (this.#readers.size > 0 && this.#pushedBytes > 0)) return
    this.#lumps = []
    this.#held.release()
  }

  #wake(): void {
    const woken = this.#wakeReaders
    this.#wakeReaders = []
    for (const wake of woken) wake()
  }
}

const ROOM = Promise.resolve()
