/** Another process's call that this process follows: its events are fed into a call of this process, which ends as it ends. */
import { decodeEntry } from '../../cache/entry.ts'
import { createError } from '../../errors/errors.ts'
import { EventChunk } from '../../formats/sse/event-chunk.ts'
import { createEventSplitter } from '../../formats/sse/split-events.ts'
import type { Lease, ProcessBus } from '../../stores/redis/process-bus.ts'
import { encodeMessage, MESSAGE_KINDS, type Message, STREAM_ENDS } from './messages.ts'
import type { SharedCall, SharedCallResult } from './shared-call.ts'

/** A leader that sends nothing while this process hears itself so many times, once a second, is dead. */
const MOST_MISSED_HEARTBEATS = 5

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
  #missedHeartbeats = 0
  /** The number of the next message: all before it arrived. */
  #next = 0
  /** All messages before this number arrived, and there is room for more. */
  #taken = 0
  /** The lost message that was asked for since the last heartbeat. */
  #askedAgain: number | null = null
  #isOver = false

  constructor(bus: ProcessBus, followed: FollowedCall) {
    this.#bus = bus
    this.#followed = followed
  }

  /** Messages may arrive twice, or not at all: the leader repeats what is missing. */
  receive(message: Message): void {
    if (this.#isOver) return
    this.#missedHeartbeats = 0
    const { kind, number } = message
    if (kind === MESSAGE_KINDS.heartbeat) this.#askedAgain = null
    if (number > this.#next) this.#askAgain()
    else if (kind === MESSAGE_KINDS.heartbeat) this.#send(MESSAGE_KINDS.acknowledge, this.#taken)
    else if (number === this.#next) this.#takeNext(message)
  }

  /** A message of this process to itself arrived, so a heartbeat of the leader could have, too. */
  recordEcho(): void {
    if (this.#isOver || ++this.#missedHeartbeats <= MOST_MISSED_HEARTBEATS) return
    const { name, lease } = this.#followed
    void this.#bus.releaseLease(name, lease).catch(() => {})
    this.#settle(NOT_SHAREABLE)
  }

  /** The call has settled: this process has the last message, or no subscribers any more. */
  leave(): void {
    this.#isOver = true
    this.#send(MESSAGE_KINDS.leave)
  }

  #takeNext({ kind, payload }: Message): void {
    const number = ++this.#next
    if (kind === MESSAGE_KINDS.streamStarted) this.#followed.call.startStream()
    else if (kind === MESSAGE_KINDS.events) {
      const lump = new EventChunk(createEventSplitter().push(payload))
      // Acknowledged when there is room for more, so that the readers here set the leader's pace.
      void this.#followed.call.push(lump).then(() => {
        this.#taken = Math.max(this.#taken, number)
        this.#send(MESSAGE_KINDS.acknowledge, this.#taken)
      })
    } else if (kind === MESSAGE_KINDS.complete) {
      const entry = decodeEntry(payload)
      this.#settle(entry ? { kind: 'complete', entry } : NOT_SHAREABLE)
    } else if (kind === MESSAGE_KINDS.notShareable) this.#settle(NOT_SHAREABLE, payload[0])
  }

  #askAgain(): void {
    if (this.#askedAgain === this.#next) return
    this.#askedAgain = this.#next
    this.#send(MESSAGE_KINDS.resend, this.#next)
  }

  #send(
    kind: typeof MESSAGE_KINDS.leave | typeof MESSAGE_KINDS.acknowledge | typeof MESSAGE_KINDS.resend,
    number = 0,
  ): void {
    const { lease, followerId } = this.#followed
    void this.#bus.send(lease.processId, encodeMessage({ kind, followerId, number })).catch(() => {})
  }

  /** Breaks a partly delivered stream off, unless it is complete or `end` says that all events were delivered. */
  #settle(settlement: SharedCallResult, end: number = STREAM_ENDS.interrupted): void {
    this.#isOver = true
    const { call } = this.#followed
    if (settlement.kind === 'complete' || end === STREAM_ENDS.delivered) call.settle(settlement)
    else if (end === STREAM_ENDS.failureDelivered)
      call.settle({ kind: 'notShareable', failure: createError('upstreamInterrupted') })
    else call.settle(settlement, createError('upstreamInterrupted'))
  }
}

const NOT_SHAREABLE: SharedCallResult = { kind: 'notShareable', failure: null }
