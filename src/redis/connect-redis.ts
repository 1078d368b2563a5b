/** Connections to Redis: one server or a cluster, failing fast and coming back by themselves. */
import { Cluster, Redis } from 'ioredis'

const COMMAND_TIMEOUT_MS = 300
/** A connection that owes an answer and has been silent this long leads to a server that is gone or hangs. */
const SILENCE_LIMIT_MS = 2_000

export interface ConnectOptions {
  /** For subscriptions, which wait for the server rather than fail, and are silent by nature. */
  listens?: boolean
  /** After which a command fails; by default 300. Infinity: whoever sends it minds the time. */
  commandTimeoutMs?: number
}

/** `url` is one address, or a comma-separated list of cluster nodes. */
export function connectRedis(
  url: string,
  { listens = false, commandTimeoutMs = COMMAND_TIMEOUT_MS }: ConnectOptions = {},
): Redis | Cluster {
  const patience = listens
    ? { enableOfflineQueue: true, maxRetriesPerRequest: null }
    : {
        // A command that cannot be sent at once fails at once: the request goes on without Redis.
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        ...(Number.isFinite(commandTimeoutMs) ? { commandTimeout: commandTimeoutMs } : {}),
        socketTimeout: SILENCE_LIMIT_MS,
        enableAutoPipelining: true,
      }
  const shared = { ...patience, connectTimeout: 1_000 }
  const reconnectMs = (attempt: number) => Math.min(100 * attempt, 1_000)
  const nodes = url.split(',').map(node => node.trim())
  const [only] = nodes
  if (nodes.length === 1 && only !== undefined) return new Redis(only, { ...shared, retryStrategy: reconnectMs })
  const { username, password, protocol } = new URL(only ?? '')
  return new Cluster(nodes, {
    clusterRetryStrategy: reconnectMs,
    enableOfflineQueue: listens,
    enableAutoPipelining: !listens,
    redisOptions: {
      ...shared,
      ...(username ? { username: decodeURIComponent(username) } : {}),
      ...(password ? { password: decodeURIComponent(password) } : {}),
      ...(protocol === 'rediss:' ? { tls: {} } : {}),
    },
  })
}
