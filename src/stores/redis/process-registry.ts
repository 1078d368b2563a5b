/**
 * Registers the processes that share this Redis, on all machines. Each process sends heartbeats, so that it knows its share of every limit
 * and whether it is the only process. The processes also share the timeline of the PostgreSQL primary, so that none uses an old primary
 * after a failover.
 */
import type { PrimaryTracker } from '../../postgres/primary-tracker.ts'
import { type RedisConnection, subscribeToChannel } from './connect-redis.ts'
import { installationPrefix, RedisCommands } from './redis-store.ts'

const HEARTBEAT_EVERY_MS = 5_000
/** A process without a heartbeat for this long is treated as ended. */
const LIFETIME_SECONDS = 15

export interface ProcessRegistry {
  /** Sends a heartbeat now, besides the regular ones. Never rejects. */
  sendHeartbeat(): Promise<void>
  /** Number of processes at the last heartbeat. Before the first, the workers on this machine. */
  processCount(): number
  /** Returns true when no other process is alive. A new process announces itself to all others at once. */
  isOnlyProcess(): boolean
  /** Removes this process, so that the shares of the others grow at once. */
  deregister(): Promise<void>
}

export interface ProcessRegistryOptions {
  redis: RedisConnection
  /** A connection for subscriptions. */
  listener: RedisConnection
  installationId: string
  /** Number of worker processes on this machine. */
  workers: number
  primary?: PrimaryTracker | null
  heartbeatIntervalMs?: number
  /**
   * Called with the new number of processes when it has changed, one call at a time. If it rejects, it is called again at the next
   * heartbeat.
   */
  onProcessCountChange?(processCount: number): Promise<void>
}

/** The key that stores the timeline of the primary. */
export const primaryTimelineKey = (installationId: string) => `${installationPrefix(installationId)}primary`

export function registerProcess(options: ProcessRegistryOptions): ProcessRegistry {
  const {
    redis,
    listener,
    installationId,
    workers,
    primary = null,
    onProcessCountChange,
    heartbeatIntervalMs = HEARTBEAT_EVERY_MS,
  } = options
  const commands = new RedisCommands(redis)
  const recordPrimary = commands.loadScript(new URL('./record-primary.lua', import.meta.url))
  const recordHeartbeat = commands.loadScript(new URL('./heartbeat.lua', import.meta.url))
  const key = `${installationPrefix(installationId)}fleet`
  const self = crypto.randomUUID()
  const reportCount = createCountReporter(workers, onProcessCountChange)
  let liveCount = workers
  let onlySinceMs: number | null = null
  let isOnlyConfirmed = false

  async function sendCount(): Promise<void> {
    try {
      const [counted, added] = (await recordHeartbeat([key], [self, LIFETIME_SECONDS])) as number[]
      liveCount = Number(counted)
      void reportCount(liveCount)
      setOnly(liveCount === 1)
      if (Number(added) === 1) await commands.publish(key, Buffer.from(self))
    } catch {
      setOnly(false)
    }
  }

  /** Records whether this process is the only one. Confirmed only after a heartbeat interval, because Redis may have lost its data. */
  function setOnly(isOnly: boolean): void {
    onlySinceMs = isOnly ? (onlySinceMs ?? performance.now()) : null
    isOnlyConfirmed = onlySinceMs !== null && performance.now() - onlySinceMs >= heartbeatIntervalMs
  }

  async function sharePrimary(): Promise<void> {
    if (!primary?.position) return
    const { system, timeline } = primary.position
    primary.advance({
      system,
      timeline: Number(await recordPrimary([primaryTimelineKey(installationId)], [system, timeline])),
    })
  }

  const beat = async () => void (await Promise.allSettled([sendCount(), sharePrimary()]))
  if (primary) primary.onPromotion = () => void sharePrimary().catch(() => {})
  const timer = setInterval(beat, heartbeatIntervalMs)
  timer.unref()
  // The first heartbeat may fail because the connection is not open yet.
  redis.on('ready', beat)
  subscribeToChannel(listener, key, joined => {
    if (joined.toString() !== self) void sendCount()
  })

  return {
    sendHeartbeat: beat,
    processCount: () => Math.max(workers, liveCount),
    isOnlyProcess: () => workers === 1 && isOnlyConfirmed,
    async deregister() {
      clearInterval(timer)
      redis.off('ready', beat)
      await commands.removeMember(key, self).catch(() => {})
    },
  }
}

/** Returns a function that reports a changed count, one call at a time. A failed report is repeated with the next count. */
function createCountReporter(initialCount: number, onChange: ProcessRegistryOptions['onProcessCountChange']) {
  let latestCount = initialCount
  let reportedCount = initialCount
  let isReporting = false

  return async (count: number): Promise<void> => {
    latestCount = count
    if (isReporting) return
    isReporting = true
    try {
      while (reportedCount !== latestCount) {
        const current = latestCount
        await onChange?.(current)
        reportedCount = current
      }
    } catch {
      // The next heartbeat reports the count again.
    } finally {
      isReporting = false
    }
  }
}
