/** The schema worker and its queue: started at first use, kept warm, replaced when a schema blocks it. */
import { refuse } from '../../../errors.ts'
import type { SchemaJob, WorkerMessage } from './schema-job.ts'
import { SchemaRefusal } from './schema-refusal.ts'

/** Schemas that may be queued; each occupies the worker up to the time limit. */
const MOST_WAITING = 64

interface Waiting {
  job: SchemaJob
  resolve(text: string): void
  reject(error: Error): void
}

export class SchemaQueue {
  readonly #timeLimitMs: number
  readonly #waiting: Waiting[] = []
  #worker: Worker | null = null
  #isReady = false
  /** Null while the worker is starting or idle. */
  #busy: { with: Waiting; timer: Timer } | null = null

  /** `timeLimitMs` applies to each schema. */
  constructor(timeLimitMs: number) {
    this.#timeLimitMs = timeLimitMs
  }

  /**
   * Returns the JSON text of an instance. Rejects with a SchemaRefusal when none is found in time; throws a 503 when the queue is full.
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
    const expire = () => this.#replace(new SchemaRefusal(`could not be satisfied within ${this.#timeLimitMs} ms`))
    this.#busy = { with: next, timer: setTimeout(expire, this.#timeLimitMs) }
    this.#worker.postMessage(next.job)
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
