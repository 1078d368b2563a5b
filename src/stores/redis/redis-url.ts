/** Parses REDIS_URL: one server, a comma-separated list of cluster nodes, or Sentinels and the name of their master. */

/** Certificates and key in PEM. */
export interface RedisTlsOptions {
  ca?: string
  cert?: string
  key?: string
}

export interface RedisAddress {
  hosts: { host: string; port: number }[]
  isCluster: boolean
  /** Name of the master, and password of the Sentinels. Null without Sentinels. */
  sentinel: { master: string; password: string | null } | null
  isEncrypted: boolean
  username: string | null
  password: string | null
  db: number
}

const URL_PATTERN = /^(redis|rediss)(\+sentinel)?:\/\/(?:([^@/]*)@)?([^/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/
const REDIS_PORT = 6379
const SENTINEL_PORT = 26_379

/** Returns null for an invalid URL. */
export function parseRedisUrl(url: string): RedisAddress | null {
  if (url.includes('+sentinel:')) return parseOne(url)
  const nodes = url.split(',').map(node => parseOne(node.trim()))
  const [first] = nodes
  if (!first || nodes.includes(null)) return null
  return { ...first, hosts: nodes.flatMap(node => node?.hosts ?? []), isCluster: nodes.length > 1 }
}

function parseOne(url: string): RedisAddress | null {
  const [, scheme, sentinels, credentials = '', authority = '', path = '', query = ''] = URL_PATTERN.exec(url) ?? []
  const hosts = parseHosts(authority, sentinels ? SENTINEL_PORT : REDIS_PORT)
  const names = path.split('/')
  const master = sentinels ? decode(names.shift() ?? '') : null
  const [db = ''] = names
  if (!scheme || hosts === null || master === '' || !/^\d*$/.test(db) || (hosts.length > 1 && !sentinels)) return null
  const [username = '', ...password] = credentials.split(':')
  return {
    hosts,
    isCluster: false,
    sentinel: master === null ? null : { master, password: new URLSearchParams(query).get('sentinel_password') },
    isEncrypted: scheme === 'rediss',
    username: decode(username) || null,
    password: decode(password.join(':')) || null,
    db: Number(db),
  }
}

function parseHosts(authority: string, defaultPort: number): RedisAddress['hosts'] | null {
  const hosts = authority.split(',').map(text => {
    const [, bare, bracketed, port] = /^(?:([^:[\]\s]+)|\[([0-9a-fA-F:.]+)\])(?::(\d{1,5}))?$/.exec(text.trim()) ?? []
    const host = bare ?? bracketed
    return host === undefined ? null : { host, port: Number(port ?? defaultPort) }
  })
  return hosts.every(host => host !== null && host.port > 0 && host.port < 65_536)
    ? hosts.filter(host => host !== null)
    : null
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
