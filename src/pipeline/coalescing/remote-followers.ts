/** The leader's side across processes: sends the events of calls led here to follower processes. */
import type { ProcessBus } from '../../stores/redis/process-bus.ts'
import { encodeMessage, KINDS, type Message } from './messages.ts'
import { RemoteFollower } from './remote-follower.ts'
import type { SharedCall } from './shared-call.ts'

export class RemoteFollowers {
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
    if (kind === KINDS.join) {
      const [callId = '', processId = ''] = Buffer.from(payload).toString('latin1').split(' ')
      void this.#serve(callId, followerId, processId)
    } else if (kind === KINDS.leave) this.#followers.get(followerId)?.leave()
    else if (kind === KINDS.again) this.#followers.get(followerId)?.sendAgain(number)
    else if (kind === KINDS.taken) this.#followers.get(followerId)?.noteTaken(number)
  }

  /** Ends when the follower has its last message and has left, or cannot be reached. */
  async #serve(callId: string, followerId: string, processId: string): Promise<void> {
    const follower = new RemoteFollower(message => this.#bus.send(processId, encodeMessage({ ...message, followerId })))
    this.#followers.set(followerId, follower)
    await follower.serve(this.#ledCalls.get(callId))
    this.#followers.delete(followerId)
  }
}
