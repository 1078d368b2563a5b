/** The fast store on a Redis server or cluster. */
import type { FastStore, PassBatch, PassVerdict, Window } from '../stores/fast-store.ts'
import { birthOf, totalOf } from '../stores/sliding-window.ts'
import type { RedisConnection } from './connect-redis.ts'
import { installationPrefix } from './installation-names.ts'
import { readScript } from './read-script.ts'

/** ioredis adds the scripts as methods at run time. */
interface Scripted {
  windowsBuffer(
    keyCount: number,
    ...keysAndArguments: (string | number | Buffer)[]
  ): Promise<(number | Buffer | null)[]>
  uncount(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<number>
}

const PROBE_NAME = 'probe'
const PROBE_LIVES_MS = 60_000

/**
 * Names are separate per installation. Closing the store closes the connection. Calls have only the connection's time limit; the guard
 * adds one.
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
      const names = [...windows.map(window => window.name), ...entries]
      const ask = (hasLost: boolean) =>
        redis.windowsBuffer(
          names.length,
          ...names.map(named),
          requests,
          windows.length,
          prefix,
          ...windows.flatMap(window => writeWindow(window, hasLost)),
        )
      const first = await ask(false)
      const reply = Number(first[0]) === HAS_LOST ? await ask(true) : first
      return readVerdict(reply, windows.length, entries.length)
    },
    async uncount(windowNames, requests, countedAtSecond) {
      await redis.uncount(windowNames.length, ...windowNames.map(named), requests, countedAtSecond)
    },
    async writeEntry(name, bytes, ttlMs) {
      await redis.set(named(name), toBuffer(bytes), 'PX', Math.max(1, Math.round(ttlMs)))
      return true
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
      // A write, because a Redis that is full or read-only could not count.
      await redis.set(named(PROBE_NAME), '', 'PX', PROBE_LIVES_MS)
    },
    async close() {
      redis.disconnect()
    },
  }
}

/** The script's reply when it lacks a window that the caller has seen. */
const HAS_LOST = -1

/** The script's arguments for a window. The remembered bytes are sent only when Redis has lost the window. */
function writeWindow({ limit, remembered, missed = 0 }: Window, hasLost: boolean): (number | Buffer | string)[] {
  const known = remembered ? birthOf(remembered) : 0
  return [limit, known, missed, hasLost && remembered ? toBuffer(remembered) : '']
}

/** The script's reply: three numbers, the windows as they are now, then the entries, which are left off where no request passes. */
function readVerdict(reply: readonly (number | Buffer | null)[], windows: number, entries: number): PassVerdict {
  const [granted, countedAtSecond, waitMs, ...rest] = reply
  const seen = rest.slice(0, windows).map(asBytes)
  return {
    granted: Number(granted),
    countedAtSecond: Number(countedAtSecond),
    waitMs: Number(waitMs),
    totals: seen.map(window => (window ? totalOf(window) : 0)),
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
