/** Time limits on calls that must not hang. */
import { ClientDisconnected } from '../errors/errors.ts'

export class TimeoutError extends Error {
  constructor(limitMs: number) {
    super(`No result within ${limitMs} ms`)
    this.name = 'TimeLimitExceeded'
  }
}

/** If a timer fires this much too late, this process was busy: the reply may be waiting unread. */
const LATE_MS = 50
/** Long enough to read replies that arrived meanwhile. */
const HEARING_MS = 50

/** `startTimeout` with its limit fixed. */
type StartLimit = (onOver: () => void) => () => void

/** Settles as the call does, or rejects with TimeoutError after the limit. The call itself is not aborted. */
export function withTimeout<T>(limitMs: number, call: Promise<T>): Promise<T> {
  return withinLimit(onOver => startTimeout(limitMs, onOver), limitMs, call)
}

function withinLimit<T>(startLimit: StartLimit, limitMs: number, call: Promise<T>): Promise<T> {
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

/** `withTimeout` for many short calls with the same limit. They share one timer, because they fall due in the order they began. */
export function createSharedTimeout(limitMs: number): <T>(call: Promise<T>) => Promise<T> {
  const running = new Set<{ dueMs: number; onOver: () => void }>()
  let isWatching = false

  function watch(ms: number): void {
    isWatching = true
    startTimeout(Math.max(1, ms), () => {
      isWatching = false
      const nowMs = performance.now()
      for (const run of running) {
        if (run.dueMs > nowMs) return watch(run.dueMs - nowMs)
        running.delete(run)
        run.onOver()
      }
    })
  }
  const startLimit: StartLimit = onOver => {
    const run = { dueMs: performance.now() + limitMs, onOver }
    running.add(run)
    if (!isWatching) watch(limitMs)
    return () => running.delete(run)
  }
  return call => withinLimit(startLimit, limitMs, call)
}

/** Calls back after the limit, unless the returned function is called first. */
export function startTimeout(limitMs: number, onOver: () => void): () => void {
  let timer = wait(limitMs)

  function wait(ms: number) {
    const dueMs = performance.now() + ms
    return setTimeout(() => {
      if (performance.now() - dueMs > LATE_MS) timer = wait(HEARING_MS)
      else onOver()
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

/** Calls back when a wait has passed its limit. */
export function createWaitTimer(onOver: () => void): WaitTimer {
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
    if (leftMs <= 0) onOver()
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

/** Calls back once, now or later. */
export function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act, { once: true })
}

/** Returns a promise that rejects when the client leaves. */
export function rejectOnDisconnect(signal: AbortSignal): Promise<never> {
  const gone = new Promise<never>((_, reject) => {
    onAbort(signal, () => reject(new ClientDisconnected()))
  })
  // Prevents an unhandled rejection when nothing awaits it any more.
  gone.catch(() => {})
  return gone
}
