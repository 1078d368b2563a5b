/** DATABASE_URL taken apart, as libpq reads it: psql is given the same address. */
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { ConnectionOptions } from 'node:tls'

export interface DatabaseHost {
  /** A name, an address, or the folder of a Unix socket. */
  host: string
  port: number
}

export interface DatabaseAddress {
  /** One of them, whichever takes writes, is the one to talk to. */
  hosts: readonly DatabaseHost[]
  user: string
  password: string
  database: string
  /** false: never. prefer: where the server can. Else as node:tls takes it. */
  tls: false | 'prefer' | ConnectionOptions
}

const FORM = /^postgres(?:ql)?:\/\/(?:([^/?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/i
const HOST_FORM = /^(\[[^\]]+\]|[^:[\]]*)(?::(\d{1,5}))?$/
const DEFAULT_PORT = '5432'

/** Null where it is no address of PostgreSQL's form, names a file that cannot be read, or asks for what is not to be had. */
export function parseDatabaseUrl(url: string): DatabaseAddress | null {
  const match = FORM.exec(url)
  if (!match) return null
  const [, userinfo = '', hostList = '', path = '', query = ''] = match
  const parameters = new URLSearchParams(query)
  // What writes needs a server that takes writes: any other wish cannot be met.
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

/** Where it leads, without what is secret in it. */
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

/** `sslmode` as libpq means it; null: a mode that there is not. */
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
      // With a root certificate at hand, libpq checks it.
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
