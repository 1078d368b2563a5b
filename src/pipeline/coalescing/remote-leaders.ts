/** The follower's side: joins the leader's process, and passes its messages to the local call that follows it. */
import { onAbort } from '../../event-loop/timeouts.ts'
import type { Lease, ProcessBus } from '../../stores/redis/process-bus.ts'
import { encodeMessage, MESSAGE_KINDS, type Message } from './messages.ts'
import { RemoteLeader } from './remote-leader.ts'
import type { SharedCall } from './shared-call.ts'

const ECHO_INTERVAL_MS = 1_000

export class RemoteLeaders {
  readonly #bus: ProcessBus
  /** Leaders by the id under which this process follows. */
  readonly #leaders = new Map<string, RemoteLeader>()
  #echo: ReturnType<typeof setInterval> | null = null
  /** The number of the last echo sent. Earlier echoes are out of date. */
  #lastEcho = 0

  constructor(bus: ProcessBus) {
    this.#bus = bus
  }

  /** Feeds the leader's events into `call`. Resolves to false if the leader's process is unreachable. */
  async follow(name: string, lease: Lease, call: SharedCall): Promise<boolean> {
    const followerId = crypto.randomUUID()
    const leader = new RemoteLeader(this.#bus, { followerId, name, lease, call })
    this.#add(followerId, leader)
    const payload = Buffer.from(`${lease.callId} ${this.#bus.processId}`)
    const isReachable = await this.#bus
      .send(lease.processId, encodeMessage({ kind: MESSAGE_KINDS.join, followerId, payload }))
      .catch(() => false)
    if (!isReachable) {
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
    this.#echo ??= setInterval(() => this.#sendEcho(), ECHO_INTERVAL_MS)
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
