/** Lets calls that arrive while one is in flight travel together in the next. */

export interface BatcherOptions<Item, Result> {
  /** Answers a batch: one result for each item, in order. A rejection fails every item of the batch. */
  run(items: readonly Item[]): Promise<readonly Result[]>
  /** Most items of a batch. */
  maxItems: number
  /** No item waits longer for its result, queued or in flight; its batch fails then. */
  timeLimitMs: number
  /** The error of such a batch. */
  timeLimitError(): Error
  /** A result that came after its item had failed: what it reserved is to be given back. */
  onLateResult?(item: Item, result: Result): void
}

interface Waiting<Item, Result> {
  item: Item
  queuedAtMs: number
  resolve(result: Result): void
  reject(error: unknown): void
}

/** The returned function adds an item to the next batch and resolves to its result. */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const { run, maxItems, timeLimitMs, timeLimitError, onLateResult } = options
  let queue: Waiting<Item, Result>[] = []
  let inFlight = false

  function flush(): void {
    const batch = queue.length <= maxItems ? queue : queue.slice(0, maxItems)
    queue = queue.length <= maxItems ? [] : queue.slice(maxItems)
    const [oldest] = batch
    if (!oldest) return
    inFlight = true
    let overdue = false

    function proceed(): void {
      inFlight = false
      if (queue.length > 0) flush()
    }
    // One timer a batch, set by its oldest item. A call that hangs must not hold up those behind it either.
    const timer = setTimeout(
      () => {
        overdue = true
        for (const waiting of batch) waiting.reject(timeLimitError())
        proceed()
      },
      Math.max(1, timeLimitMs - (performance.now() - oldest.queuedAtMs)),
    )
    run(batch.map(waiting => waiting.item)).then(
      results => {
        clearTimeout(timer)
        for (let i = 0; i < batch.length; i++) {
          const waiting = batch[i] as Waiting<Item, Result>
          const result = results[i] as Result
          if (overdue) onLateResult?.(waiting.item, result)
          else waiting.resolve(result)
        }
        if (!overdue) proceed()
      },
      error => {
        clearTimeout(timer)
        for (const waiting of batch) waiting.reject(error)
        if (!overdue) proceed()
      },
    )
  }

  return item =>
    new Promise<Result>((resolve, reject) => {
      queue.push({ item, queuedAtMs: performance.now(), resolve, reject })
      // A moment later, so that what arrived together travels together.
      if (!inFlight && queue.length === 1) queueMicrotask(() => !inFlight && flush())
    })
}
