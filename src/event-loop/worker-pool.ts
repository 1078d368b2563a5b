/**
 * Runs work that would block the event loop in a worker thread: one job at a time, owners in turn. An owner whose job takes long waits behind
 * it alone: others have a second worker, and where both take long, the one that has worked longest ends.
 */
import { setImmediate } from 'node:timers/promises'
import { createError, deserializeError, type SerializedError } from '../errors/errors.ts'
import { FairQueue } from './fair-queue.ts'
import { startTimeout } from './timeouts.ts'

/** Longer input is read, hashed, counted or translated by a worker. This much takes the event loop some 3 ms. */
export const MAX_MAIN_THREAD_BYTES = 262_144

/** Names a module and a function that it exports, which returns a `JobResult` or a promise of one. Input and output are cloned. */
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
  /** Buffers of the output that are transferred rather than copied. */
  transfer?: ArrayBuffer[]
}

export interface JobRequest {
  module: string
  name: string
  input: unknown
}

/** The job's result, or the error it threw. */
export type JobResponse = JobResult<unknown> | SerializedError

export type JobOwner = string | number
/** Of what no project asked for. */
export const NO_OWNER = 0

export interface JobOptions {
  /** The job's owner, a project. With several waiting, each owner gets one job done before any gets a second; none has two at once. */
  owner: JobOwner
  /** Buffers of the input that are transferred: they are empty afterwards. */
  transfer?: ArrayBuffer[]
}

interface Asked {
  owner: JobOwner
  /** Null once it is given up: what waits behind others holds no memory then. */
  request: JobRequest | null
  transfer: ArrayBuffer[]
  done: Promise<unknown>
  resolve(output: unknown): void
  reject(error: Error): void
  endLimit(): void
}

interface Thread {
  worker: Worker
  busy: Asked | null
  beganAtMs: number
  ending: ReturnType<typeof setTimeout> | undefined
}

interface Limits {
  /** For a job to begin, and then to be done. */
  limitMs: number
  /** So long a job keeps other owners waiting; then they have another worker. */
  patienceMs: number
  /** So long a job may take while other owners wait for a worker. */
  shareMs: number
  idleMs: number
}

const LIMITS: Limits = {
  // The longest jobs take six seconds of a processor.
  limitMs: 30_000,
  patienceMs: 500,
  shareMs: 10_000,
  // An idle worker keeps half as much memory as all the rest of an idle process: mostly vocabularies. Loading them again takes .3 s.
  idleMs: 60_000,
}
const MOST_THREADS = 2

/** Starts workers as they are needed, ends those that are idle or late, and replaces one that its job killed. It keeps no process alive. */
export class WorkerPool {
  readonly #waiting = new FairQueue<JobOwner, Asked>()
  readonly #threads = new Set<Thread>()
  readonly #given = new Map<string, number>()
  readonly #limits: Limits
  #watch: ReturnType<typeof setTimeout> | undefined

  constructor(limits: Partial<Limits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  /** Number of jobs since the start, by name. */
  get jobCounts(): ReadonlyMap<string, number> {
    return this.#given
  }

  /** Rejects with what the job threw; with a 503 when it does not begin or end in time. */
  run<Input, Output>(
    job: WorkerJob<Input, Output>,
    input: Input,
    { owner, transfer = [] }: JobOptions,
  ): Promise<Output> {
    this.#given.set(job.name, (this.#given.get(job.name) ?? 0) + 1)
    const { promise: done, resolve, reject } = Promise.withResolvers<unknown>()
    const request = { module: job.module, name: job.name, input }
    const asked: Asked = { owner, request, transfer, done, resolve, reject, endLimit: () => {} }
    this.#limit(asked)
    this.#waiting.add(owner, asked)
    this.#giveNext()
    return done as Promise<Output>
  }

  /** Resolves when no job waits or runs, and whoever asked for the last one has gone on from there. */
  async whenIdle(): Promise<void> {
    do {
      await Promise.all(this.#busy.map(({ busy }) => busy?.done.catch(() => {})))
      await setImmediate()
    } while (this.#busy.length > 0)
  }

  get #busy(): Thread[] {
    return [...this.#threads].filter(({ busy }) => busy)
  }

  #limit(asked: Asked): void {
    asked.endLimit()
    asked.endLimit = startTimeout(this.#limits.limitMs, () => this.#giveUp(asked, createError('busy')))
  }

  #giveUp(asked: Asked, error: Error): void {
    asked.endLimit()
    asked.request = null
    asked.transfer = []
    asked.reject(error)
    for (const thread of this.#threads) if (thread.busy === asked) this.#end(thread)
    this.#giveNext()
  }

  /** Gives jobs to workers as long as there are both; then looks again when a job has had its time. */
  #giveNext(): void {
    clearTimeout(this.#watch)
    const isFree = (owner: JobOwner) => !this.#busy.some(({ busy }) => busy?.owner === owner)
    for (let owner = this.#waiting.nextOwner(isFree); owner !== undefined; owner = this.#waiting.nextOwner(isFree)) {
      const thread = this.#freeThread()
      if (!thread) {
        this.#watchOver()
        return
      }
      const asked = this.#waiting.dequeue(owner)
      if (asked?.request) this.#give(thread, asked.request, asked)
      else this.#rest(thread)
    }
  }

  #freeThread(): Thread | undefined {
    const idle = [...this.#threads].find(({ busy }) => !busy)
    if (idle) return idle
    const isLate = ({ beganAtMs }: Thread) => performance.now() - beganAtMs >= this.#limits.patienceMs
    return this.#threads.size < MOST_THREADS && [...this.#threads].every(isLate) ? this.#start() : undefined
  }

  /** Somebody waits whose turn it would be. */
  #watchOver(): void {
    const { patienceMs, shareMs } = this.#limits
    const [first] = this.#busy.toSorted((a, b) => a.beganAtMs - b.beganAtMs)
    if (!first) return
    const isFull = this.#threads.size >= MOST_THREADS
    const beganAtMs = isFull ? first.beganAtMs : Math.max(...this.#busy.map(thread => thread.beganAtMs))
    const leftMs = beganAtMs + (isFull ? shareMs : patienceMs) - performance.now()
    this.#watch = setTimeout(
      () => {
        if (isFull && first.busy) this.#giveUp(first.busy, createError('processingTimeout'))
        else this.#giveNext()
      },
      Math.max(1, Math.ceil(leftMs)),
    )
  }

  #give(thread: Thread, request: JobRequest, asked: Asked): void {
    clearTimeout(thread.ending)
    thread.busy = asked
    thread.beganAtMs = performance.now()
    this.#limit(asked)
    thread.worker.postMessage(request, asked.transfer)
  }

  /** One that is needed again soon is kept. */
  #rest(thread: Thread): void {
    clearTimeout(thread.ending)
    thread.busy = null
    thread.ending = setTimeout(() => this.#end(thread), this.#limits.idleMs).unref()
  }

  #end(thread: Thread): void {
    clearTimeout(thread.ending)
    thread.worker.terminate()
    this.#threads.delete(thread)
  }

  #start(): Thread {
    const worker = new Worker(new URL('./worker-thread.ts', import.meta.url))
    const thread: Thread = { worker, busy: null, beganAtMs: 0, ending: undefined }
    this.#threads.add(thread)
    worker.onmessage = ({ data }: MessageEvent<JobResponse>) => {
      const done = thread.busy
      if (!this.#threads.has(thread) || !done) return
      this.#rest(thread)
      done.endLimit()
      if ('output' in data) done.resolve(data.output)
      else done.reject(deserializeError(data))
      this.#giveNext()
    }
    worker.onerror = event => {
      if (!this.#threads.has(thread)) return
      this.#end(thread)
      thread.busy?.endLimit()
      thread.busy?.reject(new Error(`A worker died of its job: ${event.message}`))
      this.#giveNext()
    }
    worker.unref()
    return thread
  }
}

/** The worker for requests and responses of all projects. */
export const workerPool = new WorkerPool()
