/** Tracks work that continues after its request is answered, so that a shutdown can wait for it. */
import { withTimeout } from './timeouts.ts'

export class BackgroundWork {
  readonly #inFlight = new Set<Promise<void>>()

  /** Adds work, which must not reject, and returns it. */
  add(work: Promise<void>): Promise<void> {
    this.#inFlight.add(work)
    void work.then(() => this.#inFlight.delete(work))
    return work
  }

  /** Resolves when all work is done, including work that is added meanwhile. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight)
  }

  /** Resolves when all work is done, or the time is up. */
  async drain(timeLimitMs: number): Promise<void> {
    await withTimeout(timeLimitMs, this.settled()).catch(() => {})
  }
}
