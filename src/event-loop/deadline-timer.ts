/** A timer that fires once at the earliest of several requested times. It keeps no process alive. */

export class DeadlineTimer {
  readonly #onDue: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #dueAtMs = Number.POSITIVE_INFINITY

  constructor(onDue: () => void) {
    this.#onDue = onDue
  }

  /** Fires in `delayMs` milliseconds, unless it is due sooner already. */
  schedule(delayMs: number): void {
    const atMs = performance.now() + delayMs
    if (atMs >= this.#dueAtMs) return
    clearTimeout(this.#timer)
    this.#dueAtMs = atMs
    this.#timer = setTimeout(() => {
      this.#dueAtMs = Number.POSITIVE_INFINITY
      this.#onDue()
    }, delayMs)
    this.#timer.unref()
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#dueAtMs = Number.POSITIVE_INFINITY
  }
}
