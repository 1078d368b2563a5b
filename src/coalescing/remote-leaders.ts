/** The follower's side across processes: feeds the events of another process's call into a call of this process. */
import { decodeEntry } from '../cache/entry.ts'
import { refuse } from '../errors.ts'
import { EventLump } from '../openai-format/event-lump.ts'
import { createEventSplitter } from '../openai-format/split-events.ts'
import type { Lease, ProcessBus } from '../redis/process-bus.ts'
import { ENDS, encodeMessage, KINDS, type Message } from './messages.ts'
import type { Settlement, SharedCall } from './shared-call.ts'

/** A leader that sends nothing for this long counts as dead, */
const SILENCE_LIMIT_MS = 3_000
/** unless this process could not receive: then the limit is this long. */
const DEAF_LIMIT_MS = 8_000

/** State of one followed call. */
interface Following {
  name: string
  lease: Lease
  call: SharedCall
  silence: ReturnType<typeof setTimeout>
  heardAtMs: number
  nextNumber: number
}

export class RemoteLeaders {
  readonly #bus: ProcessBus
  readonly #followings = new Map<string, Following>()

  constructor(bus: ProcessBus) {
    this.#bus = bus
  }

  /** Feeds the holder's events into `call`. Resolves to false when the holder's process is gone. */
  async follow(name: string, lease: Lease, call: SharedCall): Promise<boolean> {
    const followerId = crypto.randomUUID()
    const following: Following = {
      name,
      lease,
      call,
      silence: this.#watch(followerId, SILENCE_LIMIT_MS),
      heardAtMs: performance.now(),
      nextNumber: 0,
    }
    this.#followings.set(followerId, following)
    const payload = Buffer.from(`${lease.callId} ${this.#bus.processId}`)
    const isThere = await this.#bus
      .send(lease.processId, encodeMessage({ kind: KINDS.join, followerId, payload }))
      .catch(() => false)
    if (!isThere) {
      this.#forget(followerId)
      return false
    }
    const giveUp = () => call.settle({ kind: 'notShareable', failure: null })
    if (call.signal.aborted) giveUp()
    else call.signal.addEventListener('abort', giveUp, { once: true })
    // The call settled before its leader's last message: there are no subscribers here any more.
    void call.settled.then(() => {
      if (this.#forget(followerId)) this.#send(following, followerId, KINDS.leave)
    })
    return true
  }

  /** Handles a message from a leader. */
  receive({ kind, followerId, number, payload }: Message): void {
    const following = this.#followings.get(followerId)
    if (!following) return
    following.heardAtMs = performance.now()
    if (kind === KINDS.streamStarted) following.call.startStream()
    else if (kind === KINDS.events) this.#takeEvents(followerId, following, number, payload)
    else if (kind === KINDS.complete) {
      const entry = decodeEntry(payload)
      this.#settle(followerId, entry ? { kind: 'complete', entry } : NOT_SHAREABLE)
    } else if (kind === KINDS.notShareable) this.#settle(followerId, NOT_SHAREABLE, number)
  }

  /** Acknowledges the bytes when there is room for more, so that the readers here set the leader's pace. */
  #takeEvents(followerId: string, following: Following, number: number, payload: Uint8Array): void {
    if (number !== following.nextNumber++) {
      this.#settle(followerId, NOT_SHAREABLE)
      return
    }
    const lump = new EventLump(createEventSplitter().push(payload))
    void following.call.push(lump).then(() => this.#send(following, followerId, KINDS.taken, payload.length))
  }

  #send({ lease }: Following, followerId: string, kind: typeof KINDS.leave | typeof KINDS.taken, number = 0): void {
    void this.#bus.send(lease.processId, encodeMessage({ kind, followerId, number })).catch(() => {})
  }

  #watch(followerId: string, afterMs: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      const following = this.#followings.get(followerId)
      if (!following) return
      const limitMs = this.#bus.isListening() ? SILENCE_LIMIT_MS : DEAF_LIMIT_MS
      const leftMs = limitMs - (performance.now() - following.heardAtMs)
      if (leftMs <= 0) {
        void this.#bus.releaseLease(following.name, following.lease).catch(() => {})
        this.#settle(followerId, NOT_SHAREABLE)
      } else following.silence = this.#watch(followerId, Math.max(100, Math.min(leftMs, SILENCE_LIMIT_MS)))
    }, afterMs)
  }

  /** Breaks a partly delivered stream off, unless it is complete or `end` says that all events were delivered. */
  #settle(followerId: string, settlement: Settlement, end: number = ENDS.brokenOff): void {
    const following = this.#followings.get(followerId)
    if (!following) return
    this.#forget(followerId)
    const { call } = following
    if (settlement.kind === 'complete' || end === ENDS.delivered) call.settle(settlement)
    else if (end === ENDS.failureDelivered) call.settle({ kind: 'notShareable', failure: refuse('upstreamBrokeOff') })
    else call.settle(settlement, refuse('upstreamBrokeOff'))
  }

  #forget(followerId: string): boolean {
    clearTimeout(this.#followings.get(followerId)?.silence)
    return this.#followings.delete(followerId)
  }
}

const NOT_SHAREABLE: Settlement = { kind: 'notShareable', failure: null }
