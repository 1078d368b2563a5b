/** Settings of the mail server that sends alerts, invitations and password resets. */
import { isIP } from 'node:net'
import type { SettingsReader } from './settings-reader.ts'

export interface MailConfig {
  host: string
  port: number
  /** `implicit`: TLS from the first byte. `required`: STARTTLS before anything else. `optional`: STARTTLS if the server offers it. */
  tls: 'implicit' | 'required' | 'optional'
  /** The login; null for a server that requires none. */
  login: { user: string; password: string } | null
  /** The certificate authority of the server in PEM; null for the system's. */
  ca: string | null
  /** The sender of all mails: an address, or `Name <address>`. */
  from: string
}

const EXAMPLE = 'smtp://user:password@smtp.example.com:587'
const SENDER = /^(?:[^<>"\p{Cc}]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u

/** Returns null if no mail server is set: no mail is sent then. */
export function readMailConfig(read: SettingsReader): MailConfig | null {
  const address = read.optionalText('SMTP_URL')
  const from = read.optionalText('MAIL_FROM')
  const requiresTls = read.choice('SMTP_TLS', 'on', ['on', 'off']) === 'on'
  const ca = read.fileText('SMTP_CA_FILE')
  if (address === null) {
    if (from !== null) read.problem('SMTP_URL', 'set where MAIL_FROM is', EXAMPLE)
    return null
  }
  const server = parseServer(address)
  if (server === null)
    read.problem('SMTP_URL', 'an address that begins with smtp:// or smtps://, with a host and no path', EXAMPLE)
  if (from === null || !SENDER.test(from))
    read.problem(
      'MAIL_FROM',
      'an e-mail address, or a name and an address, where SMTP_URL is set',
      'Model Proxy <proxy@example.com>',
    )
  if (server === null || from === null) return null
  const tls = server.isImplicit ? 'implicit' : requiresTls ? 'required' : 'optional'
  return { host: server.host, port: server.port, tls, login: server.login, ca, from }
}

function parseServer(address: string): (Pick<MailConfig, 'host' | 'port' | 'login'> & { isImplicit: boolean }) | null {
  if (!URL.canParse(address)) return null
  const { protocol, hostname, port, pathname, search, username, password } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isImplicit = protocol === 'smtps:'
  if ((!isImplicit && protocol !== 'smtp:') || host === '' || !/^\/?$/.test(pathname) || search !== '') return null
  if (isIP(host) === 0 && !/^[\w.-]+$/.test(host)) return null
  try {
    const login =
      username === '' ? null : { user: decodeURIComponent(username), password: decodeURIComponent(password) }
    return { host, port: Number(port) || (isImplicit ? 465 : 587), login, isImplicit }
  } catch {
    // A % that begins no escape.
    return null
  }
}
