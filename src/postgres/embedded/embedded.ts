/** The embedded PostgreSQL: PGlite in a worker, so that a slow query does not block the server. */
import { type Database, ScriptError } from '../database.ts'
import { DiskMonitor } from '../disk-monitor.ts'
import { startEmbeddedProcess } from './embedded-process.ts'
import type { EmbeddedRequest, EmbeddedStartOptions } from './embedded-protocol.ts'
import { type PsqlServer, startPsqlServer } from './psql-server.ts'

export interface EmbeddedOptions extends EmbeddedStartOptions {
  /** Loopback port for psql, 0 for any free one, and its password; null opens no port. */
  psql: { port: number; password: string } | null
}

export interface EmbeddedDatabase extends Database {
  /** The whole database directory as a tar archive, from which others can start. */
  dump(): Promise<Blob>
}

/** Sent to a session whose statement blocked requests. */
const TOO_LONG =
  'terminating connection: its statement kept the proxy’s requests waiting; run long ones while the proxy is stopped, or on a real PostgreSQL'

/** Starts the worker and resolves when the database answers. Rejects with PGlite's own error when the start fails. */
export async function openEmbeddedDatabase({ psql, ...start }: EmbeddedOptions): Promise<EmbeddedDatabase> {
  let door: PsqlServer | null = null
  const embedded = await startEmbeddedProcess({
    start,
    onEvent: event => door?.receive(event),
    onReplaced: () => door?.endSessions('57014', TOO_LONG),
  })
  if (psql) {
    door = await startPsqlServer({ ...psql, send: request => embedded.send(request) }).catch(error => {
      embedded.terminate()
      throw error
    })
  }
  let closed = false
  let answeredAtMs = -Infinity

  function ask(request: EmbeddedRequest) {
    return closed ? Promise.reject(new Error('The embedded database is closed')) : embedded.request(request)
  }

  async function close() {
    if (closed) return
    door?.close()
    await ask({ kind: 'close' })
    closed = true
    embedded.terminate()
  }

  async function callWorker<Row>(text: string, values: readonly unknown[], { isUrgent = false } = {}): Promise<Row[]> {
    const { rows } = await ask({ kind: 'query', sql: text, params: values, isUrgent })
    answeredAtMs = performance.now()
    return (rows ?? []) as Row[]
  }

  const disk = new DiskMonitor()
  const call = disk.watch(callWorker)
  const database: EmbeddedDatabase = {
    get operatorDatabase() {
      return database
    },
    get readReplica() {
      return database
    },
    call,
    disk,
    backend: 'embedded',
    hasVectorLists: false,
    primary: null,
    standbys: null,
    limitConnections() {},
    connections: () => ({ open: 1, most: 1 }),
    lastReplyAtMs: () => answeredAtMs,
    psqlPort: door?.port ?? null,
    async runScript(text) {
      await ask({ kind: 'script', sql: text })
    },
    async runScripts(scripts) {
      const { failed } = await ask({ kind: 'scripts', texts: scripts.map(script => script.text) })
      if (!failed) return
      const cause = Object.assign(new Error(failed.message), { code: failed.code })
      throw new ScriptError(scripts[failed.script]?.name ?? 'a script', cause)
    },
    async dump() {
      const { dump } = await ask({ kind: 'dump' })
      if (!dump) throw new Error('The embedded database gave no dump')
      return dump
    },
    close,
  }
  return database
}
