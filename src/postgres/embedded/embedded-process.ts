/** The worker that holds the embedded database: asks it, and replaces it where a statement of psql's keeps requests waiting. */
import type { EmbeddedReply, EmbeddedRequest, EmbeddedStart, PsqlNews, PsqlRequest } from './embedded-protocol.ts'

export interface EmbeddedProcessOptions {
  start: EmbeddedStart
  /** News about psql's sessions. */
  onNews(news: PsqlNews): void
  /** Called when the database was taken from psql's sessions: all of them have ended. */
  onReplaced(): void
}

/**
 * How long a request waits for a statement of psql's. The embedded database can neither cancel one nor run anything beside it:
 * its worker is ended, and another one recovers from the files what was committed.
 */
const STATEMENT_LIMIT_MS = 400
const WATCH_EVERY_MS = 50

interface Pending {
  request: EmbeddedRequest
  askedAtMs: number
  resolve(reply: EmbeddedReply): void
  reject(error: Error): void
}

/** Resolves once the database answers. A failing start rejects with PGlite's own error. */
export async function startEmbeddedProcess(options: EmbeddedProcessOptions): Promise<EmbeddedProcess> {
  const started = new EmbeddedProcess(options)
  try {
    await started.begin(options.start)
  } catch (error) {
    started.terminate()
    throw error
  }
  return started
}

export class EmbeddedProcess {
  readonly #options: EmbeddedProcessOptions
  /** In the order they were asked. */
  readonly #pending = new Map<number, Pending>()
  #lastId = 0
  #worker: Worker
  #isUp = false
  #watch: ReturnType<typeof setInterval> | undefined

  constructor(options: EmbeddedProcessOptions) {
    this.#options = options
    this.#worker = this.#spawn()
  }

  /** Resolves once the database answers; what was asked meanwhile is asked now, in its order. */
  async begin(start: EmbeddedStart): Promise<void> {
    await this.#post({ kind: 'start', start }, true)
    this.#isUp = true
    for (const [id, { request }] of this.#pending) this.#worker.postMessage({ ...request, id })
  }

  /** Rejects with what PGlite says of it. */
  ask(request: EmbeddedRequest): Promise<EmbeddedReply> {
    return this.#post(request, this.#isUp)
  }

  tell(request: PsqlRequest): void {
    this.#worker.postMessage(request)
  }

  terminate(): void {
    this.#worker.terminate()
  }

  #spawn(): Worker {
    const spawned = new Worker(new URL('./embedded-worker.ts', import.meta.url))
    spawned.onmessage = ({ data }: MessageEvent<EmbeddedReply | PsqlNews>) => {
      if ('id' in data) this.#settle(data)
      else if (data.kind === 'psql-runs') this.#watchStatement(data.runs)
      else this.#options.onNews(data)
    }
    spawned.onerror = event => {
      this.#failAll(new Error(`Embedded database failed: ${event.message}`))
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

  /** What waits has not begun, for the statement had the database to itself: the next worker is asked the same. */
  async #replace(): Promise<void> {
    this.#isUp = false
    this.#options.onReplaced()
    // Two at once on the same files would ruin them.
    await end(this.#worker)
    this.#worker = this.#spawn()
    await this.begin({ directory: this.#options.start.directory }).catch(error => this.#failAll(error))
  }

  #failAll(error: Error): void {
    for (const waiting of this.#pending.values()) waiting.reject(error)
    this.#pending.clear()
  }
}

function end(worker: Worker): Promise<void> {
  return new Promise(resolve => {
    worker.addEventListener('close', () => resolve(), { once: true })
    worker.terminate()
  })
}
