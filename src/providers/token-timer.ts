/** Limits the time that a streamed response may wait for its next token: text, reasoning or a part of a tool call. */
import { createWaitTimer, onAbort } from '../event-loop/timeouts.ts'
import type { StreamTimeouts, TimeLimits } from './time-limits.ts'
import { responseTimeoutError } from './upstream-failure.ts'

/** The time during which the proxy does not wait for the provider, for example because its client is slow, does not count. */
export class TokenTimer {
  readonly #provider: string
  readonly #limits: Partial<TimeLimits>
  readonly #processLimits: StreamTimeouts
  readonly #attempt = new AbortController()
  readonly #timer = createWaitTimer(() => this.#expire())
  #hasToken = false
  #waitedMs = 0
  /** Whether the limit was exceeded. */
  hasExpired = false

  /** The lower one of the request's limit and the process's applies. `signal` aborts the request. */
  constructor(
    provider: string,
    { timeLimits = {}, signal }: { timeLimits?: Partial<TimeLimits> | undefined; signal: AbortSignal },
    processLimits: StreamTimeouts,
  ) {
    this.#provider = provider
    this.#limits = timeLimits
    this.#processLimits = processLimits
    onAbort(signal, () => this.#attempt.abort(signal.reason))
  }

  /** Aborted with a 504 when a limit is exceeded, and when the request is aborted. */
  get signal(): AbortSignal {
    return this.#attempt.signal
  }

  /** Waits for the provider. `reading` must reject once the limit is exceeded. */
  async wait<T>(reading: Promise<T>): Promise<T> {
    const startedAtMs = performance.now()
    this.#timer.begin(Math.max(0, this.#limit().limitMs - this.#waitedMs))
    try {
      return await reading
    } catch (error) {
      this.close()
      throw error
    } finally {
      this.#timer.end()
      this.#waitedMs += performance.now() - startedAtMs
    }
  }

  recordToken(): void {
    this.#hasToken = true
    this.#waitedMs = 0
  }

  /** Must be called after the last wait. */
  close(): void {
    this.#timer.close()
  }

  #limit(): { limitMs: number; isOfRequest: boolean } {
    const { firstTokenMs, idleMs } = this.#limits
    const { firstByteTimeoutMs, idleTimeoutMs } = this.#processLimits
    const requestedMs = (this.#hasToken ? idleMs : firstTokenMs) ?? Number.POSITIVE_INFINITY
    const processMs = this.#hasToken ? idleTimeoutMs : firstByteTimeoutMs
    return { limitMs: Math.min(requestedMs, processMs), isOfRequest: requestedMs < processMs }
  }

  #expire(): void {
    const { limitMs, isOfRequest } = this.#limit()
    const awaited = this.#hasToken ? 'next token' : 'first token'
    this.hasExpired = true
    this.#attempt.abort(responseTimeoutError(this.#provider, awaited, limitMs, isOfRequest))
  }
}
