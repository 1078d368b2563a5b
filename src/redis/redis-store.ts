/** The fast store on a Redis server or cluster. */
import type { FastStore, PassBatch, PassVerdict, Window } from '../stores/fast-store.ts'
import { birthOf, totalOf } from '../stores/window-memory.ts'
import type { RedisConnection } from './connect-redis.ts'
import { type Argument, installationPrefix, RedisCommands } from './redis-commands.ts'

const PROBE_NAME = 'probe'
const PROBE_LIVES_MS = 60_000

/**
 * Names are separate per installation. Closing the store closes the connection. Calls have only the connection's time limit; the guard
 * adds one.
 */
export function openRedisStore(connection: RedisConnection, installationId: string): FastStore {
  const commands = new RedisCommands(connection)
  const countWindows = commands.script('windows.lua')
  const uncountWindows = commands.script('uncount.lua')
  const prefix = installationPrefix(installationId)
  const named = (name: string) => prefix + name

  async function writeEntry(name: string, bytes: Uint8Array, ttlMs: number): Promise<boolean> {
    await commands.set(named(name), toBuffer(bytes), Math.max(1, Math.round(ttlMs)))
    return true
  }

  return {
    kind: 'redis',
    shardOf: name => commands.shardOf(named(name)),
    async pass({ requests, windows, entries }: PassBatch): Promise<PassVerdict> {
      const keys = [...windows.map(window => window.name), ...entries].map(named)
      const ask = async (hasLost: boolean) => {
        const described = windows.flatMap(window => writeWindow(window, hasLost))
        return (await countWindows(keys, [requests, windows.length, prefix, ...described])) as (
          | number
          | Buffer
          | null
        )[]
      }
      const first = await ask(false)
      const reply = Number(first[0]) === HAS_LOST ? await ask(true) : first
      return readVerdict(reply, windows.length, entries.length)
    },
    async uncount(windowNames, requests, countedAtSecond) {
      await uncountWindows(windowNames.map(named), [requests, countedAtSecond])
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

/** The script's arguments for a window. The remembered bytes are sent only when Redis has lost the window. */
function writeWindow({ limit, remembered, missed = 0 }: Window, hasLost: boolean): Argument[] {
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
