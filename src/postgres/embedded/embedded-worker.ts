/** Worker: owns the PGlite instance, answers the server's queries, and lets psql in through a socket. */
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import type { EmbeddedReply, EmbeddedRequest, EmbeddedStart } from './embedded-protocol.ts'
import { createTurns } from './embedded-turns.ts'
import { openPsqlSocket, type PsqlSocket } from './psql-socket.ts'

declare const self: Worker

/**
 * The embedded database has one session. A statement of ours in the midst of a psql session's transaction would join it, and
 * be rolled back with it; so it waits for its turn, within this limit.
 */
const TURN_WAIT_MS = 5_000

const turns = createTurns()
let db: PGlite | undefined
let socket: PsqlSocket | undefined

self.onmessage = async ({ data }: MessageEvent<EmbeddedRequest & { id: number }>) => {
  const reply = await answer(data).catch(describeError)
  self.postMessage({ ...reply, id: data.id } satisfies EmbeddedReply)
}

async function answer(request: EmbeddedRequest): Promise<Omit<EmbeddedReply, 'id'>> {
  if (request.kind === 'start') return await start(request.start)
  if (!db) throw new Error('The embedded database has not started')
  if (request.kind === 'close') return await close(db)
  const endTurn = await turns.take(TURN_WAIT_MS)
  try {
    return await run(db, request)
  } finally {
    endTurn()
  }
}

async function run(
  database: PGlite,
  request: Exclude<EmbeddedRequest, { kind: 'start' | 'close' }>,
): Promise<Omit<EmbeddedReply, 'id'>> {
  switch (request.kind) {
    case 'query': {
      const result = await database.query(request.sql, [...request.params])
      return { rows: result.rows, affectedRows: result.affectedRows ?? 0 }
    }
    case 'script':
      await database.exec(request.sql)
      return {}
    case 'dump':
      return { dump: await database.dumpDataDir('none') }
  }
}

async function close(database: PGlite): Promise<Omit<EmbeddedReply, 'id'>> {
  await socket?.close()
  await database.close()
  return {}
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
  if (port === null) return {}
  socket = await openPsqlSocket(db, turns, port)
  return { port: socket.port }
}

function describeError(error: unknown): Omit<EmbeddedReply, 'id'> {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : null
  return { error: { message: error instanceof Error ? error.message : String(error), code } }
}
