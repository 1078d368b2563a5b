/** Time limits on calls that must not hang. */
import { ClientDisconnected } from '../errors/errors.ts'

export class TimeoutError extends Error {
  constructor(limitMs: number) {
    super(`No result within ${limitMs} ms`)
    this.name = 'TimeLimitExceeded'
  }
}

/** A timer that fires this late was delayed by this process, and the reply may be waiting unread. */
const LATE_MS = 50
/** Time to read replies that arrived meanwhile. */
const EXTRA_MS = 50

/** `startTimeout` with a fixed limit. */
type StartFixedTimeout = (onTimeout: () => void) => () => void

/** Settles like `call`, or rejects with TimeoutError after the limit. Does not abort the call. */
export function withTimeout<T>(limitMs: number, call: Promise<T>): Promise<T> {
  return withinLimit(onTimeout => startTimeout(limitMs, onTimeout), limitMs, call)
}

function withinLimit<T>(startLimit: StartFixedTimeout, limitMs: number, call: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const endLimit = startLimit(() => reject(new TimeoutError(limitMs)))
    call.then(
      result => {
        endLimit()
        resolve(result)
      },
      error => {
        endLimit()
        reject(error)
      },
    )
  })
}

/** Like `withTimeout`, for many short calls with the same limit. They share one timer, because they fall due in the order of their start. */
export function createSharedTimeout(limitMs: number): <T>(call: Promise<T>) => Promise<T> {
  const running = new Set<{ dueMs: number; onTimeout: () => void }>()
  let isWatching = false

  function watch(ms: number): void {
    isWatching = true
    startTimeout(Math.max(1, ms), () => {
      isWatching = false
      const nowMs = performance.now()
      for (const run of running) {
        if (run.dueMs > nowMs) return watch(run.dueMs - nowMs)
        running.delete(run)
        run.onTimeout()
      }
    })
  }
  const startLimit: StartFixedTimeout = onTimeout => {
    const run = { dueMs: performance.now() + limitMs, onTimeout }
    running.add(run)
    if (!isWatching) watch(limitMs)
    return () => running.delete(run)
  }
  return call => withinLimit(startLimit, limitMs, call)
}

/**
 * Calls back after the limit, unless the returned function is called first; never if the limit is Infinity. Extends the limit briefly if this
 * process was busy.
 */
export function startTimeout(limitMs: number, onTimeout: () => void): () => void {
  if (limitMs === Number.POSITIVE_INFINITY) return () => {}
  let timer = wait(limitMs)

  function wait(ms: number) {
    const dueMs = performance.now() + ms
    return setTimeout(() => {
      if (performance.now() - dueMs > LATE_MS) timer = wait(EXTRA_MS)
      else onTimeout()
    }, ms)
  }
  return () => clearTimeout(timer)
}

export interface WaitTimer {
  begin(limitMs: number): void
  end(): void
  /** Must be called after the last wait. */
  close(): void
}

/** Creates a reusable timer that calls back when a wait exceeds its limit. */
export function createWaitTimer(onTimeout: () => void): WaitTimer {
  let dueMs = Number.POSITIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  let firesMs = Number.POSITIVE_INFINITY

  function set(ms: number): void {
    clearTimeout(timer)
    firesMs = dueMs
    timer = setTimeout(fire, ms)
  }

  /** Handles a timer that may have been set for an earlier wait. */
  function fire(): void {
    firesMs = Number.POSITIVE_INFINITY
    const leftMs = dueMs - performance.now()
    if (leftMs <= 0) onTimeout()
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

/** Calls back once when the signal is aborted; at once if it already is. */
export function onAbort(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback()
  else signal.addEventListener('abort', callback, { once: true })
}

/** Returns a promise that rejects with ClientDisconnected when the signal is aborted. */
export function rejectOnDisconnect(signal: AbortSignal): Promise<never> {
  const disconnected = new Promise<never>((_, reject) => {
    onAbort(signal, () => reject(new ClientDisconnected()))
  })
  // Prevents an unhandled rejection when nothing awaits it any more.
  disconnected.catch(() => {})
  return disconnected
}
