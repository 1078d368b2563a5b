/** Connections to Redis, a server or a cluster: they fail fast and reconnect by themselves. */
import { tracingChannel } from 'node:diagnostics_channel'
import { Cluster, Redis } from 'ioredis'

/** After this long without a reply, the server counts as gone or hanging. */
const SILENCE_LIMIT_MS = 2_000

reportSubscribers()

export type RedisConnection = Redis | Cluster

export interface ConnectOptions {
  /** For subscriptions, which wait for the server rather than fail, and may be silent for long. */
  listens?: boolean
}

/** `url` is one address, or a comma-separated list of cluster nodes. Commands have no time limit here; callers set their own. */
export function connectRedis(url: string, { listens = false }: ConnectOptions = {}): RedisConnection {
  const patience = listens
    ? { enableOfflineQueue: true, maxRetriesPerRequest: null }
    : {
        // A command that cannot be sent now fails at once: the request goes on without Redis.
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        socketTimeout: SILENCE_LIMIT_MS,
        // Commands of the same tick share a pipeline.
        enableAutoPipelining: true,
      }
  const shared = { ...patience, connectTimeout: 1_000 }
  const reconnectMs = (attempt: number) => Math.min(100 * attempt, 1_000)
  const nodes = url.split(',').map(node => node.trim())
  const [only] = nodes
  if (nodes.length === 1 && only !== undefined) {
    return ignoreErrors(new Redis(only, { ...shared, retryStrategy: reconnectMs }))
  }
  const { username, password, protocol } = new URL(only ?? '')
  const cluster = new Cluster(nodes, {
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
  return ignoreErrors(cluster)
}

/** Without a listener, a lost connection would end the process. Callers see each command fail. */
function ignoreErrors(connection: RedisConnection): RedisConnection {
  connection.on('error', () => {})
  return connection
}

/**
 * Unlike Node's, Bun's tracing channels do not report that they have no subscribers. ioredis then copies every command with all its
 * arguments for them, a seventh of a command's cost.
 */
function reportSubscribers(): void {
  const channels = Object.getPrototypeOf(tracingChannel('model-proxy'))
  if ('hasSubscribers' in channels) return
  Object.defineProperty(channels, 'hasSubscribers', {
    configurable: true,
    get(this: ReturnType<typeof tracingChannel>) {
      const { start, end, asyncStart, asyncEnd, error } = this
      return [start, end, asyncStart, asyncEnd, error].some(channel => channel.hasSubscribers)
    },
  })
}
