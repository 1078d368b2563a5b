/** Turns at the event loop: long work lets others have theirs, and however many streams have much to do, it takes no longer than a few would. */

/** Time between two yields. */
const TURN_MS = 4

/** Returns undefined while there is time left; else a promise that resolves after the event loop has handled pending work. */
export type Yielder = () => Promise<void> | undefined

export function createYielder(): Yielder {
  let turnEndsAtMs = performance.now() + TURN_MS
  return () => {
    if (performance.now() < turnEndsAtMs) return undefined
    return new Promise(resolve => {
      setImmediate(() => {
        turnEndsAtMs = performance.now() + TURN_MS
        resolve()
      })
    })
  }
}

export interface WorkScheduler {
  /** Returns undefined where so much may be done at once; else a promise that resolves when it is its turn. */
  wait(amount: number): Promise<void> | undefined
  /** How many wait. */
  readonly waiting: number
}

/** So much may be done before the event loop looks for what else has come. */
export function createWorkScheduler(amountPerTurn: () => number): WorkScheduler {
  const waiting: { amount: number; begin(): void }[] = []
  let spent = 0

  function begin(): void {
    spent = 0
    let begun = 0
    const most = amountPerTurn()
    for (; begun < waiting.length && spent < most; begun++) {
      const next = waiting[begun] as (typeof waiting)[number]
      spent += next.amount
      next.begin()
    }
    waiting.splice(0, begun)
    if (waiting.length > 0) setImmediate(begin)
  }

  return {
    wait(amount) {
      if (spent < amountPerTurn() && waiting.length === 0) {
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

/** Less than this never waits: it is not what keeps others waiting, and may be all that a quiet request waits for. */
const SMALL_BYTES = 16_384
/** Some milliseconds of work. */
const reads = createWorkScheduler(() => 65_536)

/** For bytes of an upstream that are to be passed on. */
export function yieldBeforeRead(bytes: number): Promise<void> | undefined {
  return bytes < SMALL_BYTES ? undefined : reads.wait(bytes)
}

/** With more than so many reads waiting, streams are begun one by one. */
const CROWD = 16
const FEW = 16
const beginnings = createWorkScheduler(() => (reads.waiting < CROWD ? FEW : 1))

/** For a stream that is to be read for the first time: what its upstream has sent waits in the runtime, which reads on once that is taken. */
export function yieldBeforeFirstRead(): Promise<void> | undefined {
  return beginnings.wait(1)
}

/** Few enough that the first answers are there before the last of many requests are asked: by then it is known whether there is room. */
const asks = createWorkScheduler(() => FEW)

/** For a stream that is to be asked for. */
export function yieldBeforeCall(): Promise<void> | undefined {
  return asks.wait(1)
}
