/** Lets psql into the embedded database: a loopback listener whose sessions take turns with the proxy's own queries. */
import { createServer, type Socket } from 'node:net'
import type { PGlite } from '@electric-sql/pglite'
import { sqlStateOf } from '../database.ts'
import type { Turns } from './embedded-turns.ts'
import { createFrameReader, encodeFatal } from './psql-frames.ts'
import { createPsqlSession } from './psql-session.ts'

export interface PsqlSocket {
  port: number
  /** Ends every session, rolling back what is open. */
  close(): Promise<void>
}

const MAX_SESSIONS = 10

/** Listens on a loopback port, 0 for any free one. Rejects, saying what to set, where the port is taken. */
export async function openPsqlSocket(db: PGlite, turns: Turns, port: number): Promise<PsqlSocket> {
  const open = new Map<Socket, () => Promise<void>>()

  const server = createServer(socket => {
    if (open.size >= MAX_SESSIONS) return refuseSession(socket)
    const end = serveSession(db, turns, socket)
    open.set(socket, end)
    socket.on('close', () => void end().finally(() => open.delete(socket)))
  })

  await new Promise<void>((resolve, reject) => {
    server.once('error', cause => {
      reject(
        new Error(`Port ${port}, for psql, cannot be had; set EMBEDDED_PG_PORT to another, or 0 for any`, { cause }),
      )
    })
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()

  return {
    port: typeof address === 'object' && address ? address.port : port,
    async close() {
      server.close()
      await Promise.all([...open.values()].map(end => end()))
    },
  }
}

/** libpq shows an error only as the answer to its startup message. */
function refuseSession(socket: Socket): void {
  const reader = createFrameReader()
  socket.on('error', () => socket.destroy())
  socket.on('data', chunk => {
    const [frame] = reader.read(Buffer.from(chunk))
    if (frame?.kind === 'encryption') socket.write('N')
    else if (frame)
      socket.end(encodeFatal('53300', `the embedded database takes ${MAX_SESSIONS} psql sessions at most`))
  })
}

/** Handles one connection's messages in order; returns how to end it. */
function serveSession(db: PGlite, turns: Turns, socket: Socket): () => Promise<void> {
  const reader = createFrameReader()
  const session = createPsqlSession({ db, turns, send, onOverstay: () => void end() })
  let work = Promise.resolve()

  function send(bytes: Uint8Array) {
    if (socket.writable) socket.write(bytes)
  }

  function end(): Promise<void> {
    work = work.then(() => session.end())
    return work.finally(() => socket.destroySoon())
  }

  async function receive(chunk: Buffer) {
    for (const frame of reader.read(chunk)) {
      if ((await session.handle(frame)) === 'ended') return void end()
    }
  }

  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', chunk => {
    work = work
      .then(() => receive(Buffer.from(chunk)))
      .catch(error => {
        send(encodeFatal(sqlStateOf(error) ?? '08P01', error instanceof Error ? error.message : String(error)))
        void end()
      })
  })
  return end
}
