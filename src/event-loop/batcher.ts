/** Lets calls that arrive while one is in flight travel together in the next. */
import { startTimeLimit } from './time-limit.ts'

export interface BatcherOptions<Item, Result> {
  /** Answers a batch: one result for each item, in order. A rejection fails every item of the batch. */
  run(items: readonly Item[]): Promise<readonly Result[]>
  /** Most items of a batch. */
  maxItems: number
  /** No item waits longer for its result, queued or in flight; its batch fails then. */
  timeLimitMs: number
  /** The error of such a batch. */
  timeLimitError(): Error
  /** Most batches under way at once; by default one. */
  maxBatches?: number
  /** What is under way whose items will come here in a moment, if anything is: a batch waits a little, so that they travel along. */
  comesNext?(): Promise<unknown> | null
  /** A result that came after its item had failed: what it reserved is to be given back. */
  onLateResult?(item: Item, result: Result): void
}

/** A batch does not wait for longer for what comes next. */
const GATHER_LIMIT_MS = 5

interface Waiting<Item, Result> {
  item: Item
  queuedAtMs: number
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Calls back once, when what is coming has come, at once where nothing is. */
function afterComing(coming: Promise<unknown> | null, onCome: () => void): void {
  if (!coming) {
    onCome()
    return
  }
  let hasCome = false
  function end(): void {
    if (hasCome) return
    hasCome = true
    clearTimeout(limit)
    onCome()
  }
  const limit = setTimeout(end, GATHER_LIMIT_MS)
  // Behind all whom it tells.
  coming.then(() => setImmediate(end))
}

/**
 * What has waited long behind a call that hung has no time left for a call of its own: a doomed one would only add to the load.
 * Asked where one has hung alone: what waited for a busy event loop is not to be taken for it. Gives what is left.
 */
function rejectHopeless<Item, Result>(
  queue: Waiting<Item, Result>[],
  { timeLimitMs, timeLimitError }: Pick<BatcherOptions<Item, Result>, 'timeLimitMs' | 'timeLimitError'>,
): Waiting<Item, Result>[] {
  const hopelessBeforeMs = performance.now() - timeLimitMs / 2
  const left = queue.filter(waiting => waiting.queuedAtMs >= hopelessBeforeMs)
  for (const waiting of queue.slice(0, queue.length - left.length)) waiting.reject(timeLimitError())
  return left
}

/** The returned function adds an item to the next batch and resolves to its result. */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const { run, maxItems, maxBatches = 1, comesNext, timeLimitMs, timeLimitError, onLateResult } = options
  let queue: Waiting<Item, Result>[] = []
  let inFlight = 0
  let isGathering = false

  /** All of what has come at once counts as come now: until here the event loop was reading it. */
  function startFirst(): void {
    const nowMs = performance.now()
    for (const waiting of queue) waiting.queuedAtMs = nowMs
    start()
  }

  /** Sends what waits, with what comes in a moment. */
  function start(): void {
    if (isGathering || inFlight >= maxBatches) return
    isGathering = true
    afterComing(comesNext?.() ?? null, () => {
      isGathering = false
      flush()
    })
  }

  function flush(): void {
    const batch = queue.length <= maxItems ? queue : queue.slice(0, maxItems)
    queue = queue.length <= maxItems ? [] : queue.slice(maxItems)
    const [oldest] = batch
    if (!oldest) return
    inFlight++
    let overdue = false
    function proceed(): void {
      inFlight--
      if (queue.length > 0) start()
    }
    // One limit a batch, set by its oldest item. A call that hangs must not hold up those behind it either.
    const endLimit = startTimeLimit(Math.max(1, timeLimitMs - (performance.now() - oldest.queuedAtMs)), () => {
      overdue = true
      for (const waiting of batch) waiting.reject(timeLimitError())
      queue = rejectHopeless(queue, options)
      proceed()
    })
    run(batch.map(waiting => waiting.item)).then(
      results => {
        endLimit()
        for (let i = 0; i < batch.length; i++) {
          const waiting = batch[i] as Waiting<Item, Result>
          const result = results[i] as Result
          if (overdue) onLateResult?.(waiting.item, result)
          else waiting.resolve(result)
        }
        if (!overdue) proceed()
      },
      error => {
        endLimit()
        for (const waiting of batch) waiting.reject(error)
        if (!overdue) proceed()
      },
    )
    // What was too much for this batch need not wait for it where another may go beside it.
    if (queue.length > 0 && inFlight < maxBatches) flush()
  }

  return item =>
    new Promise<Result>((resolve, reject) => {
      queue.push({ item, queuedAtMs: performance.now(), resolve, reject })
      // When all that is readable now has been read, so that what arrived together travels together.
      if (inFlight < maxBatches && queue.length === 1) setImmediate(startFirst)
    })
}
