/** Calls back once when it is due; of several times that were asked for, the earliest counts. It keeps no process alive. */

export class Alarm {
  readonly #onDue: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #dueAtMs = Number.POSITIVE_INFINITY

  constructor(onDue: () => void) {
    this.#onDue = onDue
  }

  /** It is due in so many milliseconds, unless it is due sooner anyway. */
  setIn(delayMs: number): void {
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
