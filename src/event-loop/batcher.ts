/** Batches calls: those that arrive while one is in flight share the next. */
import { startTimeout } from './timeouts.ts'

export interface BatcherOptions<Item, Result> {
  /** Runs a batch: one result for each item, in order. A rejection fails every item of the batch. */
  run(items: readonly Item[]): Promise<readonly Result[]>
  /** Most items of a batch. */
  maxItems: number
  /**
   * Upper bound on an item's wait for its result, queued or in flight, since the last result came: what answers late is not gone. After it,
   * or a few limits in all, the item's batch fails.
   */
  timeoutMs: number
  /** Creates the error of a batch that timed out. `isBusy`: something was answered meanwhile, or the event loop was late. */
  createTimeoutError(isBusy: boolean): Error
  /** When those who run the batches last answered anything, by `performance.now()`. */
  lastReplyAtMs?(): number
  /** Most batches in flight at once; one by default. */
  maxBatches?: number
  /** For results that nobody waits for: a batch that is not full waits for more items until this resolves. */
  linger?(): Promise<void>
  /** Work in flight whose items will be added here in a moment, or null. A batch waits briefly to include them. */
  upcomingItems?(): Promise<unknown> | null
  /** Called with a result that came after its item had failed, so that its reservation can be given back. */
  onLateResult?(item: Item, result: Result): void
}

/** Longest time a batch waits for work in `comesNext`. */
const GATHER_LIMIT_MS = 5
/** A time limit that ends this much too late was kept waiting by this process. */
const LATE_LOOP_MS = 250
/** As many time limits may an item wait while results come, but too late. */
const MOST_LIMITS = 3

interface Waiting<Item, Result> {
  item: Item
  queuedAtMs: number
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Calls back once when `coming` settles; at once without it. */
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
  // After the items that `coming` adds.
  coming.then(() => setImmediate(end))
}

/**
 * Rejects the items that waited for half their time behind a call that hung: a call of their own would time out too and only add
 * load. Returns the others. Not called otherwise: items that waited for a busy event loop have time left.
 */
function rejectHopeless<Item, Result>(
  queue: Waiting<Item, Result>[],
  timeLimitMs: number,
  error: Error,
): Waiting<Item, Result>[] {
  const hopelessBeforeMs = performance.now() - timeLimitMs / 2
  const left = queue.filter(waiting => waiting.queuedAtMs >= hopelessBeforeMs)
  for (const waiting of queue.slice(0, queue.length - left.length)) waiting.reject(error)
  return left
}

function handOut<Item, Result>(
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

/** The error for items that waited too long: it tells a queue that moves too slowly from one that stands. */
function limitError<Item, Result>(
  { timeoutMs, createTimeoutError, lastReplyAtMs }: BatcherOptions<Item, Result>,
  waitsSinceMs: number,
  lastResultMs: number,
): Error {
  const lateMs = performance.now() - waitsSinceMs - timeoutMs
  const lastAnswerMs = Math.max(lastResultMs, lastReplyAtMs?.() ?? -Infinity)
  return createTimeoutError(lastAnswerMs > waitsSinceMs || lateMs > LATE_LOOP_MS)
}

/** Calls back after the limit, which counts from the last result; once more from here, if the event loop kept it waiting. */
function startBatchLimit(timeLimitMs: number, waitsSinceMs: number, lastResultMs: number, onOver: () => void) {
  const lastMs = waitsSinceMs + MOST_LIMITS * timeLimitMs
  let endLimit = watchFrom(Math.max(waitsSinceMs, lastResultMs))

  function watchFrom(fromMs: number): () => void {
    const dueMs = Math.min(fromMs + timeLimitMs, lastMs)
    return startTimeout(Math.max(1, dueMs - performance.now()), () => {
      const nowMs = performance.now()
      if (nowMs - dueMs > LATE_LOOP_MS && nowMs < lastMs) endLimit = watchFrom(nowMs)
      else onOver()
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
  /** When a result came last, late ones included. */
  let lastResultMs = -Infinity

  /** Items that arrived together start their time limits now: until here the event loop was busy reading them. */
  function startFirst(): void {
    const nowMs = performance.now()
    for (const waiting of queue) waiting.queuedAtMs = nowMs
    start()
  }

  /** Sends the queue, after lingering, or after waiting briefly for `comesNext`. */
  function start(): void {
    if (isGathering || inFlight >= maxBatches) return
    isGathering = true
    function send(): void {
      isGathering = false
      flush()
    }
    if (linger && queue.length < maxItems) linger().then(send)
    else afterComing(upcomingItems?.() ?? null, send)
  }

  function flush(): void {
    const batch = queue.length <= maxItems ? queue : queue.slice(0, maxItems)
    queue = queue.length <= maxItems ? [] : queue.slice(maxItems)
    const [{ queuedAtMs } = { queuedAtMs: 0 }] = batch
    if (batch.length === 0) return
    inFlight++
    let overdue = false
    function proceed(): void {
      inFlight--
      if (queue.length > 0) start()
    }
    function fail(): void {
      overdue = true
      const error = limitError(options, queuedAtMs, lastResultMs)
      for (const waiting of batch) waiting.reject(error)
      queue = rejectHopeless(queue, timeoutMs, error)
      proceed()
    }
    // One time limit per batch, set by its oldest item, so that a call that hangs does not delay the next batch.
    const endLimit = startBatchLimit(timeoutMs, queuedAtMs, lastResultMs, fail)
    run(batch.map(waiting => waiting.item)).then(
      results => {
        endLimit()
        lastResultMs = performance.now()
        handOut(batch, results, onLateResult, overdue)
        if (!overdue) proceed()
      },
      error => {
        endLimit()
        for (const waiting of batch) waiting.reject(error)
        if (!overdue) proceed()
      },
    )
    // Items beyond `maxItems` go at once when another batch may run beside this one.
    if (queue.length > 0 && inFlight < maxBatches) flush()
  }

  return item =>
    new Promise<Result>((resolve, reject) => {
      queue.push({ item, queuedAtMs: performance.now(), resolve, reject })
      // Deferred until all readable input is read, so that calls that arrive together share a batch.
      if (inFlight < maxBatches && queue.length === 1) setImmediate(startFirst)
    })
}
