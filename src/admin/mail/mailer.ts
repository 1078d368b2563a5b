/** Sends mails by SMTP. Each mail has a connection of its own, which is closed when the mail is sent, rejected or late. */
import { connect, isIP, type Socket } from 'node:net'
import type { MailConfig } from '../../config/mail.ts'
import { onAbort } from '../../event-loop/timeouts.ts'
import { errorMessageOf } from '../../telemetry/describe-cause.ts'

/** The whole of a delivery, from the connection to the server's acceptance. Less than the minute for which a delivery is claimed. */
const TIME_LIMIT_MS = 20_000
const NOT_SECURE = 'there is no secure connection to the mail server'

export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** The same in each attempt, so that receivers can recognize a repeated mail. A new one by default. */
  id?: string
}

export interface Mailer {
  /** Resolves once the server has accepted the mail. Throws MailNotSent. */
  send(mail: Mail, signal?: AbortSignal): Promise<void>
}

/** Thrown if a mail was not accepted. The message is for users: it names no server, no login and no address. */
export class MailNotSent extends Error {
  /** The reply code of the server; null if there was none. */
  readonly status: number | null
  /** Whether the mail server works, but does not accept this recipient. */
  readonly isRecipientRejected: boolean

  constructor(problem: string, status: number | null = null, isRecipientRejected = false) {
    super(problem)
    this.status = status
    this.isRecipientRejected = isRecipientRejected
  }
}

/** Returns null if no mail server is set up. */
export function createMailer(config: MailConfig | null, timeLimitMs = TIME_LIMIT_MS): Mailer | null {
  if (config === null) return null
  return {
    async send({ to, subject, text, html, id }, signal = new AbortController().signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)])
      const socket = connect({ host: config.host, port: config.port })
      // nodemailer adds a listener later.
      socket.on('error', () => {})
      const isLate = new Promise<never>((_, reject) =>
        onAbort(limit, () =>
          reject(new MailNotSent(`the mail server did not respond within ${timeLimitMs / 1000} seconds`)),
        ),
      )
      isLate.catch(() => {})
      try {
        const transport = await createTransport(config, socket, timeLimitMs)
        const message = { from: config.from, to: { name: '', address: to }, subject, text, html }
        const domain = config.from.replace(/^.*@|>$/g, '')
        const sending = transport.sendMail({
          ...message,
          ...(id !== undefined && { messageId: `<${id}@${domain}>` }),
          // Stops automatic replies, such as those of somebody on vacation.
          headers: { 'Auto-Submitted': 'auto-generated' },
        })
        await Promise.race([sending, isLate])
      } catch (error) {
        throw error instanceof MailNotSent ? error : describeFailure(error)
      } finally {
        socket.destroy()
      }
    },
  }
}

async function createTransport({ host, port, tls, login, ca }: MailConfig, connection: Socket, timeLimitMs: number) {
  const { default: nodemailer } = await import('nodemailer')
  return nodemailer.createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'required',
    ...(login && { auth: { user: login.user, pass: login.password } }),
    tls: { ...(ca !== null && { ca }), ...(isIP(host) === 0 && { servername: host }) },
    connectionTimeout: timeLimitMs,
    greetingTimeout: timeLimitMs,
    socketTimeout: timeLimitMs,
    // The socket is this module's, so that it can be closed at any time.
    getSocket: (_, done) => done(null, { connection }),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

interface SmtpError {
  code?: string
  /** The command that failed. */
  command?: string
  responseCode?: number | null
}

/** Describes a failure without the server's own words, which may contain addresses and names of hosts. */
function describeFailure(error: unknown): MailNotSent {
  const { code = '', command, responseCode = null } = error as SmtpError
  const reply = responseCode === null ? '' : `: ${responseCode}`
  if (code === 'ETLS') return new MailNotSent(NOT_SECURE)
  if (code === 'EAUTH' || code === 'ENOAUTH')
    return new MailNotSent(`the mail server rejected the login${reply}`, responseCode)
  if (code === 'EENVELOPE')
    return new MailNotSent(`the mail server rejected the address${reply}`, responseCode, command === 'RCPT TO')
  if (responseCode !== null) return new MailNotSent(`the mail server rejected the mail${reply}`, responseCode)
  if (/certificate|self.signed|altname|TLS|SSL/i.test(errorMessageOf(error))) return new MailNotSent(NOT_SECURE)
  return new MailNotSent(`there is no connection to the mail server${code === '' ? '' : `: ${code}`}`)
}
