/** A process that follows a call of this process. It is sent the call's events, no faster than it reads them, and the call's result. */
import { encodeEntry } from '../../cache/entry.ts'
import { MESSAGE_KINDS, type OutgoingMessage, STREAM_ENDS } from './messages.ts'
import { ReplayBuffer, type SendToFollower } from './replay-buffer.ts'
import type { SharedCall, SharedCallResult, Subscriber } from './shared-call.ts'

const HEARTBEAT_INTERVAL_MS = 1_000
/** The last message is held for this many heartbeats for a follower that does not leave. */
const LINGER_HEARTBEATS = 15

export class RemoteFollower {
  readonly #sendOnce: SendToFollower
  readonly #replayBuffer: ReplayBuffer
  readonly #departure = Promise.withResolvers<void>()
  #hasLeft = false
  #remainingHeartbeats = Number.POSITIVE_INFINITY

  constructor(send: SendToFollower) {
    this.#sendOnce = send
    this.#replayBuffer = new ReplayBuffer(send, () => this.leave())
  }

  /** Resolves when the follower has its last message and has left, or is unreachable. Never rejects. */
  async serve(call: SharedCall | undefined): Promise<void> {
    const subscriber = call?.subscribe(true) ?? null
    this.#sendHeartbeat()
    const heartbeat = setInterval(() => this.#sendHeartbeat(), HEARTBEAT_INTERVAL_MS)
    try {
      await Promise.race([this.#departure.promise, this.#deliver(call, subscriber)])
    } finally {
      clearInterval(heartbeat)
      subscriber?.leave()
      this.leave()
    }
  }

  /** The follower has all messages before this number, and can receive more. */
  acknowledge(number: number): void {
    this.#replayBuffer.acknowledge(number)
  }

  resend(number: number): void {
    this.#replayBuffer.resend(number)
  }

  leave(): void {
    this.#hasLeft = true
    this.#replayBuffer.close()
    this.#departure.resolve()
  }

  /** A heartbeat carries the number of messages sent, so that the follower detects the loss of the last one. */
  #sendHeartbeat(): void {
    if (this.#remainingHeartbeats-- <= 0) this.leave()
    this.#sendOnce({ kind: MESSAGE_KINDS.heartbeat, number: this.#replayBuffer.nextNumber }).catch(() => {})
  }

  async #deliver(call: SharedCall | undefined, subscriber: Subscriber | null): Promise<void> {
    const lastMessage = call && subscriber ? await this.#relay(call, subscriber).catch(() => INTERRUPTED) : INTERRUPTED
    await this.#replayBuffer.enqueue(lastMessage)
    this.#remainingHeartbeats = LINGER_HEARTBEATS
    await this.#departure.promise
  }

  /** Sends the stream, if there is one. Resolves to the last message. */
  async #relay(call: SharedCall, subscriber: Subscriber): Promise<OutgoingMessage> {
    if ((await call.started) === 'stream') {
      await this.#replayBuffer.enqueue({ kind: MESSAGE_KINDS.streamStarted })
      for (let chunk = await subscriber.read(); chunk && !this.#hasLeft; chunk = await subscriber.read()) {
        await this.#replayBuffer.enqueue({ kind: MESSAGE_KINDS.events, payload: chunk.bytes })
      }
    }
    return createLastMessage(await call.settled)
  }
}

const INTERRUPTED: OutgoingMessage = {
  kind: MESSAGE_KINDS.notShareable,
  payload: Uint8Array.of(STREAM_ENDS.interrupted),
}

/**
 * Creates the last message for a stream that was not interrupted. It carries neither a cached entry, which the follower reads itself, nor
 * a failure, which the follower may retry itself.
 */
function createLastMessage(settlement: SharedCallResult): OutgoingMessage {
  if (settlement.kind === 'complete') return { kind: MESSAGE_KINDS.complete, payload: encodeEntry(settlement.entry) }
  return { kind: MESSAGE_KINDS.notShareable, payload: Uint8Array.of(streamEndOf(settlement)) }
}

function streamEndOf(settlement: SharedCallResult): number {
  if (settlement.kind !== 'notShareable' || settlement.failure === null) return STREAM_ENDS.delivered
  return settlement.canFallBack ? STREAM_ENDS.providerFailed : STREAM_ENDS.failureDelivered
}
