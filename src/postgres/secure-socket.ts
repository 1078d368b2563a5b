/** Opens the encrypted socket of a session. Requests TLS from PostgreSQL before it sends anything else. */
import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as secure } from 'node:tls'
import type { DatabaseHost } from './address.ts'

/** `verified`: an authority signed the server's certificate. `encrypted`: the certificate was not verified. */
export type TlsState = 'verified' | 'encrypted' | 'none'

/** Thrown if the server does not support TLS. */
export class TlsUnsupportedError extends Error {
  override name = 'TlsUnsupportedError'

  constructor() {
    super('the server does not support TLS')
  }
}

/** PostgreSQL's SSLRequest: its length, and the code that takes the place of a protocol version. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const YES = 'S'.charCodeAt(0)
const NO = 'N'.charCodeAt(0)

export interface SecureSocket {
  socket: Socket
  tls: TlsState
}

export interface SecureSocketOptions extends ConnectionOptions {
  /** If true, the connection continues without TLS if the server does not support it. */
  isOptional?: boolean
}

/** Opens a socket. Rejects with TlsUnsupportedError, or with the reason why the server's certificate is not accepted. */
export async function openSecureSocket(
  { host, port }: DatabaseHost,
  { isOptional = false, ...options }: SecureSocketOptions,
  limitMs: number,
): Promise<SecureSocket> {
  const plain = connect({ host, port })
  let latest: Socket = plain
  const timer = setTimeout(() => latest.destroy(new Error(`no result within ${limitMs} ms`)), limitMs)
  try {
    await waitForEvent(plain, 'connect')
    plain.write(SSL_REQUEST)
    const [reply]: Buffer[] = await waitForEvent(plain, 'data')
    if (isOptional && reply?.length === 1 && reply[0] === NO)
      return { socket: ignoreErrors(plain.resume()), tls: 'none' }
    // More than one byte means that a third party injected data before the encryption started.
    if (reply?.length !== 1 || reply[0] !== YES) throw new TlsUnsupportedError()
    plain.removeAllListeners()
    // If the host is an IP address, node:tls would otherwise compare the certificate with `localhost`.
    latest = secure({ socket: plain, host, ...(isIP(host) === 0 ? { servername: host } : {}), ...options })
    await waitForEvent(latest, 'secureConnect')
    return { socket: ignoreErrors(latest), tls: options.rejectUnauthorized === false ? 'encrypted' : 'verified' }
  } catch (error) {
    latest.destroy()
    plain.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Ignores errors until the driver listens for them. An unhandled error event would end the process. */
function ignoreErrors(socket: Socket): Socket {
  return socket.on('error', () => {})
}

/** Waits for an event. Rejects if the socket fails or closes first. */
async function waitForEvent(socket: Socket, event: string) {
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
