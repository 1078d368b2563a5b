/** A time limit on each of many waits, one after the other, with one timer for all: setting one for each chunk of a stream costs more. */

export interface WaitLimit {
  begin(limitMs: number): void
  end(): void
  /** Must be called after the last wait. */
  close(): void
}

/** Calls back when a wait has passed its limit. */
export function createWaitLimit(onPassed: () => void): WaitLimit {
  let dueMs = Number.POSITIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  let firesMs = Number.POSITIVE_INFINITY

  function set(ms: number): void {
    clearTimeout(timer)
    firesMs = dueMs
    timer = setTimeout(fire, ms)
  }

  /** The timer may have been set for an earlier wait. */
  function fire(): void {
    firesMs = Number.POSITIVE_INFINITY
    const leftMs = dueMs - performance.now()
    if (leftMs <= 0) onPassed()
    else if (leftMs < Number.POSITIVE_INFINITY) set(leftMs)
  }

  return {
    begin(limitMs) {
      dueMs = performance.now() + limitMs
      if (dueMs < firesMs) set(limitMs)
    },
    end() {
      dueMs = Number.POSITIVE_INFINITY
    },
    close: () => clearTimeout(timer),
  }
}
