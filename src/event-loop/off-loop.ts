/** Runs work that would block the event loop in a worker thread: one job at a time, owners in turn. */
import { setImmediate } from 'node:timers/promises'
import { type CarriedError, refuse, restoreError } from '../errors.ts'
import { FairQueue } from './fair-queue.ts'
import { startTimeLimit } from './time-limit.ts'

/** Longer input is read, hashed, counted or translated by a worker. This much takes the event loop some 3 ms. */
export const LONGEST_ON_LOOP = 262_144

/** Names a module and a function that it exports, which returns a `JobDone` or a promise of one. Input and output are cloned. */
export class Job<Input, Output> {
  readonly module: string
  readonly name: string
  declare readonly types: (input: Input) => Output

  constructor(module: URL, name: string) {
    this.module = module.href
    this.name = name
  }
}

export interface JobDone<Output> {
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
export type JobReply = JobDone<unknown> | CarriedError

export interface JobOptions {
  /** The job's owner. With several waiting, each owner gets one job done before any gets a second. */
  owner?: string | number
  /** Buffers of the input that are transferred: they are empty afterwards. */
  transfer?: ArrayBuffer[]
}

interface Asked {
  /** Null once it is given up: what waits behind others holds no memory then. */
  request: JobRequest | null
  transfer: ArrayBuffer[]
  done: Promise<unknown>
  resolve(output: unknown): void
  reject(error: Error): void
  endLimit(): void
}

/** An idle worker keeps half as much memory as all the rest of an idle process: mostly vocabularies. Loading them again takes .3 s. */
const IDLE_MS = 60_000
/** For a job to begin, and then to be done: the longest take six seconds of a processor. */
const LIMIT_MS = 30_000

/** Starts the worker at first use, ends it when it is idle or late, and restarts it if a job killed it. It keeps no process alive. */
export class OffLoop {
  readonly #waiting = new FairQueue<Asked>()
  #worker: Worker | null = null
  #busy: Asked | null = null
  readonly #given = new Map<string, number>()
  readonly #idleMs: number
  readonly #limitMs: number
  #ending: ReturnType<typeof setTimeout> | null = null

  constructor({ idleMs = IDLE_MS, limitMs = LIMIT_MS } = {}) {
    this.#idleMs = idleMs
    this.#limitMs = limitMs
  }

  /** Number of jobs since the start, by name. */
  get given(): ReadonlyMap<string, number> {
    return this.#given
  }

  /** Rejects with what the job threw; with a 503 when it does not begin or end in time. */
  run<Input, Output>(job: Job<Input, Output>, input: Input, options: JobOptions = {}): Promise<Output> {
    this.#given.set(job.name, (this.#given.get(job.name) ?? 0) + 1)
    const { promise: done, resolve, reject } = Promise.withResolvers<unknown>()
    const request = { module: job.module, name: job.name, input }
    const asked: Asked = { request, transfer: options.transfer ?? [], done, resolve, reject, endLimit: () => {} }
    this.#limit(asked)
    this.#waiting.add(options.owner ?? '', asked)
    this.#giveNext()
    return done as Promise<Output>
  }

  /** Resolves when no job waits or runs, and whoever asked for the last one has gone on from there. */
  async idle(): Promise<void> {
    do {
      await this.#busy?.done.catch(() => {})
      await setImmediate()
    } while (this.#busy)
  }

  #limit(asked: Asked): void {
    asked.endLimit()
    asked.endLimit = startTimeLimit(this.#limitMs, () => this.#giveUp(asked))
  }

  #giveUp(asked: Asked): void {
    asked.request = null
    asked.transfer = []
    asked.reject(refuse('busy'))
    if (asked !== this.#busy) return
    this.#end()
    this.#busy = null
    this.#giveNext()
  }

  #giveNext(): void {
    if (this.#busy) return
    let next = this.#waiting.take()
    while (next && !next.request) next = this.#waiting.take()
    this.#busy = next ?? null
    if (this.#ending) clearTimeout(this.#ending)
    this.#ending = next ? null : setTimeout(() => this.#end(), this.#idleMs).unref()
    if (!next) return
    this.#limit(next)
    this.#worker ??= this.#start()
    this.#worker.postMessage(next.request, next.transfer)
  }

  #end(): void {
    this.#worker?.terminate()
    this.#worker = null
  }

  #start(): Worker {
    const started = new Worker(new URL('./off-loop-worker.ts', import.meta.url))
    started.onmessage = ({ data }: MessageEvent<JobReply>) => {
      if (started !== this.#worker) return
      const done = this.#busy
      this.#busy = null
      done?.endLimit()
      if ('output' in data) done?.resolve(data.output)
      else done?.reject(restoreError(data))
      this.#giveNext()
    }
    started.onerror = event => {
      if (started !== this.#worker) return
      this.#end()
      const died = this.#busy
      this.#busy = null
      died?.endLimit()
      died?.reject(new Error(`A worker died of its job: ${event.message}`))
      this.#giveNext()
    }
    started.unref()
    return started
  }
}

/** The worker for requests and responses of all projects. */
export const offLoop = new OffLoop()
