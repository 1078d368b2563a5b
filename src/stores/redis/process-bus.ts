/** Coordinates upstream calls between processes: leases with a lifetime, and messages from process to process. */
import { createSharedTimeout } from '../../event-loop/timeouts.ts'
import type { FallbackStore } from '../fallback-store.ts'
import type { SignedEntries } from '../signed-store.ts'
import { type RedisConnection, subscribeToChannel } from './connect-redis.ts'
import { installationPrefix, RedisCommands } from './redis-store.ts'

/** The leader of a call. */
export interface Lease {
  /** The leading process. */
  processId: string
  callId: string
}

/** `holder` is the process that already has the lease; null when this process got it. `entry` is the exact entry, read right after. */
export type LeaseAttempt = { holder: Lease } | { holder: null; entry: Uint8Array | null }

export interface ProcessBus {
  /** This process's id. */
  readonly processId: string
  /** Whether no other process could follow a call of this one, nor lead one that this one follows. */
  isOnlyProcess(): boolean
  /**
   * Takes a lease for this process, and reads the exact entry that an earlier call may have stored. Rejects when Redis is out of reach.
   */
  acquireLease(name: string, callId: string, exactKey: string): Promise<LeaseAttempt>
  /** Extends a lease of this process. */
  renewLease(name: string): Promise<void>
  /** Releases a lease, if it is still this one. */
  releaseLease(name: string, lease: Lease): Promise<void>
  /** Sends bytes to a process, in order; resolves to whether that process received them. Rejects when Redis is out of reach. */
  send(processId: string, message: Uint8Array): Promise<boolean>
  /** Sets the handler of messages to this process. */
  listen(onMessage: (message: Uint8Array) => void): void
  /** Stops listening. */
  close(): Promise<void>
}

/** A living leader renews its lease, also after Redis stood still for some seconds. That of a leader known to be dead is released. */
const LEASE_LIFETIME_MS = 20_000

/** Without a reply by then, the process goes on by itself. */
const TIME_LIMIT_MS = 300

export interface ProcessBusOptions {
  /** Not closed here: leases share the store's connection. */
  redis: RedisConnection
  /** A connection for subscribing to the same Redis, which can do nothing else. Closed here. */
  listener: RedisConnection
  installationId: string
  /** Of the entry store; its tags sign messages, too. */
  entries: SignedEntries
  /** The store on the same Redis: a request that has waited for a shard in vain does not wait for it again. */
  store: Pick<FallbackStore, 'runGuarded'>
  isOnlyProcess: ProcessBus['isOnlyProcess']
}

export function openProcessBus({
  redis,
  listener,
  installationId,
  entries,
  store,
  isOnlyProcess,
}: ProcessBusOptions): ProcessBus {
  const commands = new RedisCommands(redis)
  const lease = commands.loadScript(new URL('./acquire-lease.lua', import.meta.url))
  const release = commands.loadScript(new URL('./release-lease.lua', import.meta.url))
  const processId = crypto.randomUUID()
  const prefix = installationPrefix(installationId)
  const named = (name: string) => prefix + name
  const channelOf = (id: string) => `bus:${id}`
  const inTime = createSharedTimeout(TIME_LIMIT_MS)
  let onMessage: (message: Uint8Array) => void = () => {}
  const own = channelOf(processId)
  // Anyone who can publish could pose as a leader, so messages with a wrong tag are dropped.
  subscribeToChannel(listener, named(own), tagged => {
    const message = entries.verifyMessage(own, tagged)
    if (message) onMessage(message)
  })

  return {
    processId,
    isOnlyProcess,
    async acquireLease(name, callId, exactKey) {
      const keys = [named(name), named(exactKey)]
      const reply = await store.runGuarded(name, () =>
        inTime(lease(keys, [`${processId} ${callId}`, LEASE_LIFETIME_MS])),
      )
      const [held, entry = null] = reply as (Buffer | null)[]
      if (!held) return { holder: null, entry: entries.verifyEntry(exactKey, entry) }
      const [holder = '', holderCall = ''] = held.toString('latin1').split(' ')
      return { holder: { processId: holder, callId: holderCall } }
    },
    async renewLease(name) {
      await inTime(commands.expire(named(name), LEASE_LIFETIME_MS))
    },
    async releaseLease(name, lease) {
      await inTime(release([named(name)], [`${lease.processId} ${lease.callId}`]))
    },
    async send(to, message) {
      const channel = channelOf(to)
      const tagged = entries.signMessage(channel, message)
      const bytes = Buffer.from(tagged.buffer, tagged.byteOffset, tagged.byteLength)
      return (await inTime(commands.publish(named(channel), bytes))) > 0
    },
    listen(handler) {
      onMessage = handler
    },
    async close() {
      listener.disconnect()
    },
  }
}
