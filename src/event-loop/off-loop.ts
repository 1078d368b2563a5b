/** Runs work that would block the event loop in a worker thread: one job at a time, owners in turn. */
import { setImmediate } from 'node:timers/promises'
import { type CarriedError, restoreError } from '../errors.ts'
import { FairQueue } from './fair-queue.ts'

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
  request: JobRequest
  transfer: ArrayBuffer[]
  done: Promise<unknown>
  resolve(output: unknown): void
  reject(error: Error): void
}

/** An idle worker keeps half as much memory as all the rest of an idle process: mostly vocabularies. Loading them again takes .3 s. */
const IDLE_MS = 60_000

/** Starts the worker at first use, ends it when it is idle, and restarts it if a job killed it. It keeps no process alive. */
export class OffLoop {
  readonly #waiting = new FairQueue<Asked>()
  #worker: Worker | null = null
  #busy: Asked | null = null
  readonly #given = new Map<string, number>()
  readonly #idleMs: number
  #ending: ReturnType<typeof setTimeout> | null = null

  constructor({ idleMs = IDLE_MS } = {}) {
    this.#idleMs = idleMs
  }

  /** Number of jobs since the start, by name. */
  get given(): ReadonlyMap<string, number> {
    return this.#given
  }

  /** Rejects with what the job threw. */
  run<Input, Output>(job: Job<Input, Output>, input: Input, options: JobOptions = {}): Promise<Output> {
    this.#given.set(job.name, (this.#given.get(job.name) ?? 0) + 1)
    const { promise: done, resolve, reject } = Promise.withResolvers<unknown>()
    const request = { module: job.module, name: job.name, input }
    this.#waiting.add(options.owner ?? '', { request, transfer: options.transfer ?? [], done, resolve, reject })
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

  #giveNext(): void {
    if (this.#busy) return
    this.#busy = this.#waiting.take() ?? null
    if (this.#ending) clearTimeout(this.#ending)
    this.#ending = this.#busy ? null : setTimeout(() => this.#end(), this.#idleMs).unref()
    if (!this.#busy) return
    this.#worker ??= this.#start()
    this.#worker.postMessage(this.#busy.request, this.#busy.transfer)
  }

  #end(): void {
    this.#worker?.terminate()
    this.#worker = null
  }

  #start(): Worker {
    const started = new Worker(new URL('./off-loop-worker.ts', import.meta.url))
    started.onmessage = ({ data }: MessageEvent<JobReply>) => {
      const done = this.#busy
      this.#busy = null
      if ('output' in data) done?.resolve(data.output)
      else done?.reject(restoreError(data))
      this.#giveNext()
    }
    started.onerror = event => {
      this.#worker = null
      started.terminate()
      const died = this.#busy
      this.#busy = null
      died?.reject(new Error(`A worker died of its job: ${event.message}`))
      this.#giveNext()
    }
    started.unref()
    return started
  }
}

/** The worker for requests and responses of all projects. */
export const offLoop = new OffLoop()
