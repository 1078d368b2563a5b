/** The fast store on a Redis server or cluster. */
import { readFileSync } from 'node:fs'
import type { FastStore, PassBatch, PassVerdict } from '../stores/fast-store.ts'
import type { RedisConnection } from './connect-redis.ts'
import { installationPrefix } from './installation-names.ts'

/** ioredis adds the scripts as methods at run time. */
interface Scripted {
  windowsBuffer(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<(number | Buffer | null)[]>
  uncount(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<number>
}

const PROBE_NAME = 'probe'
const PROBE_LIVES_MS = 60_000

/**
 * What installations keep there never meets. Closes the connection when it is closed itself. Calls have no time limit but the
 * connection's; the guard has one.
 */
export function openRedisStore(connection: RedisConnection, installationId: string): FastStore {
  const redis = connection as RedisConnection & Scripted
  const prefix = installationPrefix(installationId)
  const named = (name: string) => prefix + name
  redis.defineCommand('windows', { lua: readScript('windows.lua') })
  redis.defineCommand('uncount', { lua: readScript('uncount.lua') })

  return {
    kind: 'redis',
    async pass({ requests, windows, entries }: PassBatch): Promise<PassVerdict> {
      const names = windows.map(window => window.name)
      const limits = windows.map(window => window.limit)
      const reply = await redis.windowsBuffer(
        names.length + entries.length,
        ...names.map(named),
        ...entries.map(named),
        requests,
        names.length,
        prefix,
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
      await redis.uncount(windowNames.length, ...windowNames.map(named), requests, countedAtSecond)
    },
    async writeEntry(name, bytes, ttlMs) {
      await redis.set(named(name), toBuffer(bytes), 'PX', Math.max(1, Math.round(ttlMs)))
    },
    async deleteEntry(name) {
      await redis.del(named(name))
    },
    async readEntries(names) {
      if (names.length === 0) return []
      return redis.mgetBuffer(...names.map(named))
    },
    async writeEntries(entries) {
      const written = entries.map(({ name, bytes, ttlMs }) =>
        redis.set(named(name), toBuffer(bytes), 'PX', Math.max(1, Math.round(ttlMs))),
      )
      await Promise.all(written)
      return true
    },
    async ping() {
      // One that takes no writes, full or read-only, would count nothing.
      await redis.set(named(PROBE_NAME), '', 'PX', PROBE_LIVES_MS)
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

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
