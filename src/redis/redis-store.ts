/** The fast store on a Redis server or cluster. */
import { readFileSync } from 'node:fs'
import { Cluster, Redis } from 'ioredis'
import type { FastStore, PassBatch, PassVerdict } from './fast-store.ts'

/** Redis answers in well under a millisecond; one that takes this long is as good as gone. */
const COMMAND_TIMEOUT_MS = 300

/** ioredis adds the scripts as methods at run time. */
interface Scripted {
  windowsBuffer(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<(number | Buffer | null)[]>
  uncount(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<number>
}

export interface RedisStoreOptions {
  /** One address, or a comma-separated list of cluster nodes. */
  url: string
}

export function openRedisStore({ url }: RedisStoreOptions): FastStore {
  const redis = connect(url) as (Redis | Cluster) & Scripted
  redis.defineCommand('windows', { lua: readScript('windows.lua') })
  redis.defineCommand('uncount', { lua: readScript('uncount.lua') })
  // Without a listener, a lost connection would end the process. Callers see each command fail.
  redis.on('error', () => {})

  return {
    kind: 'redis',
    async pass({ requests, windows, entries }: PassBatch): Promise<PassVerdict> {
      const names = windows.map(window => window.name)
      const limits = windows.map(window => window.limit)
      const reply = await redis.windowsBuffer(
        names.length + entries.length,
        ...names,
        ...entries,
        requests,
        names.length,
        ...limits,
      )
      const [granted, countedAtSecond, waitMs, ...rest] = reply
      return {
        granted: Number(granted),
        countedAtSecond: Number(countedAtSecond),
        waitMs: Number(waitMs),
        totals: rest.slice(0, names.length).map(Number),
        entries: entries.map((_, i) => asBytes(rest[names.length + i])),
      }
    },
    async uncount(windowNames, requests, countedAtSecond) {
      await redis.uncount(windowNames.length, ...windowNames, requests, countedAtSecond)
    },
    async writeEntry(name, bytes, ttlMs) {
      await redis.set(
        name,
        Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        'PX',
        Math.max(1, Math.round(ttlMs)),
      )
    },
    async deleteEntry(name) {
      await redis.del(name)
    },
    async ping() {
      await redis.ping()
    },
    async close() {
      redis.disconnect()
    },
  }
}

function readScript(file: string): string {
  return readFileSync(new URL(file, import.meta.url), 'utf8')
}

function asBytes(value: number | Buffer | null | undefined): Uint8Array | null {
  return value instanceof Uint8Array ? value : null
}

function connect(url: string): Redis | Cluster {
  const shared = {
    // A command that cannot be sent at once fails at once: the request goes on without Redis.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: 1_000,
    enableAutoPipelining: true,
  }
  const reconnectMs = (attempt: number) => Math.min(100 * attempt, 1_000)
  const nodes = url.split(',').map(node => node.trim())
  const [only] = nodes
  if (nodes.length === 1 && only !== undefined) return new Redis(only, { ...shared, retryStrategy: reconnectMs })
  const { username, password, protocol } = new URL(only ?? '')
  return new Cluster(nodes, {
    clusterRetryStrategy: reconnectMs,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    redisOptions: {
      ...shared,
      ...(username ? { username: decodeURIComponent(username) } : {}),
      ...(password ? { password: decodeURIComponent(password) } : {}),
      ...(protocol === 'rediss:' ? { tls: {} } : {}),
    },
  })
}
