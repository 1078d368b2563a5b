/** Lets calls that arrive while one is in flight travel together in the next. */

export interface BatcherOptions<Item, Result> {
  /** Answers a batch: one result for each item, in order. A rejection fails every item of the batch. */
  run(items: readonly Item[]): Promise<readonly Result[]>
  /** Most items of a batch. */
  maxItems: number
  /** An item that has no result after this long fails. */
  timeLimitMs: number
  /** The error of such an item. */
  timeLimitError(): Error
  /** A result that came after its item had failed: what it reserved is to be given back. */
  onLateResult?(item: Item, result: Result): void
}

interface Waiting<Item, Result> {
  item: Item
  settled: boolean
  resolve(result: Result): void
  reject(error: unknown): void
}

/** The returned function adds an item to the next batch and resolves to its result. */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const { run, maxItems, timeLimitMs, timeLimitError, onLateResult } = options
  const queue: Waiting<Item, Result>[] = []
  let inFlight = false

  function flush(): void {
    const batch = queue.splice(0, maxItems).filter(waiting => !waiting.settled)
    if (batch.length === 0) return
    inFlight = true
    const done = () => {
      if (!inFlight) return
      inFlight = false
      clearTimeout(overdue)
      if (queue.length > 0) flush()
    }
    // A call that hangs must not hold up those behind it.
    const overdue = setTimeout(done, timeLimitMs)
    run(batch.map(waiting => waiting.item)).then(
      results => {
        batch.forEach((waiting, i) => {
          deliver(waiting, results[i] as Result)
        })
        done()
      },
      error => {
        for (const waiting of batch) waiting.reject(error)
        done()
      },
    )
  }

  function deliver(waiting: Waiting<Item, Result>, result: Result): void {
    if (waiting.settled) onLateResult?.(waiting.item, result)
    else waiting.resolve(result)
  }

  return item =>
    new Promise<Result>((resolve, reject) => {
      const timer = setTimeout(() => waiting.reject(timeLimitError()), timeLimitMs)
      const waiting: Waiting<Item, Result> = {
        item,
        settled: false,
        resolve(result) {
          if (waiting.settled) return
          waiting.settled = true
          clearTimeout(timer)
          resolve(result)
        },
        reject(error) {
          if (waiting.settled) return
          waiting.settled = true
          clearTimeout(timer)
          reject(error)
        },
      }
      queue.push(waiting)
      // One tick later, so that what arrived together travels together.
      if (!inFlight && queue.length === 1) queueMicrotask(() => !inFlight && flush())
    })
}
