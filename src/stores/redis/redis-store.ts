/** The fast store on a Redis server or cluster. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Cluster, Command } from 'ioredis'
import type { CountBatch, CountResult, FastStore, RateWindow } from '../fast-store.ts'
import { readWindowBirth, readWindowTotal, shiftEncodedWindow } from '../sliding-window.ts'
import type { RedisConnection } from './connect-redis.ts'

/** Digits of the id in a prefix: few, because every name costs memory. */
const ID_LENGTH = 8

/**
 * The prefix of every key and channel, so that installations can share a server: staging beside production, or a restored database
 * beside its original. `id` is what installation_id() returns, so that an operator can find them.
 */
export function installationPrefix(id: string): string {
  return `mp:${id.slice(0, ID_LENGTH)}:`
}

export type ScriptArgument = string | number | Buffer
type Reply = number | Buffer | null | Reply[]

/** Runs a Lua script in one step. On a cluster, all keys must have one hash tag. */
export type LuaScript = (keys: readonly string[], args: readonly ScriptArgument[]) => Promise<Reply>

/**
 * Commands of one tick share a pipeline; on a cluster, those for one master. What a node answers for being the wrong one, or for not
 * knowing a script yet, concerns a single command of the pipeline: that one is sent again by itself, and follows redirections.
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
    // With the number of keys, ioredis knows the keys, and so the master that the script belongs to.
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

  /** All keys have one hash tag. */
  async read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    return (await this.#send('mget', keys)) as (Buffer | null)[]
  }

  /** Resolves to the number of subscribers. On a cluster only the channel's own shard carries the message. */
  async publish(channel: string, message: Buffer): Promise<number> {
    return Number(await this.#send(this.isCluster ? 'spublish' : 'publish', [channel, message]))
  }

  /** The master that serves the key, by its address; '' where there is only one. */
  shardOf(key: string): string {
    return this.#connection instanceof Cluster ? (masterOf(this.#connection, key) ?? '') : ''
  }

  /** One key on each master, as far as they are known. */
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
    again = () => this.#sendDirectly(name, args),
  ): Promise<Reply> {
    // It has a method for each command, but declares few of those that return bytes.
    const connection = this.#connection as unknown as Record<
      string,
      (...args: readonly ScriptArgument[]) => Promise<Reply>
    >
    try {
      return (await connection[`${name}Buffer`]?.(...args)) ?? null
    } catch (error) {
      if (error instanceof Error && CONCERNS_ONE.test(error.message)) return again()
      throw error
    }
  }

  #sendDirectly(name: string, args: readonly ScriptArgument[]): Promise<Reply> {
    return this.#connection.sendCommand(new Command(name, [...args], { replyEncoding: null })) as Promise<Reply>
  }
}

const SLOTS = 16_384

/** The last is ioredis's own: slots moved to another master while their commands were collected. Nothing was sent then. */
const CONCERNS_ONE = /^(MOVED|ASK|TRYAGAIN|NOSCRIPT) |same slots allocation group/

function masterOf(cluster: Cluster, key: string): string | undefined {
  return cluster.slots[new Command('get', [key]).getSlot()]?.[0]
}

const PROBE_NAME = 'probe'
const PROBE_LIVES_MS = 60_000

/**
 * Names are separate per installation. Closing the store closes the connection. Calls have only the connection's time limit; the guard
 * adds one.
 */
export function openRedisStore(connection: RedisConnection, installationId: string): FastStore {
  const commands = new RedisCommands(connection)
  const countWindows = commands.loadScript(new URL('./windows.lua', import.meta.url))
  const uncountWindows = commands.loadScript(new URL('./uncount.lua', import.meta.url))
  const prefix = installationPrefix(installationId)
  const named = (name: string) => prefix + name

  async function writeEntry(name: string, bytes: Uint8Array, ttlMs: number): Promise<boolean> {
    await commands.set(named(name), toBuffer(bytes), Math.max(1, Math.round(ttlMs)))
    return true
  }

  return {
    kind: 'redis',
    shardOf: name => commands.shardOf(named(name)),
    async count({ requests, isAllOrNothing, windows, entries, second }: CountBatch): Promise<CountResult> {
      const keys = [...windows.map(window => window.name), ...entries].map(named)
      const ask = async (lostAtSecond: number | null) => {
        const step = lostAtSecond === null || second === undefined ? 0 : lostAtSecond - second
        const described = windows.flatMap(window => writeWindow(window, lostAtSecond !== null, step))
        return (await countWindows(keys, [
          isAllOrNothing ? -requests : requests,
          windows.length,
          prefix,
          ...described,
        ])) as (number | Buffer | null)[]
      }
      const first = await ask(null)
      const reply = Number(first[0]) === HAS_LOST ? await ask(Number(first[1])) : first
      return readCounted(reply, windows.length, entries.length)
    },
    async uncount(windowNames, requests, { second }) {
      await uncountWindows(windowNames.map(named), [requests, second])
    },
    writeEntry,
    async deleteEntry(name) {
      await commands.delete(named(name))
    },
    async readEntries(names) {
      return names.length === 0 ? [] : commands.read(names.map(named))
    },
    async writeEntries(entries) {
      await Promise.all(entries.map(({ name, bytes, ttlMs }) => writeEntry(name, bytes, ttlMs)))
      return true
    },
    async ping() {
      // A write, because a Redis that is full or read-only could not count; on each master of a cluster.
      const keys = commands.keysOnAllMasters(named(PROBE_NAME))
      if (keys.length === 0) throw new Error('No master of the cluster is known')
      await Promise.all(keys.map(key => commands.set(key, '', PROBE_LIVES_MS)))
    },
    async close() {
      commands.close()
    },
  }
}

/** The script's reply when it lacks a window that the caller has seen. */
const HAS_LOST = -1

/** Less is the way there, and is left alone, so that what several callers remember of a second is the same second. */
const TOLERATED_SECONDS = 2

/** The script's arguments for a window. The remembered bytes are sent only when Redis has lost the window: by its time now, if that has stepped. */
function writeWindow(
  { limit, lastSeen, unreported = 0 }: RateWindow,
  hasLost: boolean,
  step: number,
): ScriptArgument[] {
  if (!lastSeen) return [limit, 0, unreported, '']
  const restored = Math.abs(step) > TOLERATED_SECONDS ? shiftEncodedWindow(lastSeen, step) : lastSeen
  return [limit, readWindowBirth(lastSeen), unreported, hasLost ? toBuffer(restored) : '']
}

/** The script's reply: three numbers, the windows as they are now, then the entries, which are left off where no request passes. */
function readCounted(reply: readonly (number | Buffer | null)[], windows: number, entries: number): CountResult {
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
