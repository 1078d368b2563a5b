/**
 * What the processes that share this Redis, on all machines, tell each other: that they live, because one that is cut off grants its share of
 * each limit, and which primary of PostgreSQL they use, because one that was left behind must not be used again.
 */
import type { Primary } from '../postgres/primary.ts'
import type { RedisConnection } from './connect-redis.ts'
import { installationPrefix, RedisCommands } from './redis-store.ts'

const BEAT_EVERY_MS = 5_000
/** A process that was not seen for so long is gone. */
const LIFETIME_SECONDS = 15

export interface Fleet {
  /** Tells now what it otherwise tells every five seconds. Never rejects. */
  beat(): Promise<void>
  /** As last counted; this process and its fellow workers before the first time. */
  size(): number
  /** This process ends: the others' shares grow at once. */
  leave(): Promise<void>
}

export interface FleetOptions {
  redis: RedisConnection
  installationId: string
  /** Workers on this machine. */
  workers: number
  primary?: Primary | null
}

/** Where the timeline of the primary is noted. */
export const primaryKey = (installationId: string) => `${installationPrefix(installationId)}primary`

export function joinFleet({ redis, installationId, workers, primary = null }: FleetOptions): Fleet {
  const commands = new RedisCommands(redis)
  const notePrimary = commands.script(new URL('./primary.lua', import.meta.url))
  const noteAlive = commands.script(new URL('./alive.lua', import.meta.url))
  const key = `${installationPrefix(installationId)}fleet`
  const self = crypto.randomUUID()
  let living = workers

  async function count(): Promise<void> {
    living = Number(await noteAlive([key], [self, LIFETIME_SECONDS]))
  }

  async function sharePrimary(): Promise<void> {
    if (!primary?.seen) return
    const { system, timeline } = primary.seen
    primary.learn({ system, timeline: Number(await notePrimary([primaryKey(installationId)], [system, timeline])) })
  }

  const beat = async () => void (await Promise.allSettled([count(), sharePrimary()]))
  if (primary) primary.onRise = () => void sharePrimary().catch(() => {})
  const beating = setInterval(beat, BEAT_EVERY_MS)
  beating.unref()
  // The first commands of a connection may come before it is open.
  redis.on('ready', beat)

  return {
    beat,
    size: () => Math.max(workers, living),
    async leave() {
      clearInterval(beating)
      redis.off('ready', beat)
      await commands.removeMember(key, self).catch(() => {})
    },
  }
}
