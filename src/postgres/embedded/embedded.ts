/** The embedded PostgreSQL: PGlite in a worker, so that a slow query does not stall the server. */
import { Kysely, PGliteDialect } from 'kysely'
import type { Database } from '../database.ts'
import type { DB } from '../types.generated.ts'
import type { EmbeddedReply, EmbeddedRequest, EmbeddedStart } from './embedded-protocol.ts'

export interface EmbeddedDatabase extends Database {
  /** The whole database directory as a tar archive, to start others from. */
  dump(): Promise<Blob>
}

interface Pending {
  resolve(reply: EmbeddedReply): void
  reject(error: Error): void
}

/** Starts the worker and resolves once the database answers. A failing start rejects with PGlite's own error. */
export async function openEmbeddedDatabase(start: EmbeddedStart): Promise<EmbeddedDatabase> {
  const worker = new Worker(new URL('./embedded-worker.ts', import.meta.url))
  const pending = new Map<number, Pending>()
  let lastId = 0
  let closed = false

  worker.onmessage = ({ data }: MessageEvent<EmbeddedReply>) => {
    const waiting = pending.get(data.id)
    pending.delete(data.id)
    if (!waiting) return
    if (data.error) waiting.reject(Object.assign(new Error(data.error.message), { code: data.error.code }))
    else waiting.resolve(data)
  }
  worker.onerror = event => {
    for (const waiting of pending.values()) waiting.reject(new Error(`Embedded database failed: ${event.message}`))
    pending.clear()
  }

  function ask(request: EmbeddedRequest): Promise<EmbeddedReply> {
    if (closed) return Promise.reject(new Error('The embedded database is closed'))
    return new Promise((resolve, reject) => {
      const id = ++lastId
      pending.set(id, { resolve, reject })
      worker.postMessage({ ...request, id })
    })
  }

  const { port: psqlPort = null } = await ask({ kind: 'start', start }).catch(error => {
    worker.terminate()
    throw error
  })

  const client = {
    closed: false,
    ready: true,
    waitReady: Promise.resolve(),
    async query<T>(sql: string, params: readonly unknown[] = []) {
      const reply = await ask({ kind: 'query', sql, params })
      return { rows: (reply.rows ?? []) as T[], fields: [], affectedRows: reply.affectedRows ?? 0 }
    },
    transaction(): Promise<never> {
      return Promise.reject(new Error('What must happen together belongs in one SQL function'))
    },
    close,
  }

  async function close() {
    if (closed) return
    await ask({ kind: 'close' })
    closed = true
    worker.terminate()
  }

  return {
    queries: new Kysely<DB>({ dialect: new PGliteDialect({ pglite: client }) }),
    call: async <Row>(text: string, values: readonly unknown[]) => (await client.query<Row>(text, values)).rows,
    footing: 'embedded',
    buildsGraphs: false,
    psqlPort,
    async runScript(text) {
      await ask({ kind: 'script', sql: text })
    },
    async dump() {
      const { dump } = await ask({ kind: 'dump' })
      if (!dump) throw new Error('The embedded database gave no dump')
      return dump
    },
    close,
  }
}
