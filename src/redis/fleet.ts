/** Counts the processes that share this Redis, on all machines: one that is cut off from it grants its share of each limit. */
import type { RedisConnection } from './connect-redis.ts'
import { installationPrefix, RedisCommands } from './redis-store.ts'

const BEAT_EVERY_MS = 5_000
/** A process that was not seen for so long is gone. */
const LIFETIME_SECONDS = 15

export interface Fleet {
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
}

export function joinFleet({ redis, installationId, workers }: FleetOptions): Fleet {
  const commands = new RedisCommands(redis)
  const noteAlive = commands.script('alive.lua')
  const key = `${installationPrefix(installationId)}fleet`
  const self = crypto.randomUUID()
  let living = workers

  const beat = () =>
    noteAlive([key], [self, LIFETIME_SECONDS]).then(
      count => {
        living = Number(count)
      },
      () => {},
    )
  const beating = setInterval(beat, BEAT_EVERY_MS)
  beating.unref()
  // The first commands of a connection may come before it is open.
  redis.on('ready', beat)

  return {
    size: () => Math.max(workers, living),
    async leave() {
      clearInterval(beating)
      redis.off('ready', beat)
      await commands.removeMember(key, self).catch(() => {})
    },
  }
}
