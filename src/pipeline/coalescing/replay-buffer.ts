/** The numbered messages to one follower. They are sent in order, held until they are acknowledged, and sent again if one is lost. */
import type { OutgoingMessage } from './messages.ts'

/** The writer waits while this many bytes are unacknowledged. */
const MAX_UNACKNOWLEDGED_BYTES = 128 * 1024
/** A message that cannot be sent is retried for this long, because Redis may be restarting or stalled. */
const RETRY_TIME_LIMIT_MS = 15_000
const RETRY_INTERVAL_MS = 100

/** Resolves to whether the follower's process received the message. */
export type SendToFollower = (message: OutgoingMessage) => Promise<boolean>

export class ReplayBuffer {
  readonly #sendOnce: SendToFollower
  readonly #onUnreachable: () => void
  #pending: OutgoingMessage[] = []
  /** The number of the first pending message. */
  #firstPending = 0
  #nextNumber = 0
  #unacknowledgedBytes = 0
  #isSending = false
  #isClosed = false
  #wakeWriter: (() => void) | null = null

  constructor(send: SendToFollower, onUnreachable: () => void) {
    this.#sendOnce = send
    this.#onUnreachable = onUnreachable
  }

  /** The number of the next message to send: all before it were sent. */
  get nextNumber(): number {
    return this.#nextNumber
  }

  /** Sends the message after all earlier ones. Resolves when another may be enqueued, or the replay buffer is closed. */
  async enqueue(message: OutgoingMessage): Promise<void> {
    this.#pending.push(message)
    this.#unacknowledgedBytes += sizeOf(message)
    void this.#sendPending()
    while (this.#unacknowledgedBytes >= MAX_UNACKNOWLEDGED_BYTES && !this.#isClosed) {
      await new Promise<void>(resolve => {
        this.#wakeWriter = resolve
      })
    }
  }

  /** Drops all messages before this number: the follower has them. */
  acknowledge(number: number): void {
    const acknowledged = this.#pending.splice(0, Math.max(0, number - this.#firstPending))
    this.#firstPending += acknowledged.length
    this.#nextNumber = Math.max(this.#nextNumber, this.#firstPending)
    for (const message of acknowledged) this.#unacknowledgedBytes -= sizeOf(message)
    this.#wakeWriter?.()
  }

  /** Sends the messages from this number on again: the follower lacks them. */
  resend(number: number): void {
    this.#nextNumber = Math.max(this.#firstPending, Math.min(number, this.#nextNumber))
    void this.#sendPending()
  }

  close(): void {
    this.#isClosed = true
    this.#wakeWriter?.()
  }

  async #sendPending(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    for (let message = this.#nextMessage(); message; message = this.#nextMessage()) {
      const number = this.#nextNumber
      if (!(await this.#send({ ...message, number }))) break
      // The follower may have requested an earlier message meanwhile.
      if (this.#nextNumber === number) this.#nextNumber++
    }
    this.#isSending = false
  }

  #nextMessage(): OutgoingMessage | undefined {
    return this.#isClosed ? undefined : this.#pending[this.#nextNumber - this.#firstPending]
  }

  async #send(message: OutgoingMessage): Promise<boolean> {
    for (
      const deadlineMs = performance.now() + RETRY_TIME_LIMIT_MS;
      !this.#isClosed;
      await Bun.sleep(RETRY_INTERVAL_MS)
    ) {
      if (await this.#sendOnce(message).catch(() => false)) return true
      if (performance.now() > deadlineMs) {
        this.#onUnreachable()
        return false
      }
    }
    return false
  }
}

function sizeOf({ payload }: OutgoingMessage): number {
  return payload?.length ?? 0
}
