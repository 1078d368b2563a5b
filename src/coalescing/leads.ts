/** Which process leads a call: one at a time by a lease in Redis, the others follow it. */
import type { Lease, LeaseReply, ProcessBus } from '../redis/process-bus.ts'
import { decodeMessage, KINDS } from './messages.ts'
import { RemoteFollowers } from './remote-followers.ts'
import { RemoteLeaders } from './remote-leaders.ts'
import type { SharedCall } from './shared-call.ts'

export interface Leads {
  /** Takes the lead of `call` for this process. Never rejects: out of each other's reach, every process leads for itself. */
  take(name: string, call: SharedCall, exactKey: string): Promise<Lead>
}

export type Lead =
  /** Another process has it, and `call` is going to be what is heard of it. */
  | { isOurs: false }
  /** `entry`: what an earlier call, settled since admission, has left. */
  | { isOurs: true; entry: Uint8Array | null }

/** A third of a lease's lifetime. */
const RENEW_EVERY_MS = 3_000

/** Without a bus there is this process alone. */
export function createLeads(bus: ProcessBus | null): Leads {
  if (!bus) return { take: async () => ({ isOurs: true, entry: null }) }
  const followers = new RemoteFollowers(bus)
  const leaders = new RemoteLeaders(bus)
  bus.listen(bytes => {
    const message = decodeMessage(bytes)
    if (!message) return
    const isForLeader = message.kind === KINDS.join || message.kind === KINDS.leave || message.kind === KINDS.taken
    if (isForLeader) followers.hear(message)
    else leaders.hear(message)
  })

  /** Until the call settles, its lease is ours. */
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
      const lease = { processId: bus.processId, callId: crypto.randomUUID() }
      const reply = await bus.takeLease(name, lease.callId, exactKey).catch(() => OUT_OF_REACH)
      // A lease that ended between two commands has no holder.
      if (reply.holder && reply.holder.processId !== '') {
        if (await leaders.follow(name, reply.holder, call)) return { isOurs: false }
        // The process that took it has died.
        await bus.releaseLease(name, reply.holder).catch(() => {})
      }
      keep(name, lease, call)
      return { isOurs: true, entry: reply.holder ? null : reply.entry }
    },
  }
}

const OUT_OF_REACH: LeaseReply = { holder: null, entry: null }
