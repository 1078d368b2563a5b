/** Explains for the log, without secrets, why Redis cannot be used and what to change. */
import type { Cluster, Redis } from 'ioredis'

type Connection = Redis | Cluster

/** The last error of each connection. ioredis reports it to listeners only; commands fail without the reason. */
const lastErrors = new WeakMap<Connection, unknown>()

/** Records the connection's errors for `explainRedisError`. */
export function trackConnectionErrors(connection: Connection): void {
  // Without a listener, a lost connection would end the process. Callers see each command fail.
  connection.on('error', error => lastErrors.set(connection, error))
  connection.on('ready', () => {
    if (!isDatabaseMissing(connection)) lastErrors.delete(connection)
  })
}

/** Returns whether the database number of the URL does not exist. ioredis then uses database 0. */
export function isDatabaseMissing(connection: Connection): boolean {
  return WRONG_DATABASE.test(describe(lastErrors.get(connection)))
}

const WRONG_DATABASE = /^ERR (DB index|invalid DB)/

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^(WRONGPASS|ERR invalid password)/, 'correct user and password in REDIS_URL'],
  [/^(NOAUTH|ERR AUTH)/, 'REDIS_URL needs a password: redis://:password@host:6379'],
  [/^NOPERM/, 'give the user all commands on its names: ACL SETUSER name on >password ~mp:* &mp:* +@all'],
  [/^(READONLY|NOREPLICAS)/, 'REDIS_URL must lead to the master; with Sentinels, use redis+sentinel://'],
  [
    /^(MOVED|CLUSTERDOWN|CROSSSLOT|ERR .*cluster)/,
    'it is a cluster: name several of its nodes in REDIS_URL, separated by commas',
  ],
  [/^OOM/, 'raise its maxmemory, and set maxmemory-policy volatile-lru'],
  [/^MISCONF/, 'it cannot save to its disk: see its log, or set stop-writes-on-bgsave-error no'],
  [/^LOADING/, 'it is still reading its data'],
  [/^(-?DENIED|.*protected mode)/, 'it is in protected mode: set a password for it, or bind it to a private address'],
  [/^ERR max number of clients/, 'raise its maxclients'],
  [WRONG_DATABASE, 'name another database in REDIS_URL, such as redis://host:6379/0'],
  [/^ERR unknown command/, 'Redis 7 or newer is needed'],
  [/ECONNREFUSED/, 'nothing listens there: start Redis, or correct REDIS_URL'],
  [/ENOTFOUND|EAI_AGAIN/, 'correct the name in REDIS_URL'],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/,
    'let this machine through its firewall; if it takes no TLS, use redis:// in place of rediss://',
  ],
  [/ALTNAME/, 'name the server in REDIS_URL as its certificate does'],
  [/SELF_SIGNED|UNABLE_TO_|CERT_|certificate/i, 'set REDIS_CA_FILE to the authority of its certificate'],
  [/ERR_SSL|WRONG_VERSION|EPROTO/, 'it does not speak TLS: use redis:// in place of rediss://'],
  [/ECONNRESET|Connection is closed|EPIPE/, 'it ended the connection: if it takes TLS alone, use rediss://'],
]

/** Returns the cause and, if known, the remedy. `error` is the rejection of the last command. */
export function explainRedisError(connection: Connection, error: unknown): { cause: string; remedy?: string } {
  const cause = describe(lastErrors.get(connection) ?? error)
  const remedy = REMEDIES.find(([pattern]) => pattern.test(cause))?.[1]
  return remedy === undefined ? { cause } : { cause, remedy }
}

/** Returns the error's message, with its code. Of errors of several nodes, it describes the last. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('lastNodeError' in error && error.lastNodeError instanceof Error) return describe(error.lastNodeError)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return error.message.includes(code) ? error.message : `${code} ${error.message}`
}
