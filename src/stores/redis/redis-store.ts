/** The fast store on a Redis server or cluster. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Cluster, Command } from 'ioredis'
import type { CountBatch, CountResult, FastStore, RateWindow } from '../fast-store.ts'
import { readWindowBirth, readWindowTotal, shiftEncodedWindow } from '../sliding-window.ts'
import type { RedisConnection } from './connect-redis.ts'

/** Digits of the id in a prefix. They are few, because every name costs memory. */
const ID_LENGTH = 8

/**
 * Returns the prefix of every key and channel. It lets installations share a server, such as staging and production. `id` is the result of
 * installation_id(), so that an operator can find the keys.
 */
export function installationPrefix(id: string): string {
  return `mp:${id.slice(0, ID_LENGTH)}:`
}

export type ScriptArgument = string | number | Buffer
type Reply = number | Buffer | null | Reply[]

/** Runs a Lua script atomically. On a cluster, all keys must have the same hash tag. */
export type LuaScript = (keys: readonly string[], args: readonly ScriptArgument[]) => Promise<Reply>

/**
 * Sends commands. Commands of one tick share a pipeline; on a cluster, those for one master. A command that fails because it reached the
 * wrong node, or because the script is not loaded, is sent again outside the pipeline and follows redirections.
 */
export class RedisCommands {
  readonly #connection: RedisConnection

  constructor(connection: RedisConnection) {
    this.#connection = connection
  }

  get isCluster(): boolean {
    return this.#connection instanceof Cluster
  }

  loadScript(file: URL): LuaScript {
    const lua = readFileSync(file, 'utf8')
    const hash = createHash('sha1').update(lua).digest('hex')
    // The number of keys lets ioredis find the keys, and thus the master.
    return async (keys, args) => {
      const rest = [keys.length, ...keys, ...args]
      return this.#send('evalsha', [hash, ...rest], () => this.#sendDirectly('eval', [lua, ...rest]))
    }
  }

  set(key: string, value: Buffer | string, lifetimeMs: number): Promise<unknown> {
    return this.#send('set', [key, value, 'PX', lifetimeMs])
  }

  delete(key: string): Promise<unknown> {
    return this.#send('del', [key])
  }

  expire(key: string, lifetimeMs: number): Promise<unknown> {
    return this.#send('pexpire', [key, lifetimeMs])
  }

  removeMember(key: string, member: string): Promise<unknown> {
    return this.#send('zrem', [key, member])
  }

  /** Resolves to the values of the keys, which must have the same hash tag; null for a missing one. */
  async read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    return (await this.#send('mget', keys)) as (Buffer | null)[]
  }

  /** Resolves to the number of subscribers. On a cluster, the message is sent on the channel's shard. */
  async publish(channel: string, message: Buffer): Promise<number> {
    return Number(await this.#send(this.isCluster ? 'spublish' : 'publish', [channel, message]))
  }

  /** Returns the address of the master that serves the key; '' without a cluster. */
  shardOf(key: string): string {
    return this.#connection instanceof Cluster ? (masterOf(this.#connection, key) ?? '') : ''
  }

  /** Returns one key per known master. */
  keysOnAllMasters(prefix: string): string[] {
    if (!(this.#connection instanceof Cluster)) return [prefix]
    const missing = new Set(this.#connection.slots.map(nodes => nodes?.[0]))
    const keys: string[] = []
    for (let i = 0; missing.size > 0 && i < SLOTS; i++) {
      const key = `${prefix}:${i}`
      if (missing.delete(masterOf(this.#connection, key))) keys.push(key)
    }
    return keys
  }

  close(): void {
    this.#connection.disconnect()
  }

  async #send(
    name: string,
    args: readonly ScriptArgument[],
    resend = () => this.#sendDirectly(name, args),
  ): Promise<Reply> {
    // ioredis has a method for each command, but declares few of those that return bytes.
    const connection = this.#connection as unknown as Record<
      string,
      (...args: readonly ScriptArgument[]) => Promise<Reply>
    >
    try {
      return (await connection[`${name}Buffer`]?.(...args)) ?? null
    } catch (error) {
      if (error instanceof Error && RETRYABLE_ERROR.test(error.message)) return resend()
      throw error
    }
  }

  #sendDirectly(name: string, args: readonly ScriptArgument[]): Promise<Reply> {
    return this.#connection.sendCommand(new Command(name, [...args], { replyEncoding: null })) as Promise<Reply>
  }
}

const SLOTS = 16_384

/** Errors after which one command is sent again. The last is ioredis's: slots moved while their commands were collected, and nothing was sent. */
const RETRYABLE_ERROR = /^(MOVED|ASK|TRYAGAIN|NOSCRIPT) |same slots allocation group/

function masterOf(cluster: Cluster, key: string): string | undefined {
  return cluster.slots[new Command('get', [key]).getSlot()]?.[0]
}

const PROBE_NAME = 'probe'
const PROBE_TTL_MS = 60_000

/**
 * Opens a store whose names have the installation's prefix. Closing it closes the connection. Calls have only the connection's time limit;
 * the fallback store adds one.
 */
export function openRedisStore(connection: RedisConnection, installationId: string): FastStore {
  const commands = new RedisCommands(connection)
  const countWindows = commands.loadScript(new URL('./windows.lua', import.meta.url))
  const uncountWindows = commands.loadScript(new URL('./uncount.lua', import.meta.url))
  const prefix = installationPrefix(installationId)
  const prefixed = (name: string) => prefix + name

  async function writeEntry(name: string, bytes: Uint8Array, ttlMs: number): Promise<boolean> {
    await commands.set(prefixed(name), toBuffer(bytes), Math.max(1, Math.round(ttlMs)))
    return true
  }

  return {
    kind: 'redis',
    shardOf: name => commands.shardOf(prefixed(name)),
    async count({ requests, isAllOrNothing, windows, entries, second }: CountBatch): Promise<CountResult> {
      const keys = [...windows.map(window => window.name), ...entries].map(prefixed)
      const send = async (restoreAtSecond: number | null) => {
        const step = restoreAtSecond === null || second === undefined ? 0 : restoreAtSecond - second
        const windowArguments = windows.flatMap(window => buildWindowArguments(window, restoreAtSecond !== null, step))
        return (await countWindows(keys, [
          isAllOrNothing ? -requests : requests,
          windows.length,
          prefix,
          ...windowArguments,
        ])) as (number | Buffer | null)[]
      }
      const first = await send(null)
      const reply = Number(first[0]) === WINDOW_LOST ? await send(Number(first[1])) : first
      return parseCountReply(reply, windows.length, entries.length)
    },
    async uncount(windowNames, requests, { second }) {
      await uncountWindows(windowNames.map(prefixed), [requests, second])
    },
    writeEntry,
    async deleteEntry(name) {
      await commands.delete(prefixed(name))
    },
    async readEntries(names) {
      return names.length === 0 ? [] : commands.read(names.map(prefixed))
    },
    async writeEntries(entries) {
      await Promise.all(entries.map(({ name, bytes, ttlMs }) => writeEntry(name, bytes, ttlMs)))
      return true
    },
    async ping() {
      // Writes one key on each master, because a full or read-only Redis could not count.
      const keys = commands.keysOnAllMasters(prefixed(PROBE_NAME))
      if (keys.length === 0) throw new Error('no master of the Redis cluster is known; check REDIS_URL')
      await Promise.all(keys.map(key => commands.set(key, '', PROBE_TTL_MS)))
    },
    async close() {
      commands.close()
    },
  }
}

/** The script's reply when it does not have a window that the caller has seen. */
const WINDOW_LOST = -1

/** Smaller clock steps are latency and are ignored, so that the copies of several callers agree on the second. */
const TOLERATED_SECONDS = 2

/** Returns the script's arguments for a window. The copy is sent only when Redis has lost the window, shifted if its clock has stepped. */
function buildWindowArguments(
  { limit, lastSeen, unreported = 0 }: RateWindow,
  isLost: boolean,
  step: number,
): ScriptArgument[] {
  if (!lastSeen) return [limit, 0, unreported, '']
  const restored = Math.abs(step) > TOLERATED_SECONDS ? shiftEncodedWindow(lastSeen, step) : lastSeen
  return [limit, readWindowBirth(lastSeen), unreported, isLost ? toBuffer(restored) : '']
}

/** Parses the script's reply: three numbers, the windows, then the entries, which are omitted when no request is granted. */
function parseCountReply(reply: readonly (number | Buffer | null)[], windows: number, entries: number): CountResult {
  const [granted, second, waitMs, ...rest] = reply
  const seen = rest.slice(0, windows).map(asBytes)
  return {
    granted: Number(granted),
    receipt: { second: Number(second), isInStore: true },
    waitMs: Number(waitMs),
    totals: seen.map(window => (window ? readWindowTotal(window) : 0)),
    entries: Array.from({ length: entries }, (_, i) => asBytes(rest[windows + i])),
    windows: seen.flatMap(window => window ?? []),
  }
}

function asBytes(value: number | Buffer | null | undefined): Uint8Array | null {
  return value instanceof Uint8Array ? value : null
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
