/**
 * Elects the process that leads a call by a lease in Redis, and relays the call's events to the processes that follow it. A process that
 * runs alone acquires no lease.
 */
import type { Lease, LeaseAttempt, ProcessBus } from '../../stores/redis/process-bus.ts'
import { decodeMessage, encodeMessage, MESSAGE_KINDS, type Message, type MessageKind } from './messages.ts'
import { RemoteFollower } from './remote-follower.ts'
import { RemoteLeaders } from './remote-leader.ts'
import type { SharedCall } from './shared-call.ts'

export interface CallLeases {
  /** Tries to make this process the leader of `call`. Never rejects: processes that cannot reach Redis lead their own calls. */
  acquire(name: string, call: SharedCall, exactKey: string): Promise<LeaseResult>
}

export type LeaseResult =
  /** Another process leads; `call` carries its events. */
  | { isAcquired: false }
  /** This process leads. `entry` is a cache entry that another process stored after this request was admitted; else null. */
  | { isAcquired: true; entry: Uint8Array | null }

/** A lease survives some seconds without Redis. */
const RENEWAL_INTERVAL_MS = 3_000

/** Without a bus, this process leads every call. */
export function createCallLeases(bus: ProcessBus | null): CallLeases {
  if (!bus) return { acquire: async () => UNSHARED }
  const followers = new RemoteFollowers(bus)
  const leaders = new RemoteLeaders(bus)
  bus.listen(bytes => {
    const message = decodeMessage(bytes)
    if (!message) return
    if (LEADER_MESSAGES.has(message.kind)) followers.receive(message)
    else leaders.receive(message)
  })

  /** Renews the lease until the call settles, then releases it. */
  function holdLease(name: string, lease: Lease, call: SharedCall): void {
    followers.offer(lease.callId, call)
    const renewal = setInterval(() => bus?.renewLease(name).catch(() => {}), RENEWAL_INTERVAL_MS)
    void call.settled.then(() => {
      clearInterval(renewal)
      return bus?.releaseLease(name, lease).catch(() => {})
    })
  }

  return {
    async acquire(name, call, exactKey) {
      if (bus.isOnlyProcess()) return UNSHARED
      const lease = { processId: bus.processId, callId: crypto.randomUUID() }
      const reply = await bus.acquireLease(name, lease.callId, exactKey).catch(() => UNREACHABLE)
      // A lease that expired between the two commands has no holder.
      if (reply.holder && reply.holder.processId !== '') {
        if (await leaders.follow(name, reply.holder, call)) return { isAcquired: false }
        // The holder's process has died.
        await bus.releaseLease(name, reply.holder).catch(() => {})
      }
      holdLease(name, lease, call)
      return { isAcquired: true, entry: reply.holder ? null : reply.entry }
    },
  }
}

const UNSHARED: LeaseResult = { isAcquired: true, entry: null }

const LEADER_MESSAGES: ReadonlySet<MessageKind> = new Set([
  MESSAGE_KINDS.join,
  MESSAGE_KINDS.acknowledge,
  MESSAGE_KINDS.resend,
  MESSAGE_KINDS.leave,
])

const UNREACHABLE: LeaseAttempt = { holder: null, entry: null }

/** The leader's side: sends events of calls that this process leads to the processes that follow them. */
class RemoteFollowers {
  readonly #bus: ProcessBus
  readonly #ledCalls = new Map<string, SharedCall>()
  readonly #followers = new Map<string, RemoteFollower>()

  constructor(bus: ProcessBus) {
    this.#bus = bus
  }

  /** Lets other processes follow the call under this id, until it settles. */
  offer(callId: string, call: SharedCall): void {
    this.#ledCalls.set(callId, call)
    void call.settled.then(() => this.#ledCalls.delete(callId))
  }

  /** Handles a message from a follower. */
  receive({ kind, followerId, number, payload }: Message): void {
    if (kind === MESSAGE_KINDS.join) {
      const [callId = '', processId = ''] = Buffer.from(payload).toString('latin1').split(' ')
      void this.#serve(callId, followerId, processId)
    } else if (kind === MESSAGE_KINDS.leave) this.#followers.get(followerId)?.leave()
    else if (kind === MESSAGE_KINDS.resend) this.#followers.get(followerId)?.resend(number)
    else if (kind === MESSAGE_KINDS.acknowledge) this.#followers.get(followerId)?.acknowledge(number)
  }

  /** Serves one follower. Resolves when the follower has its last message and has left, or is unreachable. */
  async #serve(callId: string, followerId: string, processId: string): Promise<void> {
    const follower = new RemoteFollower(message => this.#bus.send(processId, encodeMessage({ ...message, followerId })))
    this.#followers.set(followerId, follower)
    await follower.serve(this.#ledCalls.get(callId))
    this.#followers.delete(followerId)
  }
}
