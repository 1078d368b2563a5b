/** Schedules work on the event loop, so that long work and many streams do not block other requests. */

/** Time between two yields. */
const YIELD_EVERY_MS = 4

/** Returns undefined while there is time left. Otherwise returns a promise that resolves after the event loop has handled pending work. */
export type Yielder = () => Promise<void> | undefined

export function createYielder(): Yielder {
  let yieldAtMs = performance.now() + YIELD_EVERY_MS
  return () => {
    if (performance.now() < yieldAtMs) return undefined
    return new Promise(resolve => {
      setImmediate(() => {
        yieldAtMs = performance.now() + YIELD_EVERY_MS
        resolve()
      })
    })
  }
}

export interface WorkScheduler {
  /** Returns undefined when this amount may be done now. Otherwise returns a promise that resolves at its turn. */
  wait(amount: number): Promise<void> | undefined
  /** Number of callers that wait. */
  readonly waiting: number
}

/** Creates a scheduler that allows `amountPerTick()` of work in each tick of the event loop. */
export function createWorkScheduler(amountPerTick: () => number): WorkScheduler {
  const waiting: { amount: number; begin(): void }[] = []
  let spent = 0

  function begin(): void {
    spent = 0
    let begun = 0
    const limit = amountPerTick()
    for (; begun < waiting.length && spent < limit; begun++) {
      const next = waiting[begun] as (typeof waiting)[number]
      spent += next.amount
      next.begin()
    }
    waiting.splice(0, begun)
    if (waiting.length > 0) setImmediate(begin)
  }

  return {
    wait(amount) {
      if (spent < amountPerTick() && waiting.length === 0) {
        spent += amount
        return undefined
      }
      if (waiting.length === 0) setImmediate(begin)
      return new Promise(resolve => waiting.push({ amount, begin: resolve }))
    },
    get waiting() {
      return waiting.length
    },
  }
}

/** Smaller reads never wait, because they do not delay other requests. */
const SMALL_BYTES = 16_384
/** 64 KiB are a few milliseconds of work. */
const reads = createWorkScheduler(() => 65_536)

/** Must be awaited before bytes of a provider are forwarded. Returns undefined when they may be forwarded now. */
export function yieldBeforeForwarding(bytes: number): Promise<void> | undefined {
  return bytes < SMALL_BYTES ? undefined : reads.wait(bytes)
}

/** When this many reads wait, streams are begun one by one. */
const MANY_READS = 16
const STREAMS_PER_TICK = 16
const beginnings = createWorkScheduler(() => (reads.waiting < MANY_READS ? STREAMS_PER_TICK : 1))

/** Must be awaited before the first read of a stream. Until then its bytes wait in the runtime, which does not read further. */
export function yieldBeforeFirstRead(): Promise<void> | undefined {
  return beginnings.wait(1)
}

/** Limits calls per tick, so that the first responses of many requests show whether there is memory for the last. */
const calls = createWorkScheduler(() => STREAMS_PER_TICK)

/** Must be awaited before a streamed provider call is sent. Returns undefined when it may be sent now. */
export function yieldBeforeCall(): Promise<void> | undefined {
  return calls.wait(1)
}
