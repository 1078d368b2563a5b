/** Coordinates provider calls between processes, by leases with a lifetime and messages between processes. */
import { createSharedTimeout } from '../../event-loop/timeouts.ts'
import type { FallbackStore } from '../fallback-store.ts'
import type { SignedEntries } from '../signed-store.ts'
import { type RedisConnection, subscribeToChannel } from './connect-redis.ts'
import { installationPrefix, RedisCommands } from './redis-store.ts'

/** Identifies the process that makes a shared call. */
export interface Lease {
  processId: string
  callId: string
}

/** `holder` is the present lease; null when this process acquired it. `entry` is the exact entry, read right after. */
export type LeaseAttempt = { holder: Lease } | { holder: null; entry: Uint8Array | null }

export interface ProcessBus {
  readonly processId: string
  /** Returns true when no other process could share a call with this one. */
  isOnlyProcess(): boolean
  /**
   * Acquires a lease for this process, and reads the exact entry that an earlier call may have stored. Rejects when Redis is unavailable.
   */
  acquireLease(name: string, callId: string, exactKey: string): Promise<LeaseAttempt>
  /** Extends the lease's lifetime. */
  renewLease(name: string): Promise<void>
  /** Releases the lease, unless another lease has replaced it. */
  releaseLease(name: string, lease: Lease): Promise<void>
  /** Sends bytes to a process, in order. Resolves to true when the process is subscribed. Rejects when Redis is unavailable. */
  send(processId: string, message: Uint8Array): Promise<boolean>
  /** Sets the handler of messages to this process. */
  listen(onMessage: (message: Uint8Array) => void): void
  /** Stops listening. */
  close(): Promise<void>
}

/** A live process renews its lease in time even after Redis hung for some seconds. The lease of a process known to be dead is released. */
const LEASE_LIFETIME_MS = 20_000

/** Without a reply within this time, the process makes the call itself. */
const TIME_LIMIT_MS = 300

export interface ProcessBusOptions {
  /** The store's connection, which the bus does not close. */
  redis: RedisConnection
  /** A connection for subscriptions to the same Redis. The bus closes it. */
  listener: RedisConnection
  installationId: string
  /** Signs and verifies entries and messages. */
  entries: SignedEntries
  /** The store on the same Redis. Its guard prevents a request from waiting twice for an unavailable shard. */
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
  const prefixed = (name: string) => prefix + name
  const channelOf = (id: string) => `bus:${id}`
  const withTimeLimit = createSharedTimeout(TIME_LIMIT_MS)
  let onMessage: (message: Uint8Array) => void = () => {}
  const ownChannel = channelOf(processId)
  // Messages with an invalid signature are ignored, because anyone who can publish could impersonate a process.
  subscribeToChannel(listener, prefixed(ownChannel), signed => {
    const message = entries.verifyMessage(ownChannel, signed)
    if (message) onMessage(message)
  })

  return {
    processId,
    isOnlyProcess,
    async acquireLease(name, callId, exactKey) {
      const keys = [prefixed(name), prefixed(exactKey)]
      const reply = await store.runGuarded(name, () =>
        withTimeLimit(lease(keys, [`${processId} ${callId}`, LEASE_LIFETIME_MS])),
      )
      const [holderText, entry = null] = reply as (Buffer | null)[]
      if (!holderText) return { holder: null, entry: entries.verifyEntry(exactKey, entry) }
      const [holder = '', holderCall = ''] = holderText.toString('latin1').split(' ')
      return { holder: { processId: holder, callId: holderCall } }
    },
    async renewLease(name) {
      await withTimeLimit(commands.expire(prefixed(name), LEASE_LIFETIME_MS))
    },
    async releaseLease(name, lease) {
      await withTimeLimit(release([prefixed(name)], [`${lease.processId} ${lease.callId}`]))
    },
    async send(to, message) {
      const channel = channelOf(to)
      const signed = entries.signMessage(channel, message)
      const bytes = Buffer.from(signed.buffer, signed.byteOffset, signed.byteLength)
      return (await withTimeLimit(commands.publish(prefixed(channel), bytes))) > 0
    },
    listen(handler) {
      onMessage = handler
    },
    async close() {
      listener.disconnect()
    },
  }
}
