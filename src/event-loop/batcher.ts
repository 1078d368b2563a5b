/** Batches calls. Calls that arrive while a batch is in flight share the next batch. */
import { startTimeout } from './timeouts.ts'

export interface BatcherOptions<Item, Result> {
  /** Runs a batch. Resolves to one result per item, in order. A rejection fails every item of the batch. */
  run(items: readonly Item[]): Promise<readonly Result[]>
  /** Maximum items in a batch. */
  maxItems: number
  /**
   * Longest time an item waits for its result, queued or in flight, since the last result of any batch. Each result extends the wait, up to
   * three limits in total. Then the item's batch fails.
   */
  timeoutMs: number
  /** Creates the error of a batch that timed out. `isBusy` is true when another reply arrived meanwhile, or the event loop was late. */
  createTimeoutError(isBusy: boolean): Error
  /** Time of the last reply from the backend that runs the batches, by `performance.now()`. */
  lastReplyAtMs?(): number
  /** Maximum batches in flight; one by default. */
  maxBatches?: number
  /** Delays a batch that is not full until this resolves. For results that no request waits for. */
  linger?(): Promise<void>
  /** Settles when work in flight has added its items here; null without such work. A batch waits up to 5 ms for it. */
  upcomingItems?(): Promise<unknown> | null
  /** Called with a result that came after its item had failed, so that its reservation can be released. */
  onLateResult?(item: Item, result: Result): void
}

/** Longest time a batch waits for `upcomingItems`. */
const GATHER_LIMIT_MS = 5
/** A timer that fires this late was delayed by this process. */
const LATE_LOOP_MS = 250
/** An item waits up to this many time limits while results of other batches arrive. */
const MAX_TIME_LIMITS = 3

interface Waiting<Item, Result> {
  item: Item
  queuedAtMs: number
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Calls back once when `upcoming` settles or the gather limit ends; at once when it is null. */
function afterUpcoming(upcoming: Promise<unknown> | null, onReady: () => void): void {
  if (!upcoming) {
    onReady()
    return
  }
  let hasEnded = false
  function end(): void {
    if (hasEnded) return
    hasEnded = true
    clearTimeout(limit)
    onReady()
  }
  const limit = setTimeout(end, GATHER_LIMIT_MS)
  // Runs after `upcoming` has added its items.
  upcoming.then(() => setImmediate(end))
}

/**
 * Rejects the items that waited for half their time limit behind a call that timed out, because their own call would time out, too, and
 * only add load. Returns the other items.
 */
function rejectOverdue<Item, Result>(
  queue: Waiting<Item, Result>[],
  timeLimitMs: number,
  error: Error,
): Waiting<Item, Result>[] {
  const overdueBeforeMs = performance.now() - timeLimitMs / 2
  const remaining = queue.filter(waiting => waiting.queuedAtMs >= overdueBeforeMs)
  for (const waiting of queue.slice(0, queue.length - remaining.length)) waiting.reject(error)
  return remaining
}

/** Settles the items of a batch with its results. Passes late results to `onLateResult`. */
function deliverResults<Item, Result>(
  batch: readonly Waiting<Item, Result>[],
  results: readonly Result[],
  onLateResult: BatcherOptions<Item, Result>['onLateResult'],
  isLate: boolean,
): void {
  for (let i = 0; i < batch.length; i++) {
    const { item, resolve } = batch[i] as Waiting<Item, Result>
    const result = results[i] as Result
    if (isLate) onLateResult?.(item, result)
    else resolve(result)
  }
}

/** Creates the error of a batch that timed out. Distinguishes a busy backend or process from a backend that does not reply. */
function createLimitError<Item, Result>(
  { timeoutMs, createTimeoutError, lastReplyAtMs }: BatcherOptions<Item, Result>,
  waitsSinceMs: number,
  lastResultMs: number,
): Error {
  const lateMs = performance.now() - waitsSinceMs - timeoutMs
  const lastReplyMs = Math.max(lastResultMs, lastReplyAtMs?.() ?? -Infinity)
  return createTimeoutError(lastReplyMs > waitsSinceMs || lateMs > LATE_LOOP_MS)
}

/** Calls back after the time limit, which counts from the last result. A timer that fires late starts one more limit. */
function startBatchLimit(timeLimitMs: number, waitsSinceMs: number, lastResultMs: number, onTimeout: () => void) {
  const lastMs = waitsSinceMs + MAX_TIME_LIMITS * timeLimitMs
  let endLimit = watchFrom(Math.max(waitsSinceMs, lastResultMs))

  function watchFrom(fromMs: number): () => void {
    const dueMs = Math.min(fromMs + timeLimitMs, lastMs)
    return startTimeout(Math.max(1, dueMs - performance.now()), () => {
      const nowMs = performance.now()
      if (nowMs - dueMs > LATE_LOOP_MS && nowMs < lastMs) endLimit = watchFrom(nowMs)
      else onTimeout()
    })
  }
  return () => endLimit()
}

/** Returns a function that adds an item to the next batch and resolves to its result. */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const { run, maxItems, maxBatches = 1, linger, upcomingItems, timeoutMs, onLateResult } = options
  let queue: Waiting<Item, Result>[] = []
  let inFlight = 0
  let isGathering = false
  /** Time of the last result, including late ones. */
  let lastResultMs = -Infinity

  /** Restarts the time limits of items that arrived together, because the event loop was busy reading them until now. */
  function startFirst(): void {
    const nowMs = performance.now()
    for (const waiting of queue) waiting.queuedAtMs = nowMs
    start()
  }

  /** Sends the queue after `linger` or `upcomingItems`. */
  function start(): void {
    if (isGathering || inFlight >= maxBatches) return
    isGathering = true
    function send(): void {
      isGathering = false
      flush()
    }
    if (linger && queue.length < maxItems) linger().then(send)
    else afterUpcoming(upcomingItems?.() ?? null, send)
  }

  function flush(): void {
    const batch = queue.length <= maxItems ? queue : queue.slice(0, maxItems)
    queue = queue.length <= maxItems ? [] : queue.slice(maxItems)
    const [{ queuedAtMs } = { queuedAtMs: 0 }] = batch
    if (batch.length === 0) return
    inFlight++
    let isOverdue = false
    function proceed(): void {
      inFlight--
      if (queue.length > 0) start()
    }
    function fail(): void {
      isOverdue = true
      const error = createLimitError(options, queuedAtMs, lastResultMs)
      for (const waiting of batch) waiting.reject(error)
      queue = rejectOverdue(queue, timeoutMs, error)
      proceed()
    }
    // A batch has one time limit, set by its oldest item. A call that hangs does not delay the next batch.
    const endLimit = startBatchLimit(timeoutMs, queuedAtMs, lastResultMs, fail)
    run(batch.map(waiting => waiting.item)).then(
      results => {
        endLimit()
        lastResultMs = performance.now()
        deliverResults(batch, results, onLateResult, isOverdue)
        if (!isOverdue) proceed()
      },
      error => {
        endLimit()
        for (const waiting of batch) waiting.reject(error)
        if (!isOverdue) proceed()
      },
    )
    // Items beyond `maxItems` are sent at once when another batch may be in flight.
    if (queue.length > 0 && inFlight < maxBatches) flush()
  }

  return item =>
    new Promise<Result>((resolve, reject) => {
      queue.push({ item, queuedAtMs: performance.now(), resolve, reject })
      // Sending is deferred until all readable input is read, so that calls that arrive together share a batch.
      if (inFlight < maxBatches && queue.length === 1) setImmediate(startFirst)
    })
}
