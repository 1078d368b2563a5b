/** Worker: owns the PGlite instance, answers the server's queries, and lets psql in through a socket. */
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import type { EmbeddedReply, EmbeddedRequest, EmbeddedStart } from './embedded-protocol.ts'

declare const self: Worker

/** How long a query waits for a transaction that a psql session holds open. */
const PSQL_TRANSACTION_WAIT_MS = 5_000

let db: PGlite | undefined
let socket: PGLiteSocketServer | undefined

self.onmessage = async ({ data }: MessageEvent<EmbeddedRequest & { id: number }>) => {
  const reply = await answer(data).catch(describeError)
  self.postMessage({ ...reply, id: data.id } satisfies EmbeddedReply)
}

async function answer(request: EmbeddedRequest): Promise<Omit<EmbeddedReply, 'id'>> {
  if (request.kind === 'start') return await start(request.start)
  if (!db) throw new Error('The embedded database has not started')
  switch (request.kind) {
    case 'query': {
      await waitForPsqlTransaction(db)
      const result = await db.query(request.sql, [...request.params])
      return { rows: result.rows, affectedRows: result.affectedRows ?? 0 }
    }
    case 'script':
      await waitForPsqlTransaction(db)
      await db.exec(request.sql)
      return {}
    case 'dump':
      return { dump: await db.dumpDataDir('none') }
    case 'close':
      await socket?.stop()
      await db.close()
      return {}
  }
}

async function start({ directory, port, template }: EmbeddedStart): Promise<Omit<EmbeddedReply, 'id'>> {
  db = await PGlite.create({
    ...(directory === null ? {} : { dataDir: directory }),
    ...(template === undefined ? {} : { loadDataDir: template }),
    extensions: { vector },
    // Ids and counters stay far below 2^53; a date has no time zone and stays text. As over the real server.
    parsers: { 20: Number, 1082: text => text },
    relaxedDurability: false,
  })
  if (port !== null) {
    socket = new PGLiteSocketServer({ db, port, host: '127.0.0.1', maxConnections: 5 })
    await socket.start()
  }
  return {}
}

/**
 * The embedded database has one session. While a psql session is inside a transaction, our statements would join it, and be
 * rolled back with it; so they wait, within a limit.
 */
async function waitForPsqlTransaction(database: PGlite): Promise<void> {
  const deadline = performance.now() + PSQL_TRANSACTION_WAIT_MS
  while (database.isInTransaction()) {
    if (performance.now() > deadline) throw new Error('A psql session holds a transaction open; end it')
    await Bun.sleep(2)
  }
}

function describeError(error: unknown): Omit<EmbeddedReply, 'id'> {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : null
  return { error: { message: error instanceof Error ? error.message : String(error), code } }
}
