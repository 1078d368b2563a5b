/** Parses DATABASE_URL as libpq does, because psql is given the same address. */
import { readFileSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import type { Primary } from './primary.ts'

export interface DatabaseHost {
  /** A name, an address, or the folder of a Unix socket. */
  host: string
  port: number
}

export interface DatabaseAddress {
  /** The proxy uses whichever of them takes writes. */
  hosts: readonly DatabaseHost[]
  user: string
  password: string
  database: string
  /** false: no TLS. prefer: TLS if the server supports it. Otherwise options of node:tls. */
  tls: false | 'prefer' | ConnectionOptions
  /** Whether statements are prepared by name, as they are by default: not every pooler carries them. */
  isPrepared?: boolean
  /** Whether any host is used, also one that takes no writes. */
  isStandby?: boolean
  /** What is known of the primary among the hosts; without it, any host that takes writes is used. */
  primary?: Primary
}

const FORM = /^postgres(?:ql)?:\/\/(?:([^/?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/i
const HOST_FORM = /^(\[[^\]]+\]|[^:[\]]*)(?::(\d{1,5}))?$/
const DEFAULT_PORT = '5432'

/** Returns null when the text is not a PostgreSQL URL, names a file that cannot be read, or asks for an unsupported option. */
export function parseDatabaseUrl(url: string): DatabaseAddress | null {
  const match = FORM.exec(url)
  if (!match) return null
  const [, userinfo = '', hostList = '', path = '', query = ''] = match
  const parameters = new URLSearchParams(query)
  // The proxy writes, so it needs a server that takes writes: other session attributes cannot be met.
  if (!['any', 'read-write', 'primary'].includes(parameters.get('target_session_attrs') ?? 'any')) return null
  const hosts = parseHosts(parameters.get('host') ?? hostList, parameters.get('port'))
  const colon = userinfo.indexOf(':')
  try {
    const tls = parseTls(parameters)
    if (!hosts || tls === null) return null
    const user = decodeURIComponent(colon < 0 ? userinfo : userinfo.slice(0, colon)) || parameters.get('user')
    const owner = user || userInfo().username
    return {
      hosts,
      user: owner,
      password: (colon < 0 ? '' : decodeURIComponent(userinfo.slice(colon + 1))) || (parameters.get('password') ?? ''),
      database: decodeURIComponent(path) || parameters.get('dbname') || owner,
      tls,
    }
  } catch {
    return null
  }
}

/** The embedded database's password file, in its folder. */
export const EMBEDDED_PASSWORD_FILE = 'psql.pgpass'

/** Where a proxy that holds the folder says at which port psql reaches it. */
export const EMBEDDED_PORT_FILE = 'psql.port'

/**
 * Whether it is the address where psql reaches the embedded database of this folder, at the port that is set or the one that a proxy has told:
 * a proxy opens that by itself.
 */
export function isEmbeddedAddress({ hosts, user, password, database }: DatabaseAddress, dataDir: string, port: number) {
  const [host] = hosts
  const isLocal = hosts.length === 1 && ['127.0.0.1', 'localhost', '::1'].includes(host?.host ?? '')
  if (!host || !isLocal || user !== 'postgres' || database !== 'postgres') return false
  if (host.port !== port && host.port !== readEmbeddedPort(dataDir)) return false
  const own = findPassword(
    { hosts: [{ host: '127.0.0.1', port: host.port }], user, database },
    join(dataDir, EMBEDDED_PASSWORD_FILE),
  )
  return own !== null && (password === '' || password === own)
}

/** Null when none has been told. */
export function readEmbeddedPort(dataDir: string): number | null {
  try {
    return Number(readFileSync(join(dataDir, EMBEDDED_PORT_FILE), 'utf8')) || null
  } catch {
    return null
  }
}

interface PasswordSources {
  PGPASSWORD?: string | undefined
  PGPASSFILE?: string | undefined
}

/** The address with a password, which libpq takes from the environment or a file where the address has none. */
export function withPassword(
  url: string,
  address: DatabaseAddress,
  { PGPASSWORD, PGPASSFILE }: PasswordSources,
): string {
  if (address.password !== '') return url
  const named = new URLSearchParams(FORM.exec(url)?.[4]).get('passfile')
  const password = PGPASSWORD || findPassword(address, named || PGPASSFILE || join(homedir(), '.pgpass'))
  return password ? `${url}${url.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}` : url
}

/** Looks in a file of lines host:port:database:user:password. Null when none fits, or others can read the file. */
function findPassword(
  { hosts, user, database }: Pick<DatabaseAddress, 'hosts' | 'user' | 'database'>,
  file: string,
): string | null {
  try {
    if ((statSync(file).mode & 0o077) !== 0) return null
    const lines = readFileSync(file, 'utf8')
      .split(/\r?\n/)
      .filter(line => line !== '' && !line.startsWith('#'))
    for (const { host, port } of hosts) {
      // A socket's folder counts as localhost.
      const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user]
      for (const line of lines) {
        const fields = splitFields(line)
        if (wanted.every((value, i) => fields[i] === '*' || fields[i] === value)) return fields[4] ?? null
      }
    }
  } catch {
    // Without the file there is no password.
  }
  return null
}

/** The address without its secrets. */
export function describeAddress({ hosts, database }: DatabaseAddress): string {
  return `${hosts.map(({ host, port }) => `${host}:${port}`).join(',')}/${database}`
}

function parseHosts(list: string, ports: string | null): DatabaseHost[] | null {
  const given = ports?.split(',') ?? []
  const hosts: DatabaseHost[] = []
  for (const [i, text] of list.split(',').entries()) {
    const decoded = decode(text)
    const match = decoded.startsWith('/') ? [decoded, decoded] : HOST_FORM.exec(decoded)
    if (!match) return null
    const port = Number(match[2] ?? given[i] ?? given[0] ?? DEFAULT_PORT)
    if (!Number.isInteger(port) || port < 1 || port > 65_535) return null
    hosts.push({ host: (match[1] || 'localhost').replace(/^\[|\]$/g, ''), port })
  }
  return hosts
}

/** `sslmode` as libpq defines it; null for an unknown mode. */
function parseTls(parameters: URLSearchParams): DatabaseAddress['tls'] | null {
  const rootCert = parameters.get('sslrootcert')
  const files = {
    ...(rootCert && rootCert !== 'system' ? { ca: readFileSync(rootCert) } : {}),
    ...(parameters.has('sslcert') ? { cert: readFileSync(parameters.get('sslcert') ?? '') } : {}),
    ...(parameters.has('sslkey') ? { key: readFileSync(parameters.get('sslkey') ?? '') } : {}),
  }
  switch (parameters.get('sslmode') ?? (rootCert === 'system' ? 'verify-full' : 'disable')) {
    case 'disable':
      return false
    case 'allow':
    case 'prefer':
      return 'prefer'
    case 'require':
      // With a root certificate, libpq verifies it in this mode too.
      return rootCert ? { ...files, checkServerIdentity: () => undefined } : { ...files, rejectUnauthorized: false }
    case 'verify-ca':
      return { ...files, checkServerIdentity: () => undefined }
    case 'verify-full':
      return files
    default:
      return null
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Between colons; a backslash makes what follows it a plain character. */
function splitFields(line: string): string[] {
  const fields = ['']
  for (const piece of line.match(/\\[\s\S]|:|[^:\\]+/g) ?? []) {
    if (piece === ':') fields.push('')
    else fields.push(`${fields.pop()}${piece.startsWith('\\') ? piece.slice(1) : piece}`)
  }
  return fields
}
