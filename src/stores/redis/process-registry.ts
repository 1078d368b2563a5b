/**
 * What the processes that share this Redis, on all machines, tell each other: that they live, because one that is cut off grants its share of
 * each limit, and the only one shares nothing; and which primary of PostgreSQL they use, because one that was left behind must not be
 * used again.
 */
import type { PrimaryTracker } from '../../postgres/primary-tracker.ts'
import { type RedisConnection, subscribeToChannel } from './connect-redis.ts'
import { installationPrefix, RedisCommands } from './redis-store.ts'

const BEAT_EVERY_MS = 5_000
/** A process that was not seen for so long is gone. */
const LIFETIME_SECONDS = 15

export interface ProcessRegistry {
  /** Tells now what it otherwise tells every five seconds. Never rejects. */
  sendHeartbeat(): Promise<void>
  /** As last counted; this process and its fellow workers before the first time. */
  processCount(): number
  /** Whether no other process lives: nothing needs to be shared. A process that starts says so to all at once. */
  isOnlyProcess(): boolean
  /** This process ends: the others' shares grow at once. */
  deregister(): Promise<void>
}

export interface ProcessRegistryOptions {
  redis: RedisConnection
  /** A connection for subscriptions. */
  listener: RedisConnection
  installationId: string
  /** Workers on this machine. */
  workers: number
  primary?: PrimaryTracker | null
  heartbeatIntervalMs?: number
  /**
   * Called when the number of living processes has changed, with the newest one, after the call before has ended. Where it rejects, it is
   * called again at the next beat.
   */
  onProcessCountChange?(living: number): Promise<void>
}

/** Where the timeline of the primary is noted. */
export const primaryTimelineKey = (installationId: string) => `${installationPrefix(installationId)}primary`

export function registerProcess(options: ProcessRegistryOptions): ProcessRegistry {
  const {
    redis,
    listener,
    installationId,
    workers,
    primary = null,
    onProcessCountChange,
    heartbeatIntervalMs = BEAT_EVERY_MS,
  } = options
  const commands = new RedisCommands(redis)
  const notePrimary = commands.loadScript(new URL('./record-primary.lua', import.meta.url))
  const noteAlive = commands.loadScript(new URL('./heartbeat.lua', import.meta.url))
  const key = `${installationPrefix(installationId)}fleet`
  const self = crypto.randomUUID()
  let living = workers
  let told = workers
  let isTelling = false
  let onlySinceMs: number | null = null
  let isSure = false

  async function count(): Promise<void> {
    try {
      const [counted, added] = (await noteAlive([key], [self, LIFETIME_SECONDS])) as number[]
      living = Number(counted)
      void tellCount()
      noteOnly(living === 1)
      if (Number(added) === 1) await commands.publish(key, Buffer.from(self))
    } catch {
      noteOnly(false)
    }
  }

  async function tellCount(): Promise<void> {
    if (isTelling) return
    isTelling = true
    try {
      while (told !== living) {
        const telling = living
        await onProcessCountChange?.(telling)
        told = telling
      }
    } catch {
      // The next beat tells it again.
    } finally {
      isTelling = false
    }
  }

  /** A Redis that has lost its data knows all living processes again after a whole beat. */
  function noteOnly(isOnly: boolean): void {
    onlySinceMs = isOnly ? (onlySinceMs ?? performance.now()) : null
    isSure = onlySinceMs !== null && performance.now() - onlySinceMs >= heartbeatIntervalMs
  }

  async function sharePrimary(): Promise<void> {
    if (!primary?.position) return
    const { system, timeline } = primary.position
    primary.advance({
      system,
      timeline: Number(await notePrimary([primaryTimelineKey(installationId)], [system, timeline])),
    })
  }

  const beat = async () => void (await Promise.allSettled([count(), sharePrimary()]))
  if (primary) primary.onPromotion = () => void sharePrimary().catch(() => {})
  const beating = setInterval(beat, heartbeatIntervalMs)
  beating.unref()
  // The first commands of a connection may come before it is open.
  redis.on('ready', beat)
  subscribeToChannel(listener, key, joined => {
    if (joined.toString() !== self) void count()
  })

  return {
    sendHeartbeat: beat,
    processCount: () => Math.max(workers, living),
    isOnlyProcess: () => workers === 1 && isSure,
    async deregister() {
      clearInterval(beating)
      redis.off('ready', beat)
      await commands.removeMember(key, self).catch(() => {})
    },
  }
}
