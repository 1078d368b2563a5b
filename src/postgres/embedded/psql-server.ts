/**
 * A loopback listener for psql on the embedded database. It checks the password and forwards the messages of sessions. PGlite's listener,
 * `@electric-sql/pglite-socket` 0.2.17, accepts any password, applies one session's SET to all others, and hangs after
 * `COPY … FROM STDIN`.
 */
import { createServer, type Socket } from 'node:net'
import type { PsqlEvent, PsqlRequest } from './embedded-protocol.ts'
import { createFrameReader, encodeAuthentication, encodeFatalError, type ProtocolFrame } from './psql-frames.ts'
import { createScramExchange, createScramVerifier, SCRAM_MECHANISM, type ScramVerifier } from './scram.ts'

export interface PsqlServer {
  port: number
  /** Handles an event of the worker about a session. */
  receive(event: PsqlEvent): void
  /** Ends all sessions with an error. */
  endSessions(sqlState: string, message: string): void
  /** Stops listening. */
  close(): void
}

export interface PsqlServerOptions {
  /** The loopback port; 0 for any free one. */
  port: number
  password: string
  send(request: PsqlRequest): void
}

const MAX_SESSIONS = 10
/** The time within which a client must authenticate. */
const LOGIN_TIME_LIMIT_MS = 30_000

/** Starts the listener. Rejects if the port is not available. */
export async function startPsqlServer({ port, password, send }: PsqlServerOptions): Promise<PsqlServer> {
  const verifier = createScramVerifier(password)
  const open = new Map<number, Socket>()
  let lastSession = 0

  const server = createServer(socket => {
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    if (open.size >= MAX_SESSIONS) return rejectSession(socket)
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
        new Error(`port ${port} for psql is not available; set EMBEDDED_PG_PORT to another port, or to 0 for any`, {
          cause,
        }),
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

/** Forwards a connection's messages in order. Returns a function that reports whether the worker has the session. */
function serveSession({ session, socket, verifier, send }: SessionOptions): () => boolean {
  const reader = createFrameReader()
  const login = createLogin(verifier, bytes => socket.write(bytes))
  const timer = setTimeout(() => socket.destroy(), LOGIN_TIME_LIMIT_MS)
  let isLoggedIn = false

  function end(sqlState: string, message: string): void {
    socket.end(encodeFatalError(sqlState, message))
  }

  function logIn(frame: ProtocolFrame): void {
    const outcome = login(frame)
    if (outcome === 'waiting') return
    if (outcome === 'ended') return void socket.end()
    if (outcome === 'rejected') {
      end('28P01', 'password authentication failed; the file psql.pgpass in DATA_DIR has the password')
      return
    }
    clearTimeout(timer)
    isLoggedIn = true
    send({ kind: 'psql-open', session, bytes: outcome.startup })
  }

  socket.on('close', () => clearTimeout(timer))
  socket.on('data', chunk => {
    try {
      for (const frame of reader.read(Buffer.from(chunk))) {
        if (!socket.writable) return
        if (!isLoggedIn) logIn(frame)
        else if (frame.kind === 'message') {
          send({ kind: 'psql-message', session, type: frame.type, bytes: Buffer.from(frame.bytes) })
        }
      }
    } catch (error) {
      end('08P01', error instanceof Error ? error.message : String(error))
    }
  })
  return () => isLoggedIn
}

const SASL = 10
const SASL_CONTINUE = 11
const SASL_FINAL = 12

/**
 * `waiting`: more messages must follow. `rejected`: the password is wrong. `ended`: the client wants no session. Otherwise, the login
 * succeeded and returns the startup message for PostgreSQL.
 */
type LoginOutcome = 'waiting' | 'rejected' | 'ended' | { startup: Buffer }

/** Returns a function that handles the messages of a login, one by one: declines encryption, and checks the password. It throws on an invalid message. */
function createLogin(
  verifier: ScramVerifier,
  send: (bytes: Uint8Array) => void,
): (frame: ProtocolFrame) => LoginOutcome {
  const scram = createScramExchange(verifier)
  let startup: Buffer | null = null
  let hasSentChallenge = false

  function handleSaslMessage(bytes: Buffer): LoginOutcome {
    const content = bytes.subarray(5)
    if (!hasSentChallenge) {
      const nameEnd = content.indexOf(0)
      if (content.toString('latin1', 0, nameEnd) !== SCRAM_MECHANISM) throw new Error('unsupported authentication')
      const challenge = scram.begin(content.toString('utf8', nameEnd + 5))
      if (challenge === null) throw new Error('invalid authentication message')
      hasSentChallenge = true
      send(encodeAuthentication(SASL_CONTINUE, challenge))
      return 'waiting'
    }
    const proof = scram.finish(content.toString('utf8'))
    if (proof === null || startup === null) return 'rejected'
    send(encodeAuthentication(SASL_FINAL, proof))
    return { startup }
  }

  return frame => {
    if (frame.kind === 'cancel') return 'ended'
    if (frame.kind === 'encryption') send(Buffer.from('N'))
    else if (frame.kind === 'startup') {
      startup = frame.bytes
      send(encodeAuthentication(SASL, `${SCRAM_MECHANISM}\0\0`))
    } else if (frame.type === 'p') return handleSaslMessage(frame.bytes)
    else if (frame.type === 'X') return 'ended'
    else throw new Error('expected a password message')
    return 'waiting'
  }
}

/** Rejects a session. libpq shows an error only if it is the reply to the startup message. */
function rejectSession(socket: Socket): void {
  const reader = createFrameReader()
  socket.on('data', chunk => {
    const [frame] = reader.read(Buffer.from(chunk))
    if (frame?.kind === 'encryption') socket.write('N')
    else if (frame)
      socket.end(encodeFatalError('53300', `the embedded database accepts at most ${MAX_SESSIONS} psql sessions`))
  })
}
