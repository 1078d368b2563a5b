/** The embedded database: PGlite in a worker, so that a slow query does not block the server. */
import { type Database, ScriptError } from '../database.ts'
import { DiskMonitor } from '../disk-monitor.ts'
import { startEmbeddedProcess } from './embedded-process.ts'
import type { EmbeddedRequest, EmbeddedStartOptions } from './embedded-protocol.ts'
import { type PsqlServer, startPsqlServer } from './psql-server.ts'

export interface EmbeddedOptions extends EmbeddedStartOptions {
  /** The loopback port for psql, 0 for any free one, and its password; null opens no port. */
  psql: { port: number; password: string } | null
}

export interface EmbeddedDatabase extends Database {
  /** Returns the whole database directory as a tar archive, from which other databases can start. */
  dump(): Promise<Blob>
}

/** The error sent to a session whose statement blocked requests. */
const STATEMENT_TOO_LONG =
  'terminating connection: its statement kept the proxy’s requests waiting; run long ones while the proxy is stopped, or on a real PostgreSQL'

/** Starts the worker. Resolves once the database is ready. Rejects with PGlite's error if the start fails. */
export async function openEmbeddedDatabase({ psql, ...start }: EmbeddedOptions): Promise<EmbeddedDatabase> {
  let psqlServer: PsqlServer | null = null
  const embedded = await startEmbeddedProcess({
    start,
    onEvent: event => psqlServer?.receive(event),
    onReplaced: () => psqlServer?.endSessions('57014', STATEMENT_TOO_LONG),
  })
  if (psql) {
    psqlServer = await startPsqlServer({ ...psql, send: request => embedded.send(request) }).catch(error => {
      embedded.terminate()
      throw error
    })
  }
  let isClosed = false
  let lastReplyAtMs = -Infinity

  function send(request: EmbeddedRequest) {
    return isClosed ? Promise.reject(new Error('the embedded database is closed')) : embedded.request(request)
  }

  async function close() {
    if (isClosed) return
    psqlServer?.close()
    await send({ kind: 'close' })
    isClosed = true
    embedded.terminate()
  }

  async function callWorker<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const { rows } = await send({ kind: 'query', sql: text, params: values })
    lastReplyAtMs = performance.now()
    return (rows ?? []) as Row[]
  }

  const disk = new DiskMonitor()
  const call = disk.watch({ call: callWorker })
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
    primary: null,
    standbys: null,
    limitConnections() {},
    connections: () => ({ open: 1, most: 1 }),
    lastReplyAtMs: () => lastReplyAtMs,
    psqlPort: psqlServer?.port ?? null,
    async runScript(text) {
      await send({ kind: 'script', sql: text })
    },
    async runScripts(scripts) {
      await send({ kind: 'scripts', texts: scripts.map(script => script.text) }).catch(error => {
        throw new ScriptError(scripts[error.script]?.name ?? 'a script', error)
      })
    },
    async dump() {
      const { dump } = await send({ kind: 'dump' })
      if (!dump) throw new Error('the embedded database returned no dump')
      return dump
    },
    close,
  }
  return database
}
