/** Parses DATABASE_URL as libpq does, because operators pass the same URL to psql. */
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
  /** A host name, an IP address, or the directory of a Unix socket. */
  host: string
  port: number
}

export interface DatabaseAddress {
  /** The hosts. The proxy uses the one that accepts writes. */
  hosts: readonly DatabaseHost[]
  user: string
  password: string
  database: string
  tls: TlsOptions
  /** Startup parameters of each session: `options` and `application_name` of the address. */
  startup?: Readonly<Record<string, string>>
  /** `connect_timeout` of the address. */
  connectTimeLimitMs?: number
  /** `connection_limit` of the address. */
  connectionLimit?: number
  /** False if statements must not be prepared by name, because some poolers do not support that. True by default. */
  isPrepared?: boolean
  /** True if a host that accepts no writes is used, too. */
  isStandby?: boolean
  /** Tracks the primary among the hosts. Without it, any host that accepts writes is used. */
  primary?: PrimaryTracker
}

const URL_PATTERN = /^postgres(?:ql)?:\/\/(?:([^/?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/i
const HOST_PATTERN = /^(\[[^\]]+\]|[^:[\]]*)(?::(\d{1,5}))?$/
const DEFAULT_PORT = '5432'

const REQUIREMENT =
  'an address that begins with postgres:// or postgresql://, of one host or several, separated by commas'

/** Parses a URL. Throws DatabaseUrlError if it is not a PostgreSQL URL, names an unreadable file, or has an unsupported parameter. */
export function readDatabaseUrl(url: string): DatabaseAddress {
  const match = URL_PATTERN.exec(url)
  if (!match) throw new DatabaseUrlError(REQUIREMENT)
  const [, userinfo = '', hostList = '', path = '', query = ''] = match
  try {
    return parseParts({ userinfo, hostList, path, parameters: parseAddressParameters(query) })
  } catch (error) {
    throw error instanceof URIError ? new DatabaseUrlError(`${REQUIREMENT}, and encoded: %25 for %`) : error
  }
}

interface Parts {
  userinfo: string
  hostList: string
  path: string
  parameters: AddressParameters
}

function parseParts({ userinfo, hostList, path, parameters }: Parts): DatabaseAddress {
  const hosts = parseHosts(parameters.host ?? hostList, parameters.port)
  if (!hosts) throw new DatabaseUrlError(REQUIREMENT)
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

/** The name of the embedded database's password file in DATA_DIR. */
export const EMBEDDED_PASSWORD_FILE = 'psql.pgpass'

/** The name of the file in DATA_DIR with the port where psql reaches the embedded database. */
export const EMBEDDED_PORT_FILE = 'psql.port'

/**
 * Returns true if the address is that of psql on the embedded database in `dataDir`, at `port` or at the port in EMBEDDED_PORT_FILE. A proxy
 * opens that database by itself.
 */
export function isEmbeddedAddress({ hosts, user, password, database }: DatabaseAddress, dataDir: string, port: number) {
  const [host] = hosts
  const isLocal = hosts.length === 1 && ['127.0.0.1', 'localhost', '::1'].includes(host?.host ?? '')
  if (!host || !isLocal || user !== 'postgres' || database !== 'postgres') return false
  if (host.port !== port && host.port !== readEmbeddedPort(dataDir)) return false
  const embeddedPassword = findPassword(
    { hosts: [{ host: '127.0.0.1', port: host.port }], user, database },
    join(dataDir, EMBEDDED_PASSWORD_FILE),
  )
  return embeddedPassword !== null && (password === '' || password === embeddedPassword)
}

/** Reads the port from EMBEDDED_PORT_FILE. Returns null if there is none. */
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

/** Returns the URL with a password. If the URL has none, it comes from the environment or a password file, as in libpq. */
export function addPassword(
  url: string,
  address: DatabaseAddress,
  { PGPASSWORD, PGPASSFILE }: PasswordSources,
): string {
  if (address.password !== '') return url
  const passfile = parseAddressParameters(URL_PATTERN.exec(url)?.[4] ?? '').passfile
  const password = PGPASSWORD || findPassword(address, passfile || PGPASSFILE || join(homedir(), '.pgpass'))
  return password ? `${url}${url.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}` : url
}

/** Searches a file of lines host:port:database:user:password. Returns null if no line matches, or if other users can read the file. */
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
      // The directory of a socket matches localhost.
      const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user]
      for (const line of lines) {
        const fields = splitFields(line)
        if (wanted.every((value, i) => fields[i] === '*' || fields[i] === value)) return fields[4] ?? null
      }
    }
  } catch {
    // A missing file has no password.
  }
  return null
}

/** Formats the hosts and the database of an address, without secrets. */
export function describeAddress({ hosts, database }: DatabaseAddress): string {
  return `${hosts.map(({ host, port }) => `${host}:${port}`).join(',')}/${database}`
}

function parseHosts(list: string, ports: string | undefined): DatabaseHost[] | null {
  const given = ports?.split(',') ?? []
  const hosts: DatabaseHost[] = []
  for (const [i, text] of list.split(',').entries()) {
    const decoded = decode(text)
    const match = decoded.startsWith('/') ? [decoded, decoded] : HOST_PATTERN.exec(decoded)
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

/** Splits a line at colons. A backslash escapes the next character. */
function splitFields(line: string): string[] {
  const fields = ['']
  for (const piece of line.match(/\\[\s\S]|:|[^:\\]+/g) ?? []) {
    if (piece === ':') fields.push('')
    else fields.push(`${fields.pop()}${piece.startsWith('\\') ? piece.slice(1) : piece}`)
  }
  return fields
}
