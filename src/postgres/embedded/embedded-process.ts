/** The worker that holds the embedded database: asks it, and replaces it where a statement of psql's keeps requests waiting. */
import type { EmbeddedReply, EmbeddedRequest, EmbeddedStart, PsqlNews, PsqlRequest } from './embedded-protocol.ts'

export interface EmbeddedProcess {
  ask(request: EmbeddedRequest): Promise<EmbeddedReply>
  tell(request: PsqlRequest): void
  terminate(): void
}

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
export async function startEmbeddedProcess({
  start,
  onNews,
  onReplaced,
}: EmbeddedProcessOptions): Promise<EmbeddedProcess> {
  const pending = new Map<number, Pending>()
  let lastId = 0
  let isUp = false
  let watch: ReturnType<typeof setInterval> | undefined
  let worker = spawn()

  function spawn(): Worker {
    const spawned = new Worker(new URL('./embedded-worker.ts', import.meta.url))
    spawned.onmessage = ({ data }: MessageEvent<EmbeddedReply | PsqlNews>) => {
      if ('id' in data) settle(data)
      else if (data.kind === 'psql-runs') watchStatement(data.runs)
      else onNews(data)
    }
    spawned.onerror = event => {
      failAll(new Error(`Embedded database failed: ${event.message}`))
    }
    return spawned
  }

  function settle(reply: EmbeddedReply): void {
    const waiting = pending.get(reply.id)
    pending.delete(reply.id)
    if (!waiting) return
    if (reply.error) waiting.reject(Object.assign(new Error(reply.error.message), { code: reply.error.code }))
    else waiting.resolve(reply)
  }

  function post(request: EmbeddedRequest, isPosted: boolean): Promise<EmbeddedReply> {
    return new Promise((resolve, reject) => {
      const id = ++lastId
      pending.set(id, { request, askedAtMs: performance.now(), resolve, reject })
      if (isPosted) worker.postMessage({ ...request, id })
    })
  }

  /** Resolves once the database answers; what was asked meanwhile is asked now, in its order. */
  async function begin(given: EmbeddedStart): Promise<void> {
    await post({ kind: 'start', start: given }, true)
    isUp = true
    for (const [id, { request }] of pending) worker.postMessage({ ...request, id })
  }

  function watchStatement(runs: boolean): void {
    clearInterval(watch)
    if (!runs || start.directory === null) return
    const startedAtMs = performance.now()
    watch = setInterval(() => {
      const [first] = pending.values()
      if (!first) return
      if (performance.now() - Math.max(startedAtMs, first.askedAtMs) < STATEMENT_LIMIT_MS) return
      clearInterval(watch)
      void replace()
    }, WATCH_EVERY_MS)
  }

  /** What waits has not begun, for the statement had the database to itself: the next worker is asked the same. */
  async function replace(): Promise<void> {
    isUp = false
    onReplaced()
    // Two at once on the same files would ruin them.
    await end(worker)
    worker = spawn()
    await begin({ directory: start.directory }).catch(error => failAll(error))
  }

  function failAll(error: Error): void {
    for (const waiting of pending.values()) waiting.reject(error)
    pending.clear()
  }

  await begin(start).catch(error => {
    worker.terminate()
    throw error
  })
  return {
    ask: request => post(request, isUp),
    tell: request => worker.postMessage(request),
    terminate: () => worker.terminate(),
  }
}

function end(worker: Worker): Promise<void> {
  return new Promise(resolve => {
    worker.addEventListener('close', () => resolve(), { once: true })
    worker.terminate()
  })
}
