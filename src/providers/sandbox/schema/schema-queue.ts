/** The schema worker and its queue: started at first use, kept warm, replaced when a schema blocks it. */
import { refuse } from '../../../errors.ts'
import { threadTimeMs } from '../../../event-loop/thread-time.ts'
import type { SchemaJob, WorkerMessage } from './schema-job.ts'
import { SchemaRefusal } from './schema-refusal.ts'

/** Schemas that may be queued; each occupies the worker up to the time limit. */
const MOST_WAITING = 64
/** On a busy machine, this many times as long may pass as the worker may compute. */
const PATIENCE = 20

interface Waiting {
  job: SchemaJob
  resolve(text: string): void
  reject(error: Error): void
}

export class SchemaQueue {
  readonly #timeLimitMs: number
  readonly #patience: number
  readonly #waiting: Waiting[] = []
  #worker: Worker | null = null
  #isReady = false
  /** Null while the worker is starting or idle. */
  #busy: { with: Waiting; timer: Timer } | null = null
  #thread: number | null = null

  /** `timeLimitMs` is the processor time for each schema. */
  constructor(timeLimitMs: number, patience = PATIENCE) {
    this.#timeLimitMs = timeLimitMs
    this.#patience = patience
  }

  /**
   * Returns the JSON text of an instance. Rejects with a SchemaRefusal when the time limit does not suffice; throws a 503 when the queue is
   * full, or the machine is too busy to tell.
   */
  ask(job: SchemaJob): Promise<string> {
    if (this.#waiting.length >= MOST_WAITING) throw refuse('sandboxBusy')
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject })
      this.#giveNext()
    })
  }

  #giveNext(): void {
    if (this.#worker === null && this.#waiting.length > 0) this.#worker = this.#start()
    if (this.#worker === null || !this.#isReady || this.#busy !== null) return
    const next = this.#waiting.shift()
    if (next === undefined) return
    const startedMs = threadTimeMs(this.#thread)
    const expire = () => this.#expire(next, startedMs, this.#patience)
    this.#busy = { with: next, timer: setTimeout(expire, this.#timeLimitMs) }
    this.#worker.postMessage(next.job)
  }

  /** Waits on while the worker has computed for less than the limit, since other work may keep it from the processor. */
  #expire(held: Waiting, startedMs: number | null, patience: number): void {
    const spentMs = (threadTimeMs(this.#thread) ?? Infinity) - (startedMs ?? 0)
    if (spentMs >= this.#timeLimitMs)
      this.#replace(new SchemaRefusal(`could not be satisfied within ${this.#timeLimitMs} ms`))
    else if (patience === 0) this.#replace(refuse('sandboxBusy'))
    else {
      const timer = setTimeout(() => this.#expire(held, startedMs, patience - 1), this.#timeLimitMs)
      this.#busy = { with: held, timer }
    }
  }

  #start(): Worker {
    const started = new Worker(new URL('./schema-worker.ts', import.meta.url))
    // The worker alone must not keep the process alive.
    started.unref()
    started.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
      if (this.#worker === started) this.#take(data)
    }
    started.onerror = event => {
      if (this.#worker === started) this.#replace(new Error(`The sandbox's schema worker failed: ${event.message}`))
    }
    return started
  }

  #take(message: WorkerMessage): void {
    const done = this.#endJob()
    this.#isReady = true
    if (message.kind === 'ready') this.#thread = message.thread
    if (message.kind === 'instance') done?.resolve(message.text)
    if (message.kind === 'refused') done?.reject(new SchemaRefusal(message.message))
    this.#giveNext()
  }

  /** Terminates the worker. If it was not working on a schema, it failed to start, and the queued schemas are rejected. */
  #replace(error: Error): void {
    this.#worker?.terminate()
    this.#worker = null
    this.#isReady = false
    const held = this.#endJob()
    for (const each of held ? [held] : this.#waiting.splice(0)) each.reject(error)
    this.#giveNext()
  }

  #endJob(): Waiting | undefined {
    clearTimeout(this.#busy?.timer)
    const ended = this.#busy?.with
    this.#busy = null
    return ended
  }
}
