/** Another process's call that this process follows: its events are fed into a call of this process, which ends as it ends. */
import { decodeEntry } from '../cache/entry.ts'
import { refuse } from '../errors.ts'
import { EventLump } from '../formats/sse/event-lump.ts'
import { createEventSplitter } from '../formats/sse/split-events.ts'
import type { Lease, ProcessBus } from '../redis/process-bus.ts'
import { ENDS, encodeMessage, KINDS, type Message } from './messages.ts'
import type { Settlement, SharedCall } from './shared-call.ts'

/** A leader that sends nothing for this long counts as dead, */
const SILENCE_LIMIT_MS = 3_000
/** unless this process could not receive: then the limit is this long. */
const DEAF_LIMIT_MS = 8_000

export interface FollowedCall {
  /** Under which this process follows. */
  followerId: string
  /** Of the call; the lease's name. */
  name: string
  lease: Lease
  /** The call of this process that is fed. */
  call: SharedCall
}

export class RemoteLeader {
  readonly #bus: ProcessBus
  readonly #followed: FollowedCall
  #silence: ReturnType<typeof setTimeout>
  #heardAtMs = performance.now()
  #nextNumber = 0
  #isOver = false

  constructor(bus: ProcessBus, followed: FollowedCall) {
    this.#bus = bus
    this.#followed = followed
    this.#silence = this.#watch(SILENCE_LIMIT_MS)
  }

  receive({ kind, number, payload }: Message): void {
    if (this.#isOver) return
    this.#heardAtMs = performance.now()
    if (kind === KINDS.streamStarted) this.#followed.call.startStream()
    else if (kind === KINDS.events) this.#takeEvents(number, payload)
    else if (kind === KINDS.complete) {
      const entry = decodeEntry(payload)
      this.#settle(entry ? { kind: 'complete', entry } : NOT_SHAREABLE)
    } else if (kind === KINDS.notShareable) this.#settle(NOT_SHAREABLE, number)
  }

  /** The call settled before its leader's last message: there are no subscribers here any more. */
  leave(): void {
    if (this.#isOver) return
    this.forget()
    this.#send(KINDS.leave)
  }

  /** Handles no more messages, and expects none. */
  forget(): void {
    this.#isOver = true
    clearTimeout(this.#silence)
  }

  /** Acknowledges the bytes when there is room for more, so that the readers here set the leader's pace. */
  #takeEvents(number: number, payload: Uint8Array): void {
    if (number !== this.#nextNumber++) {
      this.#settle(NOT_SHAREABLE)
      return
    }
    const lump = new EventLump(createEventSplitter().push(payload))
    void this.#followed.call.push(lump).then(() => this.#send(KINDS.taken, payload.length))
  }

  #send(kind: typeof KINDS.leave | typeof KINDS.taken, number = 0): void {
    const { lease, followerId } = this.#followed
    void this.#bus.send(lease.processId, encodeMessage({ kind, followerId, number })).catch(() => {})
  }

  #watch(afterMs: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      const limitMs = this.#bus.isListening() ? SILENCE_LIMIT_MS : DEAF_LIMIT_MS
      const leftMs = limitMs - (performance.now() - this.#heardAtMs)
      if (leftMs > 0) {
        this.#silence = this.#watch(Math.max(100, Math.min(leftMs, SILENCE_LIMIT_MS)))
        return
      }
      const { name, lease } = this.#followed
      void this.#bus.releaseLease(name, lease).catch(() => {})
      this.#settle(NOT_SHAREABLE)
    }, afterMs)
  }

  /** Breaks a partly delivered stream off, unless it is complete or `end` says that all events were delivered. */
  #settle(settlement: Settlement, end: number = ENDS.brokenOff): void {
    this.forget()
    const { call } = this.#followed
    if (settlement.kind === 'complete' || end === ENDS.delivered) call.settle(settlement)
    else if (end === ENDS.failureDelivered) call.settle({ kind: 'notShareable', failure: refuse('upstreamBrokeOff') })
    else call.settle(settlement, refuse('upstreamBrokeOff'))
  }
}

const NOT_SHAREABLE: Settlement = { kind: 'notShareable', failure: null }
