/**
 * Runs work that would block the event loop in worker threads, one job at a time per worker, owners in turn. A long job delays only its own
 * owner: other owners get a second worker. If both workers have long jobs, the job that has run longest is terminated.
 *
 * `piscina` 5.3.2 could take the place of the threads, but not of the queue, the limits and the second worker. On Bun 1.4.5 its first job
 * takes 90 to 130 ms instead of 8 to 15, small jobs take as long, and a compiled binary does not contain its worker.
 */
import { setImmediate } from 'node:timers/promises'
import { createError, deserializeError, type SerializedError } from '../errors/errors.ts'
import { FairQueue } from './fair-queue.ts'
import { startTimeout } from './timeouts.ts'

/** Longer input is processed by a worker. This length blocks the event loop for about 3 ms. */
export const MAX_MAIN_THREAD_BYTES = 262_144

/** Names a module and a function that it exports. The function returns a `JobResult` or a promise of one. Input and output are cloned. */
export class WorkerJob<Input, Output> {
  readonly module: string
  readonly name: string
  declare readonly types: (input: Input) => Output

  constructor(module: URL, name: string) {
    this.module = module.href
    this.name = name
  }
}

export interface JobResult<Output> {
  output: Output
  /** Buffers of the output that are transferred instead of copied. */
  transfer?: ArrayBuffer[]
}

export interface JobRequest {
  module: string
  name: string
  input: unknown
}

/** The job's result, or the error that it threw. */
export type JobResponse = JobResult<unknown> | SerializedError

export type JobOwner = string | number
/** The owner of jobs that belong to no project. */
export const NO_OWNER = 0

export interface JobOptions {
  /** The project id. Each waiting owner gets one job done before any gets a second. No owner has two jobs running. */
  owner: JobOwner
  /** Buffers of the input that are transferred. They are empty afterwards. */
  transfer?: ArrayBuffer[]
}

interface QueuedJob {
  owner: JobOwner
  /** Null once the job is abandoned, so that a queued job holds no memory. */
  request: JobRequest | null
  transfer: ArrayBuffer[]
  done: Promise<unknown>
  resolve(output: unknown): void
  reject(error: Error): void
  endLimit(): void
}

interface Thread {
  worker: Worker
  busy: QueuedJob | null
  beganAtMs: number
  ending: ReturnType<typeof setTimeout> | undefined
}

interface Limits {
  /** Longest time until a job begins, and then until it is done. */
  limitMs: number
  /** After this long, other owners that wait get a second worker. */
  extraWorkerAfterMs: number
  /** Longest time a job may run while other owners wait for a worker. */
  maxContendedMs: number
  /** An idle worker ends after this long. */
  idleMs: number
}

const LIMITS: Limits = {
  // The longest jobs take six seconds of processor time.
  limitMs: 30_000,
  extraWorkerAfterMs: 500,
  maxContendedMs: 10_000,
  // An idle worker takes half as much memory as the rest of an idle process, mostly for vocabularies. Loading them again takes 0.3 s.
  idleMs: 60_000,
}
const MAX_THREADS = 2

/** Starts workers on demand, ends workers that are idle or late, and replaces a worker that its job killed. It does not keep the process alive. */
export class WorkerPool {
  readonly #waiting = new FairQueue<JobOwner, QueuedJob>()
  readonly #threads = new Set<Thread>()
  readonly #jobCounts = new Map<string, number>()
  readonly #limits: Limits
  #check: ReturnType<typeof setTimeout> | undefined

  constructor(limits: Partial<Limits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  /** Number of jobs since process start, by name. */
  get jobCounts(): ReadonlyMap<string, number> {
    return this.#jobCounts
  }

  /** Resolves to the job's output. Rejects with the job's error, or with 503 when the job does not begin or end in time. */
  run<Input, Output>(
    job: WorkerJob<Input, Output>,
    input: Input,
    { owner, transfer = [] }: JobOptions,
  ): Promise<Output> {
    this.#jobCounts.set(job.name, (this.#jobCounts.get(job.name) ?? 0) + 1)
    const { promise: done, resolve, reject } = Promise.withResolvers<unknown>()
    const request = { module: job.module, name: job.name, input }
    const queued: QueuedJob = { owner, request, transfer, done, resolve, reject, endLimit: () => {} }
    this.#startLimit(queued)
    this.#waiting.add(owner, queued)
    this.#startNext()
    return done as Promise<Output>
  }

  /** Resolves when no job waits or runs, and the caller of the last job has received its result. */
  async whenIdle(): Promise<void> {
    do {
      await Promise.all(this.#busy.map(({ busy }) => busy?.done.catch(() => {})))
      await setImmediate()
    } while (this.#busy.length > 0)
  }

  get #busy(): Thread[] {
    return [...this.#threads].filter(({ busy }) => busy)
  }

  #startLimit(queued: QueuedJob): void {
    queued.endLimit()
    queued.endLimit = startTimeout(this.#limits.limitMs, () => this.#abandon(queued, createError('busy')))
  }

  #abandon(queued: QueuedJob, error: Error): void {
    queued.endLimit()
    queued.request = null
    queued.transfer = []
    queued.reject(error)
    for (const thread of this.#threads) if (thread.busy === queued) this.#endThread(thread)
    this.#startNext()
  }

  /** Starts queued jobs while workers are free. Otherwise schedules the next check. */
  #startNext(): void {
    clearTimeout(this.#check)
    const isFree = (owner: JobOwner) => !this.#busy.some(({ busy }) => busy?.owner === owner)
    for (let owner = this.#waiting.nextOwner(isFree); owner !== undefined; owner = this.#waiting.nextOwner(isFree)) {
      const thread = this.#findFreeThread()
      if (!thread) {
        this.#scheduleCheck()
        return
      }
      const queued = this.#waiting.dequeue(owner)
      if (queued?.request) this.#startJob(thread, queued.request, queued)
      else this.#setIdle(thread)
    }
  }

  #findFreeThread(): Thread | undefined {
    const idle = [...this.#threads].find(({ busy }) => !busy)
    if (idle) return idle
    const isLate = ({ beganAtMs }: Thread) => performance.now() - beganAtMs >= this.#limits.extraWorkerAfterMs
    return this.#threads.size < MAX_THREADS && [...this.#threads].every(isLate) ? this.#startThread() : undefined
  }

  /** Schedules the time at which a waiting owner gets a second worker, or the longest job is terminated. */
  #scheduleCheck(): void {
    const { extraWorkerAfterMs, maxContendedMs } = this.#limits
    const [first] = this.#busy.toSorted((a, b) => a.beganAtMs - b.beganAtMs)
    if (!first) return
    const isFull = this.#threads.size >= MAX_THREADS
    const beganAtMs = isFull ? first.beganAtMs : Math.max(...this.#busy.map(thread => thread.beganAtMs))
    const leftMs = beganAtMs + (isFull ? maxContendedMs : extraWorkerAfterMs) - performance.now()
    this.#check = setTimeout(
      () => {
        if (isFull && first.busy) this.#abandon(first.busy, createError('processingTimeout'))
        else this.#startNext()
      },
      Math.max(1, Math.ceil(leftMs)),
    )
  }

  #startJob(thread: Thread, request: JobRequest, queued: QueuedJob): void {
    clearTimeout(thread.ending)
    thread.busy = queued
    thread.beganAtMs = performance.now()
    this.#startLimit(queued)
    thread.worker.postMessage(request, queued.transfer)
  }

  /** Ends the worker after the idle time, unless it gets another job. */
  #setIdle(thread: Thread): void {
    clearTimeout(thread.ending)
    thread.busy = null
    thread.ending = setTimeout(() => this.#endThread(thread), this.#limits.idleMs).unref()
  }

  #endThread(thread: Thread): void {
    clearTimeout(thread.ending)
    thread.worker.terminate()
    this.#threads.delete(thread)
  }

  #startThread(): Thread {
    const worker = new Worker(new URL('./worker-thread.ts', import.meta.url))
    const thread: Thread = { worker, busy: null, beganAtMs: 0, ending: undefined }
    this.#threads.add(thread)
    worker.onmessage = ({ data }: MessageEvent<JobResponse>) => {
      const job = thread.busy
      if (!this.#threads.has(thread) || !job) return
      this.#setIdle(thread)
      job.endLimit()
      if ('output' in data) job.resolve(data.output)
      else job.reject(deserializeError(data))
      this.#startNext()
    }
    const fail = (reason: string) => {
      if (!this.#threads.has(thread)) return
      this.#endThread(thread)
      thread.busy?.endLimit()
      thread.busy?.reject(new Error(`worker thread ended during its job: ${reason}`))
      this.#startNext()
    }
    worker.onerror = event => fail(event.message)
    worker.addEventListener('close', event => fail(`exit code ${event.code}`))
    worker.unref()
    return thread
  }
}

/** The worker pool of this process. */
export const workerPool = new WorkerPool()
