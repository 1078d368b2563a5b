/** How processes know of each other's upstream calls: leases with a lifetime, and messages from process to process. */
import { createTimeLimit } from '../event-loop/time-limit.ts'
import type { TaggedEntries } from '../stores/tagged-store.ts'
import { connectRedis, type RedisConnection } from './connect-redis.ts'
import { installationPrefix } from './installation-names.ts'
import { readScript } from './read-script.ts'

/** Who leads a call. */
export interface Lease {
  /** The leading process. */
  processId: string
  callId: string
}

/** `holder`: who has had the lease since before; null when it is ours now. `entry`: the exact entry right after it was taken. */
export type LeaseReply = { holder: Lease } | { holder: null; entry: Uint8Array | null }

export interface ProcessBus {
  /** This process's own name. */
  readonly processId: string
  /** Takes a lease for this process, and reads the exact entry that an earlier call may have left. Rejects when Redis is out of reach. */
  takeLease(name: string, callId: string, exactKey: string): Promise<LeaseReply>
  /** Makes a lease of ours last on. */
  renewLease(name: string): Promise<void>
  /** Gives a lease up, if it still is that one. */
  releaseLease(name: string, lease: Lease): Promise<void>
  /** Sends bytes to a process, in order; resolves to whether it was there to hear them. Rejects when Redis is out of reach. */
  send(processId: string, message: Uint8Array): Promise<boolean>
  /** Sets who hears what is sent to this process. */
  listen(onMessage: (message: Uint8Array) => void): void
  /** Whether messages to this process can arrive now. */
  isListening(): boolean
  /** Stops listening. */
  close(): Promise<void>
}

/** A leader that died is taken to be gone after this long; a living one renews its lease. */
const LEASE_LIFETIME_MS = 10_000

/** Without a reply by then, a process goes its own way. */
const TIME_LIMIT_MS = 300

/** ioredis adds the scripts as methods at run time. */
interface Scripted {
  leaseBuffer(keyCount: 2, lease: string, entry: string, asker: string, ms: number): Promise<(Buffer | null)[]>
  release(keyCount: 1, lease: string, asker: string): Promise<number>
}

export interface ProcessBusOptions {
  /** Stays its owner's: leases travel with the store's commands. */
  redis: RedisConnection
  /** Where to listen; leads to the same Redis. */
  url: string
  installationId: string
  /** Of the store that entries are written to: tags messages, too. */
  entries: TaggedEntries
}

export function openProcessBus({ redis: connection, url, installationId, entries }: ProcessBusOptions): ProcessBus {
  const redis = connection as RedisConnection & Scripted
  redis.defineCommand('lease', { lua: readScript('lease.lua') })
  redis.defineCommand('release', { lua: readScript('release.lua') })
  const processId = crypto.randomUUID()
  const prefix = installationPrefix(installationId)
  const named = (name: string) => prefix + name
  // Another word than releases without tags have: the two do not hear each other, and each leads for itself.
  const channelOf = (id: string) => `bus:${id}`
  const inTime = createTimeLimit(TIME_LIMIT_MS)
  // A connection that listens can do nothing else.
  const listener = connectRedis(url, { listens: true })
  let onMessage: (message: Uint8Array) => void = () => {}
  const own = channelOf(processId)
  // Who can publish could answer for a leader: what is not one of ours is not heard.
  listener.on('messageBuffer', (_: Buffer, tagged: Buffer) => {
    const message = entries.openMessage(own, tagged)
    if (message) onMessage(message)
  })
  listener.subscribe(named(own)).catch(() => {})

  return {
    processId,
    async takeLease(name, callId, exactKey) {
      const asker = `${processId} ${callId}`
      const [held, entry = null] = await inTime(
        redis.leaseBuffer(2, named(name), named(exactKey), asker, LEASE_LIFETIME_MS),
      )
      if (!held) return { holder: null, entry: entries.open(exactKey, entry) }
      const [holder = '', holderCall = ''] = held.toString('latin1').split(' ')
      return { holder: { processId: holder, callId: holderCall } }
    },
    async renewLease(name) {
      await inTime(redis.pexpire(named(name), LEASE_LIFETIME_MS))
    },
    async releaseLease(name, lease) {
      await inTime(redis.release(1, named(name), `${lease.processId} ${lease.callId}`))
    },
    async send(to, message) {
      const channel = channelOf(to)
      const tagged = entries.tagMessage(channel, message)
      const bytes = Buffer.from(tagged.buffer, tagged.byteOffset, tagged.byteLength)
      return (await inTime(redis.publish(named(channel), bytes))) > 0
    },
    listen(handler) {
      onMessage = handler
    },
    isListening: () => listener.status === 'ready',
    async close() {
      listener.disconnect()
    },
  }
}
