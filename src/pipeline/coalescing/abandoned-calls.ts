/**
 * Upstream calls whose clients have disconnected, and which are read to their end so that their usage is known. Limits apply to all of a
 * process's calls together: beyond a limit the oldest call is aborted, and its usage is estimated.
 */

export interface AbandonedCallLimits {
  /** Calls at the same time. */
  calls: number
  /** Bytes that all calls together have read since their clients disconnected. */
  bytes: number
  /** Bytes that one call has read since its clients disconnected. */
  bytesPerCall: number
  /** Milliseconds for which one call is read. */
  msPerCall: number
}

const MIB = 1024 * 1024
const LIMITS: AbandonedCallLimits = {
  // Each call holds a connection.
  calls: 500,
  bytes: 128 * MIB,
  bytesPerCall: 16 * MIB,
  msPerCall: 10 * 60_000,
}

export interface AbandonedCall {
  /** Adds bytes that were read of the call. */
  addBytes(bytes: number): void
  /** Stops tracking the call: it has ended, or a request has joined it. */
  end(): void
}

interface TrackedCall {
  bytes: number
  timer: ReturnType<typeof setTimeout>
  abort(): void
}

export class AbandonedCalls {
  readonly #limits: AbandonedCallLimits
  /** The tracked calls, the oldest first. */
  readonly #calls = new Set<TrackedCall>()
  #bytes = 0

  constructor(limits: Partial<AbandonedCallLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  /** Tracks a call. `abort` is called at most once, and not after the call has ended. */
  add(abort: () => void): AbandonedCall {
    const timer = setTimeout(() => this.#abort(call), this.#limits.msPerCall)
    timer.unref()
    const call: TrackedCall = { bytes: 0, timer, abort }
    this.#calls.add(call)
    this.#abortOldest()
    return { addBytes: bytes => this.#addBytes(call, bytes), end: () => this.#end(call) }
  }

  #addBytes(call: TrackedCall, bytes: number): void {
    if (!this.#calls.has(call)) return
    call.bytes += bytes
    this.#bytes += bytes
    if (call.bytes > this.#limits.bytesPerCall) this.#abort(call)
    this.#abortOldest()
  }

  #abortOldest(): void {
    for (const oldest of this.#calls) {
      if (this.#calls.size <= this.#limits.calls && this.#bytes <= this.#limits.bytes) return
      this.#abort(oldest)
    }
  }

  #abort(call: TrackedCall): void {
    this.#end(call)
    call.abort()
  }

  #end(call: TrackedCall): void {
    if (!this.#calls.delete(call)) return
    clearTimeout(call.timer)
    this.#bytes -= call.bytes
  }
}
