/** An SMTP server: it accepts mails over TLS, and rejects or ignores some. */
import { createServer, type Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY } from './localhost-certificate.ts'

export interface ReceivedMail {
  from: string
  to: string[]
  /** The headers and the body, as they were sent. */
  raw: string
  isEncrypted: boolean
  /** The name that logged in; null without a login. */
  user: string | null
}

export interface MailServer {
  port: number
  mails: ReceivedMail[]
  /** Connections that sent at least a greeting. */
  connections(): number
  reset(): void
  stop(): Promise<void>
}

interface MailServerOptions {
  /** `starttls` (by default) offers it, `implicit` begins with it, `none` has none. */
  tls?: 'starttls' | 'implicit' | 'none'
  /** The login that the server requires. */
  login?: { user: string; password: string }
}

export const MAIL_PASSWORD = 'smtp-password'
/** Addresses of which the part before the @ begins with this are rejected with 550. */
export const REJECTED = 'rejected'

export async function startMailServer({ tls = 'starttls', login }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  let connections = 0
  const server = new SMTPServer({
    key: LOCALHOST_KEY,
    cert: LOCALHOST_CERTIFICATE,
    secure: tls === 'implicit',
    hideSTARTTLS: tls === 'none',
    disabledCommands: [...(tls === 'none' ? ['STARTTLS'] : []), ...(login ? [] : ['AUTH'])],
    authOptional: login === undefined,
    disableReverseLookup: true,
    closeTimeout: 100,
    onConnect(_, done) {
      connections++
      done()
    },
    onAuth({ username, password }, _, done) {
      if (username === login?.user && password === login?.password) done(null, { user: username })
      else done(new Error('wrong login'))
    },
    onRcptTo({ address }, _, done) {
      done(address.startsWith(REJECTED) ? Object.assign(new Error(`no ${address} here`), { responseCode: 550 }) : null)
    },
    onData(stream, { envelope, secure, user }, done) {
      const chunks: Buffer[] = []
      stream.on('data', chunk => chunks.push(chunk))
      stream.on('end', () => {
        mails.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
          isEncrypted: secure,
          user: typeof user === 'string' ? user : null,
        })
        done()
      })
    },
  })
  // A client that breaks off is not this server's error.
  server.on('error', () => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    mails,
    connections: () => connections,
    reset() {
      mails.length = 0
      connections = 0
    },
    stop: () => new Promise(resolve => server.close(() => resolve())),
  }
}

/** Starts a server that accepts connections, sends `greeting`, and nothing else. */
export async function startSilentMailServer(
  greeting = '',
): Promise<{ port: number; open: Set<Socket>; stop(): Promise<void> }> {
  const open = new Set<Socket>()
  const server = createServer(socket => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {})
    // Without a reader, the end of the connection would not be noticed.
    socket.resume()
    socket.write(greeting)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    open,
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** Returns the text part of a mail, decoded. */
export function readMailText(raw: string): string {
  const part = /Content-Type: text\/plain[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(raw)
  const isQuoted = /Content-Type: text\/plain[\s\S]*?quoted-printable[\s\S]*?\r\n\r\n/.test(raw)
  const text = part?.[1] ?? ''
  if (!isQuoted) return text
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
