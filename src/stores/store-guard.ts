/** Calls the store behind it with a time limit, and after a failure leaves it alone for a moment. */
import { createTimeLimit } from '../event-loop/time-limit.ts'

/** Redis answers in well under a millisecond; one that takes this long counts as gone. */
const TIME_LIMIT_MS = 500
/** After a failure Redis is left alone this long, so that a hanging one does not slow every request. */
const RETRY_AFTER_MS = 500

/** Called when the store is lost, with the reason, and when it is back. */
export type OnStoreChange = (isUp: boolean, cause?: unknown) => void

export class StoreGuard {
  readonly #onChange: OnStoreChange | undefined
  readonly #withinLimit = createTimeLimit(TIME_LIMIT_MS)
  #retryAtMs = 0
  #isUp = true

  constructor(onChange: OnStoreChange | undefined) {
    this.#onChange = onChange
  }

  /** Whether the store answered the last attempt. */
  get isUp(): boolean {
    return this.#isUp
  }

  /** Runs `attempt` on the store, or `otherwise` while it is down. */
  async try<T>(attempt: () => Promise<T>, otherwise: () => T | Promise<T>): Promise<T> {
    const now = performance.now()
    if (now < this.#retryAtMs) return otherwise()
    // One caller at a time probes a store that was down.
    if (!this.#isUp) this.#retryAtMs = now + RETRY_AFTER_MS
    try {
      const result = await this.#withinLimit(attempt())
      this.#retryAtMs = 0
      this.#note(true)
      return result
    } catch (error) {
      this.#retryAtMs = performance.now() + RETRY_AFTER_MS
      this.#note(false, error)
      return otherwise()
    }
  }

  #note(isUp: boolean, cause?: unknown): void {
    if (this.#isUp === isUp) return
    this.#isUp = isUp
    this.#onChange?.(isUp, cause)
  }
}
