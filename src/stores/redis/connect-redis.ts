/** Connections to Redis, a server, the master that Sentinels name, or a cluster: they fail fast and reconnect by themselves. */
import { tracingChannel } from 'node:diagnostics_channel'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { trackConnectionErrors } from './explain-redis-error.ts'
import { parseRedisUrl, type RedisAddress, type RedisTlsOptions } from './redis-url.ts'

/** After this long without a reply, the server counts as gone or hanging. */
const SILENCE_LIMIT_MS = 2_000
/** A cluster's slots are read again after each redirection, and this often. */
const SLOTS_EVERY_MS = 5_000

silenceTracing()

export type RedisConnection = Redis | Cluster

/** Replies in the form that ioredis calls legacy. */
type Options = Omit<RedisOptions, 'replyMapping'>

export interface RedisConnectOptions {
  /** For subscriptions, which wait for the server rather than fail, and may be silent for long. */
  isSubscriber?: boolean
  /** For addresses that ask for TLS; null for the system's own authorities. */
  tls?: RedisTlsOptions | null
}

/** `url`: see redis-url.ts. Commands have no time limit here; callers set their own. */
export function connectRedis(
  url: string,
  { isSubscriber = false, tls = null }: RedisConnectOptions = {},
): RedisConnection {
  const address = parseRedisUrl(url)
  if (address === null) throw new Error('REDIS_URL is not an address of Redis')
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
  // A command that cannot be sent now fails at once: the request goes on without Redis.
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
    // The Sentinels tell of a failover, also where the old master hangs and its connections stay.
    failoverDetector: true,
    // A master that became a replica is left at once.
    reconnectOnError: error => error.message.startsWith('READONLY'),
  })
}

function connectCluster({ hosts }: RedisAddress, redisOptions: Options, listens: boolean) {
  const cluster = new Cluster(hosts, {
    clusterRetryStrategy: reconnectMs,
    slotsRefreshInterval: SLOTS_EVERY_MS,
    slotsRefreshTimeout: SILENCE_LIMIT_MS,
    // A request does not wait for a cluster that says that it is down.
    retryDelayOnClusterDown: 0,
    enableOfflineQueue: listens,
    enableAutoPipelining: !listens,
    shardedSubscribers: listens,
    // Nodes are reached by the names that they announce: a certificate is made out to a name.
    dnsLookup: (name, callback) => callback(null, name),
    redisOptions,
  })
  if (listens) refuseUnknownSlots(cluster)
  return cluster
}

interface SubscriberGroup {
  clusterSlots: readonly unknown[]
  getResponsibleSubscriber(slot: number): unknown
}

/**
 * A cluster that has just come back may not know yet who has a slot. ioredis then throws from within a timer, which would end the process;
 * without a subscriber for the slot, it rejects the command.
 */
function refuseUnknownSlots(cluster: Cluster): void {
  const group: SubscriberGroup = Reflect.get(cluster, 'shardedSubscribers')
  const find = group.getResponsibleSubscriber.bind(group)
  group.getResponsibleSubscriber = slot => (group.clusterSlots[slot] ? find(slot) : undefined)
}

const SUBSCRIBE_AGAIN_MS = 1_000

/** Calls back with each message on the channel. On a cluster only the channel's own shard carries them. */
export function subscribeToChannel(
  listener: RedisConnection,
  channel: string,
  onMessage: (message: Buffer) => void,
): void {
  const isSharded = listener instanceof Cluster
  listener.on(isSharded ? 'smessageBuffer' : 'messageBuffer', (to: Buffer, message: Buffer) => {
    if (to.toString() === channel) onMessage(message)
  })
  // What was subscribed once is subscribed again by the driver.
  async function subscribe(): Promise<void> {
    try {
      await (isSharded ? listener.ssubscribe(channel) : listener.subscribe(channel))
    } catch {
      if (listener.status !== 'end') setTimeout(subscribe, SUBSCRIBE_AGAIN_MS).unref()
    }
  }
  void subscribe()
}

function credentialsOf({ username, password }: RedisAddress): Options {
  return { ...(username === null ? {} : { username }), ...(password === null ? {} : { password }) }
}

/**
 * Unlike Node's, Bun's tracing channels do not say that nobody subscribed, as nobody does here. ioredis then copies every command with all
 * its arguments for them, a seventh of a command's cost.
 */
function silenceTracing(): void {
  const channels = Object.getPrototypeOf(tracingChannel('model-proxy'))
  if (!('hasSubscribers' in channels)) Object.defineProperty(channels, 'hasSubscribers', { value: false })
}
