/** Elects the process that leads a call, by a lease in Redis; other processes follow it. A process that is the only one takes none. */
import type { Lease, LeaseReply, ProcessBus } from '../../stores/redis/process-bus.ts'
import { decodeMessage, KINDS, type Kind } from './messages.ts'
import { RemoteFollowers } from './remote-followers.ts'
import { RemoteLeaders } from './remote-leaders.ts'
import type { SharedCall } from './shared-call.ts'

export interface Leads {
  /** Tries to make this process the leader of `call`. Never rejects: processes that cannot reach Redis each lead for themselves. */
  take(name: string, call: SharedCall, exactKey: string): Promise<Lead>
}

export type Lead =
  /** Another process leads; `call` carries its events. */
  | { isOurs: false }
  /** `entry`: stored by another process after this request was admitted. */
  | { isOurs: true; entry: Uint8Array | null }

/** Often enough that a lease survives some seconds without Redis. */
const RENEW_EVERY_MS = 3_000

/** Without a bus, this process leads every call. */
export function createLeads(bus: ProcessBus | null): Leads {
  if (!bus) return { take: async () => UNSHARED }
  const followers = new RemoteFollowers(bus)
  const leaders = new RemoteLeaders(bus)
  bus.listen(bytes => {
    const message = decodeMessage(bytes)
    if (!message) return
    if (TO_LEADER.has(message.kind)) followers.receive(message)
    else leaders.receive(message)
  })

  /** Renews the lease until the call settles. */
  function keep(name: string, lease: Lease, call: SharedCall): void {
    followers.offer(lease.callId, call)
    const renewal = setInterval(() => bus?.renewLease(name).catch(() => {}), RENEW_EVERY_MS)
    void call.settled.then(() => {
      clearInterval(renewal)
      return bus?.releaseLease(name, lease).catch(() => {})
    })
  }

  return {
    async take(name, call, exactKey) {
      if (bus.isOnlyProcess()) return UNSHARED
      const lease = { processId: bus.processId, callId: crypto.randomUUID() }
      const reply = await bus.takeLease(name, lease.callId, exactKey).catch(() => OUT_OF_REACH)
      // A lease that expired between the two commands has no holder.
      if (reply.holder && reply.holder.processId !== '') {
        if (await leaders.follow(name, reply.holder, call)) return { isOurs: false }
        // The holder's process has died.
        await bus.releaseLease(name, reply.holder).catch(() => {})
      }
      keep(name, lease, call)
      return { isOurs: true, entry: reply.holder ? null : reply.entry }
    },
  }
}

const UNSHARED: Lead = { isOurs: true, entry: null }

const TO_LEADER: ReadonlySet<Kind> = new Set([KINDS.join, KINDS.taken, KINDS.again, KINDS.leave])

const OUT_OF_REACH: LeaseReply = { holder: null, entry: null }
