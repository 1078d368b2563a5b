/** The numbered messages to one follower: sent in order, kept until it has taken them, and sent again from where it lost one. */
import type { OutgoingMessage } from './messages.ts'

/** With this many bytes that the follower has not taken, there is no room for more. */
const UNTAKEN_LIMIT_BYTES = 128 * 1024
/** A message that does not go out is tried for this long: Redis may be restarting, or stand still. */
const RETRY_FOR_MS = 15_000
const RETRY_EVERY_MS = 100

/** Resolves to whether the follower's process received it. */
export type SendToFollower = (message: OutgoingMessage) => Promise<boolean>

export class Outbox {
  readonly #sendOnce: SendToFollower
  readonly #onUnreachable: () => void
  #kept: OutgoingMessage[] = []
  /** The number of the first message kept. */
  #firstKept = 0
  #next = 0
  #untakenBytes = 0
  #isSending = false
  #isClosed = false
  #wakeWriter: (() => void) | null = null

  constructor(send: SendToFollower, onUnreachable: () => void) {
    this.#sendOnce = send
    this.#onUnreachable = onUnreachable
  }

  /** The number of the message that is sent next: those before it went out. */
  get nextNumber(): number {
    return this.#next
  }

  /** Sends the message after all earlier ones; resolves when there is room for another, or the outbox is closed. */
  async enqueue(message: OutgoingMessage): Promise<void> {
    this.#kept.push(message)
    this.#untakenBytes += sizeOf(message)
    void this.#sendKept()
    while (this.#untakenBytes >= UNTAKEN_LIMIT_BYTES && !this.#isClosed) {
      await new Promise<void>(resolve => {
        this.#wakeWriter = resolve
      })
    }
  }

  /** The follower has all messages before this number. */
  acknowledge(number: number): void {
    const taken = this.#kept.splice(0, Math.max(0, number - this.#firstKept))
    this.#firstKept += taken.length
    this.#next = Math.max(this.#next, this.#firstKept)
    for (const message of taken) this.#untakenBytes -= sizeOf(message)
    this.#wakeWriter?.()
  }

  /** The follower lacks the messages from this number on. */
  resend(number: number): void {
    this.#next = Math.max(this.#firstKept, Math.min(number, this.#next))
    void this.#sendKept()
  }

  close(): void {
    this.#isClosed = true
    this.#wakeWriter?.()
  }

  async #sendKept(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    for (let message = this.#nextMessage(); message; message = this.#nextMessage()) {
      const number = this.#next
      if (!(await this.#send({ ...message, number }))) break
      // Unless the follower asked for an earlier one meanwhile.
      if (this.#next === number) this.#next++
    }
    this.#isSending = false
  }

  #nextMessage(): OutgoingMessage | undefined {
    return this.#isClosed ? undefined : this.#kept[this.#next - this.#firstKept]
  }

  async #send(message: OutgoingMessage): Promise<boolean> {
    for (const deadlineMs = performance.now() + RETRY_FOR_MS; !this.#isClosed; await Bun.sleep(RETRY_EVERY_MS)) {
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
