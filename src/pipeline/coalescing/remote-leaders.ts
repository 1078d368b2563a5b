/** The follower's side across processes: finds the leader's process, and hands its messages to the call that follows it. */
import { onAbort } from '../../event-loop/timeouts.ts'
import type { Lease, ProcessBus } from '../../stores/redis/process-bus.ts'
import { encodeMessage, MESSAGE_KINDS, type Message } from './messages.ts'
import { RemoteLeader } from './remote-leader.ts'
import type { SharedCall } from './shared-call.ts'

const ECHO_EVERY_MS = 1_000

export class RemoteLeaders {
  readonly #bus: ProcessBus
  /** By the id under which this process follows. */
  readonly #leaders = new Map<string, RemoteLeader>()
  #echo: ReturnType<typeof setInterval> | null = null
  /** The number of the last echo sent: earlier ones say nothing of now. */
  #lastEcho = 0

  constructor(bus: ProcessBus) {
    this.#bus = bus
  }

  /** Feeds the holder's events into `call`. Resolves to false when the holder's process is gone. */
  async follow(name: string, lease: Lease, call: SharedCall): Promise<boolean> {
    const followerId = crypto.randomUUID()
    const leader = new RemoteLeader(this.#bus, { followerId, name, lease, call })
    this.#add(followerId, leader)
    const payload = Buffer.from(`${lease.callId} ${this.#bus.processId}`)
    const isThere = await this.#bus
      .send(lease.processId, encodeMessage({ kind: MESSAGE_KINDS.join, followerId, payload }))
      .catch(() => false)
    if (!isThere) {
      this.#remove(followerId)
      return false
    }
    onAbort(call.signal, () => call.settle({ kind: 'notShareable', failure: null }))
    void call.settled.then(() => {
      leader.leave()
      this.#remove(followerId)
    })
    return true
  }

  /** Handles a message from a leader, or from this process to itself. */
  receive(message: Message): void {
    if (message.kind !== MESSAGE_KINDS.echo) this.#leaders.get(message.followerId)?.receive(message)
    else if (message.number === this.#lastEcho) for (const leader of this.#leaders.values()) leader.recordEcho()
  }

  #add(followerId: string, leader: RemoteLeader): void {
    this.#leaders.set(followerId, leader)
    this.#echo ??= setInterval(() => this.#sendEcho(), ECHO_EVERY_MS)
  }

  #remove(followerId: string): void {
    this.#leaders.delete(followerId)
    if (this.#leaders.size > 0 || this.#echo === null) return
    clearInterval(this.#echo)
    this.#echo = null
  }

  #sendEcho(): void {
    const { processId } = this.#bus
    const message = encodeMessage({ kind: MESSAGE_KINDS.echo, followerId: processId, number: ++this.#lastEcho })
    void this.#bus.send(processId, message).catch(() => {})
  }
}
