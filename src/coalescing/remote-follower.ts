/** One process that follows a call led here: it is sent the call's events, no faster than it reads them, and how the call ended. */
import { encodeEntry } from '../cache/entry.ts'
import { ENDS, KINDS, type OutgoingMessage } from './messages.ts'
import type { Settlement, SharedCall, Subscriber } from './shared-call.ts'

const HEARTBEAT_EVERY_MS = 1_000
/** A follower with this many unread bytes gets no more until it has read some. */
const UNTAKEN_LIMIT_BYTES = 512 * 1024
/** A message that did not arrive is retried for this long: Redis may be restarting. */
const RETRY_FOR_MS = 8_000
const RETRY_EVERY_MS = 100

/** Resolves to whether the follower's process received it. */
export type SendToFollower = (message: OutgoingMessage) => Promise<boolean>

export class RemoteFollower {
  readonly #sendOnce: SendToFollower
  #subscriber: Subscriber | null = null
  #untakenBytes = 0
  #resume: (() => void) | null = null
  #hasLeft = false

  constructor(send: SendToFollower) {
    this.#sendOnce = send
  }

  /** Resolves when the follower has its last message, has left, or cannot be reached. Never rejects. */
  async serve(call: SharedCall | undefined): Promise<void> {
    this.#subscriber = call?.subscribe(true) ?? null
    if (!call || !this.#subscriber) {
      await this.#send({ kind: KINDS.notShareable })
      return
    }
    const heartbeat = setInterval(() => this.#sendOnce({ kind: KINDS.heartbeat }).catch(() => {}), HEARTBEAT_EVERY_MS)
    try {
      await this.#send({ kind: KINDS.heartbeat })
      if ((await call.started) === 'stream' && !this.#hasLeft) {
        await this.#send({ kind: KINDS.streamStarted })
        await this.#relay(this.#subscriber)
      }
      const settlement = await call.settled
      if (!this.#hasLeft) await this.#send(closing(settlement))
    } catch {
      await this.#send({ kind: KINDS.notShareable })
    } finally {
      clearInterval(heartbeat)
      this.leave()
    }
  }

  /** The follower has read this many bytes of the stream. */
  noteTaken(bytes: number): void {
    this.#untakenBytes -= bytes
    this.#resume?.()
    this.#resume = null
  }

  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#subscriber?.leave()
    this.#resume?.()
  }

  async #relay(subscriber: Subscriber): Promise<void> {
    for (let number = 0; !this.#hasLeft; number++) {
      const lump = await subscriber.read()
      if (!lump) return
      this.#untakenBytes += lump.bytes.length
      if (!(await this.#send({ kind: KINDS.events, payload: lump.bytes, number }))) this.leave()
      while (this.#untakenBytes >= UNTAKEN_LIMIT_BYTES && !this.#hasLeft) {
        await new Promise<void>(resolve => {
          this.#resume = resolve
        })
      }
    }
  }

  async #send(message: OutgoingMessage): Promise<boolean> {
    for (const deadlineMs = performance.now() + RETRY_FOR_MS; ; await Bun.sleep(RETRY_EVERY_MS)) {
      if (await this.#sendOnce(message).catch(() => false)) return true
      if (performance.now() > deadlineMs) return false
    }
  }
}

/**
 * The last message, for a stream that did not break off. It carries no cached entry, which the other process reads itself, and no
 * failure, which it can try again itself.
 */
function closing(settlement: Settlement): OutgoingMessage {
  if (settlement.kind === 'complete') return { kind: KINDS.complete, payload: encodeEntry(settlement.entry) }
  const hasFailed = settlement.kind === 'notShareable' && settlement.failure !== null
  return { kind: KINDS.notShareable, number: hasFailed ? ENDS.failureDelivered : ENDS.delivered }
}
