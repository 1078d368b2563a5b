/**
 * Upstream calls whose clients have left, and which are read to their end so that their usage is known. They are bounded for all of a process:
 * beyond a bound the oldest is given up, and its usage is estimated.
 */

export interface AbandonedCallLimits {
  /** How many there are at once. */
  calls: number
  /** Bytes that all of them together have read since their clients left. */
  bytes: number
  /** The same of one call. */
  bytesPerCall: number
  /** How long one call is read on. */
  msPerCall: number
}

const MIB = 1024 * 1024
const LIMITS: AbandonedCallLimits = {
  // Each holds a connection.
  calls: 500,
  bytes: 128 * MIB,
  bytesPerCall: 16 * MIB,
  msPerCall: 10 * 60_000,
}

export interface AbandonedCall {
  /** So many bytes more were read of it. */
  addBytes(bytes: number): void
  /** It has ended, or somebody has joined it. */
  end(): void
}

interface OpenCall {
  bytes: number
  timer: ReturnType<typeof setTimeout>
  giveUp(): void
}

export class AbandonedCalls {
  readonly #limits: AbandonedCallLimits
  /** The oldest first. */
  readonly #open = new Set<OpenCall>()
  #bytes = 0

  constructor(limits: Partial<AbandonedCallLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  /** `giveUp` is called at most once, and not after the call has ended. */
  add(giveUp: () => void): AbandonedCall {
    const timer = setTimeout(() => this.#giveUp(call), this.#limits.msPerCall)
    timer.unref()
    const call: OpenCall = { bytes: 0, timer, giveUp }
    this.#open.add(call)
    this.#giveUpOldest()
    return { addBytes: bytes => this.#count(call, bytes), end: () => this.#end(call) }
  }

  #count(call: OpenCall, bytes: number): void {
    if (!this.#open.has(call)) return
    call.bytes += bytes
    this.#bytes += bytes
    if (call.bytes > this.#limits.bytesPerCall) this.#giveUp(call)
    this.#giveUpOldest()
  }

  #giveUpOldest(): void {
    for (const oldest of this.#open) {
      if (this.#open.size <= this.#limits.calls && this.#bytes <= this.#limits.bytes) return
      this.#giveUp(oldest)
    }
  }

  #giveUp(call: OpenCall): void {
    this.#end(call)
    call.giveUp()
  }

  #end(call: OpenCall): void {
    if (!this.#open.delete(call)) return
    clearTimeout(call.timer)
    this.#bytes -= call.bytes
  }
}
