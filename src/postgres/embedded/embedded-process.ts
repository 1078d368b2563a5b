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
  /** Called when the worker is replaced, which ends all psql sessions. */
  onReplaced(): void
}

/**
 * The time that a request waits for a statement of psql. The embedded database can neither cancel a statement nor run two at a time, so the
 * worker is terminated then, and a new one recovers all committed data from the files.
 */
const STATEMENT_LIMIT_MS = 400
const WATCH_EVERY_MS = 50

interface Pending {
  request: EmbeddedRequest
  sentAtMs: number
  resolve(reply: EmbeddedReply): void
  reject(error: Error): void
}

/** Starts a worker. Resolves once its database is ready. Rejects with PGlite's error if the start fails. */
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
  /** Requests without a reply, in order of arrival. */
  readonly #pending = new Map<number, Pending>()
  /** Messages of psql sessions that arrived while no worker could read them, in order of arrival. */
  #unsent: PsqlRequest[] = []
  #lastId = 0
  #worker: Worker
  #isUp = false
  /** The reason why there is no worker any more; null while there is one. */
  #failure: Error | null = null
  #watch: ReturnType<typeof setInterval> | undefined

  constructor(options: EmbeddedProcessOptions) {
    this.#options = options
    this.#worker = this.#spawn()
  }

  /** Starts the database. Resolves once it is ready. Sends the requests that arrived meanwhile, in order. */
  async start(start: EmbeddedStartOptions): Promise<void> {
    await this.#post({ kind: 'start', start }, true)
    this.#isUp = true
    for (const [id, { request }] of this.#pending) this.#worker.postMessage({ ...request, id })
    const unsent = this.#unsent
    this.#unsent = []
    for (const request of unsent) this.#worker.postMessage(request)
  }

  /** Sends a request. Rejects with PGlite's error. */
  request(request: EmbeddedRequest): Promise<EmbeddedReply> {
    if (this.#failure) return Promise.reject(this.#failure)
    return this.#post(request, this.#isUp)
  }

  /** Sends a message of a psql session. While a worker is being replaced, the message waits for the next one. */
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
      // A reply of the former worker is still valid, because its request has run. Events of its sessions are not.
      else if (spawned !== this.#worker) return
      else if (data.kind === 'psql-runs') this.#watchStatement(data.runs)
      else this.#options.onEvent(data)
    }
    spawned.onerror = event => {
      this.#fail(new Error(`the embedded database failed: ${event.message}`))
    }
    return spawned
  }

  #post(request: EmbeddedRequest, isPosted: boolean): Promise<EmbeddedReply> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#pending.set(id, { request, sentAtMs: performance.now(), resolve, reject })
      if (isPosted) this.#worker.postMessage({ ...request, id })
    })
  }

  #settle(reply: EmbeddedReply): void {
    const { id, error: { message, ...details } = {} } = reply
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (message !== undefined) pending?.reject(Object.assign(new Error(message), details))
    else pending?.resolve(reply)
  }

  #watchStatement(runs: boolean): void {
    clearInterval(this.#watch)
    if (!runs || this.#options.start.directory === null) return
    const startedAtMs = performance.now()
    this.#watch = setInterval(() => {
      const [first] = this.#pending.values()
      if (!first || performance.now() - Math.max(startedAtMs, first.sentAtMs) < STATEMENT_LIMIT_MS) return
      clearInterval(this.#watch)
      void this.#replace()
    }, WATCH_EVERY_MS)
  }

  /** Replaces the worker. Pending requests have not started, because the statement blocked the database, and go to the new worker. */
  async #replace(): Promise<void> {
    this.#isUp = false
    this.#options.onReplaced()
    // Two workers on the same files would corrupt them.
    await end(this.#worker)
    this.#worker = this.#spawn()
    await this.start(this.#options.start).catch(error => this.#fail(error))
  }

  /** Rejects all requests and ends all psql sessions, because there is no worker any more. */
  #fail(error: Error): void {
    this.#failure = error
    for (const pending of this.#pending.values()) pending.reject(error)
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
