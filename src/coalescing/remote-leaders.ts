/** The follower's side across processes: finds the leader's process, and hands its messages to the call that follows it. */
import { whenAborted } from '../event-loop/when-aborted.ts'
import type { Lease, ProcessBus } from '../redis/process-bus.ts'
import { encodeMessage, KINDS, type Message } from './messages.ts'
import { RemoteLeader } from './remote-leader.ts'
import type { SharedCall } from './shared-call.ts'

export class RemoteLeaders {
  readonly #bus: ProcessBus
  /** By the id under which this process follows. */
  readonly #leaders = new Map<string, RemoteLeader>()

  constructor(bus: ProcessBus) {
    this.#bus = bus
  }

  /** Feeds the holder's events into `call`. Resolves to false when the holder's process is gone. */
  async follow(name: string, lease: Lease, call: SharedCall): Promise<boolean> {
    const followerId = crypto.randomUUID()
    const leader = new RemoteLeader(this.#bus, { followerId, name, lease, call })
    this.#leaders.set(followerId, leader)
    const payload = Buffer.from(`${lease.callId} ${this.#bus.processId}`)
    const isThere = await this.#bus
      .send(lease.processId, encodeMessage({ kind: KINDS.join, followerId, payload }))
      .catch(() => false)
    if (!isThere) {
      leader.forget()
      this.#leaders.delete(followerId)
      return false
    }
    whenAborted(call.signal, () => call.settle({ kind: 'notShareable', failure: null }))
    void call.settled.then(() => {
      leader.leave()
      this.#leaders.delete(followerId)
    })
    return true
  }

  /** Handles a message from a leader. */
  receive(message: Message): void {
    this.#leaders.get(message.followerId)?.receive(message)
  }
}
