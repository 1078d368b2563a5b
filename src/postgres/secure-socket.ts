/** Opens the encrypted connection below a session: PostgreSQL is asked for TLS before anything else is sent. */
import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as secure } from 'node:tls'
import type { DatabaseHost } from './address.ts'

/** verified: by an authority, and nobody else can pass for the server. */
export type TlsState = 'verified' | 'encrypted' | 'none'

/** The server offers no TLS. */
export class TlsUnsupportedError extends Error {
  override name = 'TlsUnsupported'

  constructor() {
    super('the server does not support TLS')
  }
}

/** Length, then the code that stands in place of a protocol version. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const YES = 'S'.charCodeAt(0)
const NO = 'N'.charCodeAt(0)

export interface SecureSocket {
  socket: Socket
  tls: TlsState
}

export interface SecureSocketOptions extends ConnectionOptions {
  /** Where the server offers no TLS, the connection goes on without. */
  isOptional?: boolean
}

/** Rejects with TlsUnsupportedError, or with the reason for which the server's certificate is not accepted. */
export async function openSecureSocket(
  { host, port }: DatabaseHost,
  { isOptional = false, ...options }: SecureSocketOptions,
  limitMs: number,
): Promise<SecureSocket> {
  const plain = connect({ host, port })
  let latest: Socket = plain
  const timer = setTimeout(() => latest.destroy(new Error(`no result within ${limitMs} ms`)), limitMs)
  try {
    await opened(plain, 'connect')
    plain.write(SSL_REQUEST)
    const [answer]: Buffer[] = await opened(plain, 'data')
    if (isOptional && answer?.length === 1 && answer[0] === NO)
      return { socket: untilHeard(plain.resume()), tls: 'none' }
    // More than one byte was put there by somebody else, before the encryption.
    if (answer?.length !== 1 || answer[0] !== YES) throw new TlsUnsupportedError()
    plain.removeAllListeners()
    // If the host is an IP address, node:tls would otherwise compare the certificate with `localhost`.
    latest = secure({ socket: plain, host, ...(isIP(host) === 0 ? { servername: host } : {}), ...options })
    await opened(latest, 'secureConnect')
    return { socket: untilHeard(latest), tls: options.rejectUnauthorized === false ? 'encrypted' : 'verified' }
  } catch (error) {
    latest.destroy()
    plain.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** An error before the driver listens ends no process. */
function untilHeard(socket: Socket): Socket {
  return socket.on('error', () => {})
}

/** Rejects when the socket fails or ends first. */
async function opened(socket: Socket, event: string) {
  const leaving = new AbortController()
  const ended = once(socket, 'close', { signal: leaving.signal }).then(() => {
    throw Object.assign(new Error('the server ended the connection'), { code: 'ECONNRESET' })
  })
  ended.catch(() => {})
  try {
    return await Promise.race([once(socket, event, { signal: leaving.signal }), ended])
  } finally {
    leaving.abort()
  }
}
