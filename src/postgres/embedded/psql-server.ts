/**
 * A loopback listener for psql on the embedded database: asks for the password and forwards the sessions' messages. PGlite's own,
 * `@electric-sql/pglite-socket` 0.2.17, takes any password, lets one session's SET reach the others, and answers nobody after a
 * `COPY … FROM STDIN`.
 */
import { createServer, type Socket } from 'node:net'
import type { PsqlEvent, PsqlRequest } from './embedded-protocol.ts'
import { createFrameReader, encodeFatalError, type ProtocolFrame } from './psql-frames.ts'
import { createPsqlLogin } from './psql-login.ts'
import { createScramVerifier, type ScramVerifier } from './scram.ts'

export interface PsqlServer {
  port: number
  /** Handles a worker's event about a session. */
  receive(event: PsqlEvent): void
  /** Ends every session, and tells each client why. */
  endSessions(sqlState: string, message: string): void
  /** Stops listening. */
  close(): void
}

export interface PsqlServerOptions {
  /** Loopback port, 0 for any free one. */
  port: number
  password: string
  send(request: PsqlRequest): void
}

const MAX_SESSIONS = 10
/** Time in which a client must send its password. */
const LOGIN_TIME_LIMIT_MS = 30_000

/** Rejects with the setting to change when the port is taken. */
export async function startPsqlServer({ port, password, send }: PsqlServerOptions): Promise<PsqlServer> {
  const verifier = createScramVerifier(password)
  const open = new Map<number, Socket>()
  let lastSession = 0

  const server = createServer(socket => {
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    if (open.size >= MAX_SESSIONS) return refuseSession(socket)
    const session = ++lastSession
    open.set(session, socket)
    const hasOpened = serveSession({ session, socket, verifier, send })
    socket.on('close', () => {
      // The session stays listed until the worker reports that it has cleaned up.
      if (hasOpened()) send({ kind: 'psql-end', session })
      else open.delete(session)
    })
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
    receive(event) {
      if (event.kind === 'psql-runs') return
      const socket = open.get(event.session)
      if (event.kind === 'psql-bytes') {
        if (socket?.writable) socket.write(event.bytes)
        return
      }
      open.delete(event.session)
      socket?.destroySoon()
    },
    endSessions(sqlState, message) {
      for (const socket of open.values()) {
        if (socket.writable) socket.write(encodeFatalError(sqlState, message))
        socket.destroySoon()
      }
      open.clear()
    },
    close: () => void server.close(),
  }
}

interface SessionOptions {
  session: number
  socket: Socket
  verifier: ScramVerifier
  send(request: PsqlRequest): void
}

/** Forwards one connection's messages in order. The returned function tells whether the worker knows the session. */
function serveSession({ session, socket, verifier, send }: SessionOptions): () => boolean {
  const reader = createFrameReader()
  const login = createPsqlLogin(verifier, bytes => socket.write(bytes))
  const timer = setTimeout(() => socket.destroy(), LOGIN_TIME_LIMIT_MS)
  let isIn = false

  function end(sqlState: string, message: string): void {
    socket.end(encodeFatalError(sqlState, message))
  }

  function logIn(frame: ProtocolFrame): void {
    const outcome = login(frame)
    if (outcome === 'waiting') return
    if (outcome === 'ended') return void socket.end()
    if (outcome === 'refused') {
      end('28P01', 'password authentication failed; the file psql.pgpass in DATA_DIR has the password')
      return
    }
    clearTimeout(timer)
    isIn = true
    send({ kind: 'psql-open', session, bytes: outcome.startup })
  }

  socket.on('close', () => clearTimeout(timer))
  socket.on('data', chunk => {
    try {
      for (const frame of reader.read(Buffer.from(chunk))) {
        if (!socket.writable) return
        if (!isIn) logIn(frame)
        else if (frame.kind === 'message') {
          send({ kind: 'psql-message', session, type: frame.type, bytes: Buffer.from(frame.bytes) })
        }
      }
    } catch (error) {
      end('08P01', error instanceof Error ? error.message : String(error))
    }
  })
  return () => isIn
}

/** libpq shows an error only as the reply to its startup message. */
function refuseSession(socket: Socket): void {
  const reader = createFrameReader()
  socket.on('data', chunk => {
    const [frame] = reader.read(Buffer.from(chunk))
    if (frame?.kind === 'encryption') socket.write('N')
    else if (frame)
      socket.end(encodeFatalError('53300', `the embedded database takes ${MAX_SESSIONS} psql sessions at most`))
  })
}
