/** Parses DATABASE_URL as libpq does, because psql is given the same address. */
import { readFileSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import {
  type AddressParameters,
  DatabaseUrlError,
  isPreparedDisabled,
  parseAddressParameters,
  resolveTlsOptions,
  type TlsOptions,
} from './address-parameters.ts'
import type { PrimaryTracker } from './primary-tracker.ts'

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
  tls: TlsOptions
  /** Sent at the start of each session: `options` and `application_name` of the address. */
  startup?: Readonly<Record<string, string>>
  /** `connect_timeout` of the address. */
  connectTimeLimitMs?: number
  /** `connection_limit` of the address. */
  connectionLimit?: number
  /** Whether statements are prepared by name, as they are by default: not every pooler carries them. */
  isPrepared?: boolean
  /** Whether any host is used, also one that takes no writes. */
  isStandby?: boolean
  /** What is known of the primary among the hosts; without it, any host that takes writes is used. */
  primary?: PrimaryTracker
}

const FORM = /^postgres(?:ql)?:\/\/(?:([^/?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/i
const HOST_FORM = /^(\[[^\]]+\]|[^:[\]]*)(?::(\d{1,5}))?$/
const DEFAULT_PORT = '5432'

const MUST = 'an address that begins with postgres:// or postgresql://, of one host or several, separated by commas'

/** Null where readDatabaseUrl() throws. */
export function parseDatabaseUrl(url: string): DatabaseAddress | null {
  try {
    return readDatabaseUrl(url)
  } catch (error) {
    if (error instanceof DatabaseUrlError) return null
    throw error
  }
}

/** Throws DatabaseUrlError when the text is not a PostgreSQL URL, names a file that cannot be read, or has an unsupported parameter. */
export function readDatabaseUrl(url: string): DatabaseAddress {
  const match = FORM.exec(url)
  if (!match) throw new DatabaseUrlError(MUST)
  const [, userinfo = '', hostList = '', path = '', query = ''] = match
  try {
    return readParts({ userinfo, hostList, path, parameters: parseAddressParameters(query) })
  } catch (error) {
    throw error instanceof URIError ? new DatabaseUrlError(`${MUST}, and encoded: %25 for %`) : error
  }
}

interface Parts {
  userinfo: string
  hostList: string
  path: string
  parameters: AddressParameters
}

function readParts({ userinfo, hostList, path, parameters }: Parts): DatabaseAddress {
  const hosts = parseHosts(parameters.host ?? hostList, parameters.port)
  if (!hosts) throw new DatabaseUrlError(MUST)
  const colon = userinfo.indexOf(':')
  const user = decodeURIComponent(colon < 0 ? userinfo : userinfo.slice(0, colon)) || parameters.user
  const owner = user || userInfo().username
  const { options, application_name, connect_timeout, connection_limit } = parameters
  const startup = { ...(options ? { options } : {}), ...(application_name ? { application_name } : {}) }
  return {
    hosts,
    user: owner,
    password: (colon < 0 ? '' : decodeURIComponent(userinfo.slice(colon + 1))) || (parameters.password ?? ''),
    database: decodeURIComponent(path) || parameters.dbname || owner,
    tls: resolveTlsOptions(parameters),
    ...(isPreparedDisabled(parameters) ? { isPrepared: false } : {}),
    ...(Object.keys(startup).length > 0 ? { startup } : {}),
    ...(Number(connect_timeout) > 0 ? { connectTimeLimitMs: Number(connect_timeout) * 1_000 } : {}),
    ...(connection_limit ? { connectionLimit: Number(connection_limit) } : {}),
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
export function addPassword(
  url: string,
  address: DatabaseAddress,
  { PGPASSWORD, PGPASSFILE }: PasswordSources,
): string {
  if (address.password !== '') return url
  const named = parseAddressParameters(FORM.exec(url)?.[4] ?? '').passfile
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

function parseHosts(list: string, ports: string | undefined): DatabaseHost[] | null {
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
