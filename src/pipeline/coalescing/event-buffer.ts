/** Buffers the events of one stream for all its readers. Each reader reads at its own pace; the memory counts against StreamMemory. */
import { createError, type ProxyError } from '../../errors/errors.ts'
import type { MemoryHolder, MemoryReservation, StreamMemory } from '../../event-loop/stream-memory.ts'
import type { EventChunk } from '../../formats/sse/event-chunk.ts'

/** The buffer reads the upstream at most this far ahead of the fastest reader. */
const READ_AHEAD_BYTES = 64 * 1024
/**
 * Memory that the runtime uses beyond that for an upstream that is faster than its readers: the rest of the last read, and the bytes that
 * the runtime reads before it pauses the socket.
 */
const RUNTIME_BUFFER_BYTES = 1536 * 1024
/** An upstream whose reads are smaller than this is not ahead of its readers. */
const FAST_READ_BYTES = 32 * 1024
/** A stream that has sent less than this is new. */
const NEW_STREAM_BYTES = 1024 * 1024
/**
 * A longer stream accepts no new readers, and drops events that every reader has read. The limit exceeds what sockets buffer for a stalled
 * reader, so that identical requests which arrive one after the other share the stream.
 */
const REPLAYABLE_BYTES = 16 * 1024 * 1024
/** The array is shortened when this many of its chunks are dropped. */
const MAX_DROPPED_CHUNKS = 64

interface Reader {
  position: number
  /** The time of the reader's last read, in milliseconds of `performance.now`. */
  lastReadMs: number
  disconnectError: ProxyError | null
  onDisconnect(): void
}

export interface EventReader {
  /** Resolves to the next events, or to null at the end. Throws the stream's failure, or the error by which the reader was disconnected. */
  read(): Promise<EventChunk | null>
  close(): void
}

export class EventBuffer implements MemoryHolder {
  readonly #memory: StreamMemory
  readonly #reservation: MemoryReservation
  readonly #readers = new Set<Reader>()
  /** Chunks from index `#firstIndex` on. Those before `#firstRetained` are dropped. */
  #chunks: (EventChunk | null)[] = []
  #firstIndex = 0
  #firstRetained = 0
  #pushedBytes = 0
  #fastestPosition = 0
  /** Bytes that the fastest reader has not read. */
  #unreadBytes = 0
  #end: { failure: ProxyError | undefined } | null = null
  #wakeReaders: (() => void)[] = []
  #resumeWriter: (() => void) | null = null
  #isAhead = false

  constructor(memory: StreamMemory) {
    this.#memory = memory
    this.#reservation = memory.reserve(this)
  }

  /** Whether a new reader would receive every event. */
  get isReplayable(): boolean {
    return this.#firstRetained === 0 && this.#pushedBytes <= REPLAYABLE_BYTES
  }

  /** Adds events. Resolves when the writer may continue. */
  push(chunk: EventChunk): Promise<void> {
    this.#chunks.push(chunk)
    this.#pushedBytes += chunk.bytes.length
    this.#unreadBytes += chunk.bytes.length
    this.#reservation.add(chunk.heldBytes)
    this.#wake()
    // There is no reader, and no new one can be added.
    if (this.#readers.size === 0 && !this.isReplayable) this.#dropConsumed()
    const isFast = chunk.bytes.length >= FAST_READ_BYTES
    if (isFast && !this.#isAhead && this.#pushedBytes < NEW_STREAM_BYTES) this.rejectIfMemoryFull()
    const mustWait = this.#mustWait()
    this.#setAhead(mustWait || (isFast && this.#readers.size > 0))
    if (!mustWait) return NO_WAIT
    return new Promise(resolve => {
      this.#resumeWriter = resolve
    })
  }

  /** Disconnects the readers of a new stream with an error if the stream memory is full. */
  rejectIfMemoryFull(): void {
    if (!this.#memory.isFull) return
    for (const reader of [...this.#readers]) this.#disconnect(reader, createError('tooManyUnreadStreams'))
  }

  /** Ends the stream. Each reader throws `failure` after it has read all events. */
  end(failure?: ProxyError): void {
    this.#end = { failure }
    this.#setAhead(false)
    this.#wake()
    this.#releaseIfFinished()
  }

  /** Opens a reader at the first event. `onDisconnect` is called if the reader is disconnected to free memory. */
  openReader(onDisconnect: () => void = () => {}): EventReader {
    const reader: Reader = { position: 0, lastReadMs: performance.now(), disconnectError: null, onDisconnect }
    this.#readers.add(reader)
    return { read: () => this.#read(reader), close: () => this.#leave(reader) }
  }

  freeConsumed(): void {
    this.#dropConsumed()
  }

  unreadSinceMs(): number {
    const slowest = this.#slowest()
    const next = slowest && this.#chunkAt(slowest.position)
    return next ? Math.max(slowest.lastReadMs, next.arrivedMs) : Number.POSITIVE_INFINITY
  }

  disconnectSlowest(beforeMs: number): void {
    const slowest = this.#slowest()
    for (const reader of [...this.#readers]) {
      if (reader.position === slowest?.position && reader.lastReadMs < beforeMs)
        this.#disconnect(reader, createError('slowReader'))
    }
    this.#dropConsumed()
  }

  resume(): void {
    const resumeWriter = this.#resumeWriter
    if (!resumeWriter || this.#mustWait()) return
    this.#resumeWriter = null
    resumeWriter()
  }

  async #read(reader: Reader): Promise<EventChunk | null> {
    for (;;) {
      if (reader.disconnectError) throw reader.disconnectError
      const chunk = this.#chunkAt(reader.position)
      if (chunk) {
        this.#advance(reader, chunk.bytes.length)
        return chunk
      }
      if (this.#end?.failure) throw this.#end.failure
      if (this.#end) return null
      await new Promise<void>(resolve => this.#wakeReaders.push(resolve))
    }
  }

  #advance(reader: Reader, bytes: number): void {
    const from = reader.position++
    reader.lastReadMs = performance.now()
    if (reader.position > this.#fastestPosition) {
      this.#fastestPosition = reader.position
      this.#unreadBytes -= bytes
    }
    const isRetained = this.#pushedBytes <= REPLAYABLE_BYTES && this.#memory.hasSpareSpace
    if (!isRetained && from === this.#firstRetained) this.#dropConsumed()
    this.resume()
  }

  #disconnect(reader: Reader, error: ProxyError): void {
    reader.disconnectError = error
    this.#memory.recordDisconnect()
    this.#leave(reader)
    reader.onDisconnect()
  }

  #leave(reader: Reader): void {
    if (!this.#readers.delete(reader)) return
    // Without readers, the upstream is read without backpressure or aborted.
    if (this.#readers.size === 0) this.#setAhead(false)
    this.resume()
    this.#releaseIfFinished()
  }

  /** Whether the writer must wait. The slowest reader sets the pace if memory is full, else the fastest. Without readers, nothing waits. */
  #mustWait(): boolean {
    if (this.#readers.size === 0) return false
    if (!this.#memory.isFull) return this.#unreadBytes >= READ_AHEAD_BYTES
    return this.#chunkAt(this.#slowest()?.position ?? 0) !== null
  }

  #setAhead(isAhead: boolean): void {
    if (isAhead === this.#isAhead) return
    this.#isAhead = isAhead
    this.#reservation.add(isAhead ? RUNTIME_BUFFER_BYTES : -RUNTIME_BUFFER_BYTES)
  }

  #slowest(): Reader | null {
    let slowest: Reader | null = null
    for (const reader of this.#readers) {
      const isSlower =
        !slowest ||
        reader.position < slowest.position ||
        (reader.position === slowest.position && reader.lastReadMs < slowest.lastReadMs)
      if (isSlower) slowest = reader
    }
    return slowest
  }

  #chunkAt(index: number): EventChunk | null {
    return this.#chunks[index - this.#firstIndex] ?? null
  }

  #dropConsumed(): void {
    const firstNeeded = this.#slowest()?.position ?? this.#firstIndex + this.#chunks.length
    let bytes = 0
    for (; this.#firstRetained < firstNeeded; this.#firstRetained++) {
      bytes += this.#chunkAt(this.#firstRetained)?.heldBytes ?? 0
      this.#chunks[this.#firstRetained - this.#firstIndex] = null
    }
    if (this.#firstRetained - this.#firstIndex >= MAX_DROPPED_CHUNKS) {
      this.#chunks = this.#chunks.slice(this.#firstRetained - this.#firstIndex)
      this.#firstIndex = this.#firstRetained
    }
    if (bytes > 0) this.#reservation.add(-bytes)
  }

  /** Releases the memory of a finished stream once its readers have left, or at once if it has no events. */
  #releaseIfFinished(): void {
    if (!this.#end || (this.#readers.size > 0 && this.#pushedBytes > 0)) return
    this.#chunks = []
    this.#reservation.release()
  }

  #wake(): void {
    const waiting = this.#wakeReaders
    this.#wakeReaders = []
    for (const wake of waiting) wake()
  }
}

const NO_WAIT = Promise.resolve()
