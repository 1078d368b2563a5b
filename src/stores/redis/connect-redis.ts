/** Connects to a Redis server, the master that Sentinels name, or a cluster. Connections fail fast and reconnect by themselves. */
import { tracingChannel } from 'node:diagnostics_channel'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { trackConnectionErrors } from './explain-redis-error.ts'
import { parseRedisUrl, type RedisAddress, type RedisTlsOptions } from './redis-url.ts'

/** After this long without a reply, the server is treated as down. */
const SILENCE_LIMIT_MS = 2_000
/** Interval at which a cluster's slots are read again; they are also read after each redirection. */
const SLOTS_EVERY_MS = 5_000

disableTracing()

export type RedisConnection = Redis | Cluster

/** Options for replies in the format that ioredis calls legacy. */
type Options = Omit<RedisOptions, 'replyMapping'>

export interface RedisConnectOptions {
  /** True for subscriptions, which wait for the server instead of failing and may receive nothing for long. */
  isSubscriber?: boolean
  /** TLS options for encrypted addresses. Null uses the system's certificate authorities. */
  tls?: RedisTlsOptions | null
}

/** Connects to a URL as described in redis-url.ts. Throws if it is invalid. Commands have no time limit; callers set their own. */
export function connectRedis(
  url: string,
  { isSubscriber = false, tls = null }: RedisConnectOptions = {},
): RedisConnection {
  const address = parseRedisUrl(url)
  if (address === null) throw new Error('REDIS_URL must be a Redis URL such as redis://host:6379')
  const shared: Options = {
    ...(isSubscriber ? { enableOfflineQueue: true, maxRetriesPerRequest: null } : FAILS_FAST),
    ...credentialsOf(address),
    ...(address.isEncrypted ? { tls: { ...tls } } : {}),
    connectTimeout: 1_000,
  }
  const connection = address.isCluster ? connectCluster(address, shared, isSubscriber) : connectServer(address, shared)
  trackConnectionErrors(connection)
  return connection
}

const FAILS_FAST: Options = {
  // A command that cannot be sent now fails at once, so that the request continues without Redis.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  socketTimeout: SILENCE_LIMIT_MS,
  // Commands of the same tick share a pipeline.
  enableAutoPipelining: true,
}

const reconnectMs = (attempt: number) => Math.min(100 * attempt, 1_000)

function connectServer({ hosts, db, sentinel, isEncrypted }: RedisAddress, shared: Options): Redis {
  if (sentinel === null) return new Redis({ ...shared, ...hosts[0], db, retryStrategy: reconnectMs })
  return new Redis({
    ...shared,
    db,
    sentinels: hosts,
    name: sentinel.master,
    ...(sentinel.password === null ? {} : { sentinelPassword: sentinel.password }),
    ...(isEncrypted && shared.tls ? { enableTLSForSentinelMode: true, sentinelTLS: shared.tls } : {}),
    sentinelCommandTimeout: SILENCE_LIMIT_MS,
    sentinelRetryStrategy: reconnectMs,
    retryStrategy: reconnectMs,
    // The Sentinels report a failover, even if the old master hangs and its connections stay open.
    failoverDetector: true,
    // The connection leaves a master that became a replica.
    reconnectOnError: error => error.message.startsWith('READONLY'),
  })
}

function connectCluster({ hosts }: RedisAddress, redisOptions: Options, isSubscriber: boolean) {
  const cluster = new Cluster(hosts, {
    clusterRetryStrategy: reconnectMs,
    slotsRefreshInterval: SLOTS_EVERY_MS,
    slotsRefreshTimeout: SILENCE_LIMIT_MS,
    // A request does not wait for a cluster that reports that it is down.
    retryDelayOnClusterDown: 0,
    enableOfflineQueue: isSubscriber,
    enableAutoPipelining: !isSubscriber,
    shardedSubscribers: isSubscriber,
    // Nodes are connected to by the names that they announce, because a certificate is issued for a name.
    dnsLookup: (name, callback) => callback(null, name),
    redisOptions,
  })
  if (isSubscriber) rejectUnknownSlots(cluster)
  return cluster
}

interface SubscriberGroup {
  clusterSlots: readonly unknown[]
  getResponsibleSubscriber(slot: number): unknown
}

/**
 * Makes ioredis reject a subscription to a slot without a known master, which a restarted cluster may have. Otherwise ioredis throws inside
 * a timer, which would end the process.
 */
function rejectUnknownSlots(cluster: Cluster): void {
  const group: SubscriberGroup = Reflect.get(cluster, 'shardedSubscribers')
  const find = group.getResponsibleSubscriber.bind(group)
  group.getResponsibleSubscriber = slot => (group.clusterSlots[slot] ? find(slot) : undefined)
}

const RESUBSCRIBE_MS = 1_000

/** Calls back with each message on the channel. On a cluster, it subscribes on the channel's shard. */
export function subscribeToChannel(
  listener: RedisConnection,
  channel: string,
  onMessage: (message: Buffer) => void,
): void {
  const isSharded = listener instanceof Cluster
  listener.on(isSharded ? 'smessageBuffer' : 'messageBuffer', (to: Buffer, message: Buffer) => {
    if (to.toString() === channel) onMessage(message)
  })
  // After the first success, ioredis subscribes again by itself.
  async function subscribe(): Promise<void> {
    try {
      await (isSharded ? listener.ssubscribe(channel) : listener.subscribe(channel))
    } catch {
      if (listener.status !== 'end') setTimeout(subscribe, RESUBSCRIBE_MS).unref()
    }
  }
  void subscribe()
}

function credentialsOf({ username, password }: RedisAddress): Options {
  return { ...(username === null ? {} : { username }), ...(password === null ? {} : { password }) }
}

/**
 * Tells ioredis that its tracing channels have no subscribers, which Bun's channels, unlike Node's, do not report. Otherwise ioredis copies
 * every command with its arguments for them, a seventh of a command's cost.
 */
function disableTracing(): void {
  const channels = Object.getPrototypeOf(tracingChannel('model-proxy'))
  if (!('hasSubscribers' in channels)) Object.defineProperty(channels, 'hasSubscribers', { value: false })
}
