/** One process that follows a call led here: it is sent the call's events, no faster than it reads them, and how the call ended. */
import { encodeEntry } from '../../cache/entry.ts'
import { MESSAGE_KINDS, type OutgoingMessage, STREAM_ENDS } from './messages.ts'
import { Outbox, type SendToFollower } from './outbox.ts'
import type { SharedCall, SharedCallResult, Subscriber } from './shared-call.ts'

const HEARTBEAT_EVERY_MS = 1_000
/** For so many heartbeats the last message is kept for a follower that does not leave. */
const LINGERS_BEATS = 15

export class RemoteFollower {
  readonly #sendOnce: SendToFollower
  readonly #outbox: Outbox
  readonly #left = Promise.withResolvers<void>()
  #hasLeft = false
  #beatsLeft = Number.POSITIVE_INFINITY

  constructor(send: SendToFollower) {
    this.#sendOnce = send
    this.#outbox = new Outbox(send, () => this.leave())
  }

  /** Resolves when the follower has its last message and has left, or cannot be reached. Never rejects. */
  async serve(call: SharedCall | undefined): Promise<void> {
    const subscriber = call?.subscribe(true) ?? null
    this.#beat()
    const heartbeat = setInterval(() => this.#beat(), HEARTBEAT_EVERY_MS)
    try {
      await Promise.race([this.#left.promise, this.#tell(call, subscriber)])
    } finally {
      clearInterval(heartbeat)
      subscriber?.leave()
      this.leave()
    }
  }

  /** The follower has all messages before this number, and room for more. */
  acknowledge(number: number): void {
    this.#outbox.acknowledge(number)
  }

  resend(number: number): void {
    this.#outbox.resend(number)
  }

  leave(): void {
    this.#hasLeft = true
    this.#outbox.close()
    this.#left.resolve()
  }

  /** A heartbeat says how many messages went out, so that the follower notices when the last of them was lost. */
  #beat(): void {
    if (this.#beatsLeft-- <= 0) this.leave()
    this.#sendOnce({ kind: MESSAGE_KINDS.heartbeat, number: this.#outbox.nextNumber }).catch(() => {})
  }

  async #tell(call: SharedCall | undefined, subscriber: Subscriber | null): Promise<void> {
    const closing = call && subscriber ? await this.#relay(call, subscriber).catch(() => BROKEN_OFF) : BROKEN_OFF
    await this.#outbox.enqueue(closing)
    this.#beatsLeft = LINGERS_BEATS
    await this.#left.promise
  }

  /** Sends the stream, if there is one; resolves to the last message. */
  async #relay(call: SharedCall, subscriber: Subscriber): Promise<OutgoingMessage> {
    if ((await call.started) === 'stream') {
      await this.#outbox.enqueue({ kind: MESSAGE_KINDS.streamStarted })
      for (let lump = await subscriber.read(); lump && !this.#hasLeft; lump = await subscriber.read()) {
        await this.#outbox.enqueue({ kind: MESSAGE_KINDS.events, payload: lump.bytes })
      }
    }
    return closingOf(await call.settled)
  }
}

const BROKEN_OFF: OutgoingMessage = {
  kind: MESSAGE_KINDS.notShareable,
  payload: Uint8Array.of(STREAM_ENDS.interrupted),
}

/**
 * The last message, for a stream that did not break off. It carries no cached entry, which the other process reads itself, and no
 * failure, which it can try again itself.
 */
function closingOf(settlement: SharedCallResult): OutgoingMessage {
  if (settlement.kind === 'complete') return { kind: MESSAGE_KINDS.complete, payload: encodeEntry(settlement.entry) }
  const hasFailed = settlement.kind === 'notShareable' && settlement.failure !== null
  return {
    kind: MESSAGE_KINDS.notShareable,
    payload: Uint8Array.of(hasFailed ? STREAM_ENDS.failureDelivered : STREAM_ENDS.delivered),
  }
}
