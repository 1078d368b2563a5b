/** Runs the worker that holds the embedded database, and replaces it when a psql statement blocks requests. */
import type {
  EmbeddedReply,
  EmbeddedRequest,
  EmbeddedStartOptions,
  PsqlEvent,
  PsqlRequest,
} from './embedded-protocol.ts'

export interface EmbeddedProcessOptions {
  start: EmbeddedStartOptions
  /** Called with events of psql's sessions. */
  onEvent(event: PsqlEvent): void
  /** Called when the worker was replaced: every psql session has ended. */
  onReplaced(): void
}

/**
 * How long a request waits for a psql statement. The embedded database can neither cancel a statement nor run another beside it. So its
 * worker is terminated, and a new one recovers all committed data from the files.
 */
const STATEMENT_LIMIT_MS = 400
const WATCH_EVERY_MS = 50

interface Pending {
  request: EmbeddedRequest
  askedAtMs: number
  resolve(reply: EmbeddedReply): void
  reject(error: Error): void
}

/** Resolves when the database answers. Rejects with PGlite's own error when the start fails. */
export async function startEmbeddedProcess(options: EmbeddedProcessOptions): Promise<EmbeddedProcess> {
  const started = new EmbeddedProcess(options)
  try {
    await started.start(options.start)
  } catch (error) {
    started.terminate()
    throw error
  }
  return started
}

export class EmbeddedProcess {
  readonly #options: EmbeddedProcessOptions
  /** In order of arrival. */
  readonly #pending = new Map<number, Pending>()
  /** Messages of psql's sessions that arrived while no worker could read them, in order of arrival. */
  #unsent: PsqlRequest[] = []
  #lastId = 0
  #worker: Worker
  #isUp = false
  /** Why there is no worker any more. */
  #failure: Error | null = null
  #watch: ReturnType<typeof setInterval> | undefined

  constructor(options: EmbeddedProcessOptions) {
    this.#options = options
    this.#worker = this.#spawn()
  }

  /** Resolves when the database answers. Requests that arrived meanwhile are sent now, in order. */
  async start(start: EmbeddedStartOptions): Promise<void> {
    await this.#post({ kind: 'start', start }, true)
    this.#isUp = true
    for (const [id, { request }] of this.#pending) this.#worker.postMessage({ ...request, id })
    const unsent = this.#unsent
    this.#unsent = []
    for (const request of unsent) this.#worker.postMessage(request)
  }

  /** Rejects with PGlite's error. */
  request(request: EmbeddedRequest): Promise<EmbeddedReply> {
    if (this.#failure) return Promise.reject(this.#failure)
    return this.#post(request, this.#isUp)
  }

  /** A worker that is being replaced reads nothing: the next one gets the message. */
  send(request: PsqlRequest): void {
    if (this.#failure) this.#options.onReplaced()
    else if (this.#isUp) this.#worker.postMessage(request)
    else this.#unsent.push(request)
  }

  terminate(): void {
    this.#worker.terminate()
  }

  #spawn(): Worker {
    const spawned = new Worker(new URL('./embedded-worker.ts', import.meta.url))
    spawned.onmessage = ({ data }: MessageEvent<EmbeddedReply | PsqlEvent>) => {
      if ('id' in data) this.#settle(data)
      // A reply of the former worker still counts: its request has run. Its sessions have ended.
      else if (spawned !== this.#worker) return
      else if (data.kind === 'psql-runs') this.#watchStatement(data.runs)
      else this.#options.onEvent(data)
    }
    spawned.onerror = event => {
      this.#fail(new Error(`Embedded database failed: ${event.message}`))
    }
    return spawned
  }

  #post(request: EmbeddedRequest, isPosted: boolean): Promise<EmbeddedReply> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#pending.set(id, { request, askedAtMs: performance.now(), resolve, reject })
      if (isPosted) this.#worker.postMessage({ ...request, id })
    })
  }

  #settle(reply: EmbeddedReply): void {
    const { id, error } = reply
    const waiting = this.#pending.get(id)
    this.#pending.delete(id)
    if (error) waiting?.reject(Object.assign(new Error(error.message), { code: error.code }))
    else waiting?.resolve(reply)
  }

  #watchStatement(runs: boolean): void {
    clearInterval(this.#watch)
    if (!runs || this.#options.start.directory === null) return
    const startedAtMs = performance.now()
    this.#watch = setInterval(() => {
      const [first] = this.#pending.values()
      if (!first || performance.now() - Math.max(startedAtMs, first.askedAtMs) < STATEMENT_LIMIT_MS) return
      clearInterval(this.#watch)
      void this.#replace()
    }, WATCH_EVERY_MS)
  }

  /** Pending requests have not begun, because the statement blocked the database. They are sent to the new worker. */
  async #replace(): Promise<void> {
    this.#isUp = false
    this.#options.onReplaced()
    // Two workers on the same files would corrupt them.
    await end(this.#worker)
    this.#worker = this.#spawn()
    await this.start(this.#options.start).catch(error => this.#fail(error))
  }

  /** Nobody waits for a worker that is gone: neither requests nor psql's sessions. */
  #fail(error: Error): void {
    this.#failure = error
    for (const waiting of this.#pending.values()) waiting.reject(error)
    this.#pending.clear()
    this.#unsent = []
    this.#options.onReplaced()
  }
}

function end(worker: Worker): Promise<void> {
  return new Promise(resolve => {
    worker.addEventListener('close', () => resolve(), { once: true })
    worker.terminate()
  })
}
