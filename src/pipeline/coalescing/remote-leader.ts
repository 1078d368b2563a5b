/** The follower's side: joins the process that leads a call, and feeds the call's events into a local call, which ends as the remote one ends. */
import { decodeEntry } from '../../cache/entry.ts'
import { createError } from '../../errors/errors.ts'
import { onAbort } from '../../event-loop/timeouts.ts'
import { EventChunk } from '../../formats/sse/event-chunk.ts'
import { createEventSplitter } from '../../formats/sse/split-events.ts'
import type { Lease, ProcessBus } from '../../stores/redis/process-bus.ts'
import { encodeMessage, MESSAGE_KINDS, type Message, STREAM_ENDS } from './messages.ts'
import { NOT_SHAREABLE, type SharedCall, type SharedCallResult } from './shared-call.ts'

/** A leader is dead if it sends nothing while this process receives as many of its own echoes, one a second. */
const MAX_MISSED_HEARTBEATS = 5

export interface FollowedCall {
  /** The id under which this process follows. */
  followerId: string
  /** The name of the call and of its lease. */
  name: string
  lease: Lease
  /** The local call that receives the events. */
  call: SharedCall
}

/** A call of another process that this process follows. */
export class RemoteLeader {
  readonly #bus: ProcessBus
  readonly #followed: FollowedCall
  #missedHeartbeats = 0
  /** The number of the next message: all before it have arrived. */
  #nextNumber = 0
  /** All messages before this number have arrived and were passed to the readers. */
  #acknowledgedNumber = 0
  /** The lost message whose repetition was requested since the last heartbeat. */
  #resendRequestedFor: number | null = null
  #isFinished = false

  constructor(bus: ProcessBus, followed: FollowedCall) {
    this.#bus = bus
    this.#followed = followed
  }

  /** Handles a message of the leader. Messages may arrive twice or get lost; the leader sends lost ones again on request. */
  receive(message: Message): void {
    if (this.#isFinished) return
    this.#missedHeartbeats = 0
    const { kind, number } = message
    if (kind === MESSAGE_KINDS.heartbeat) this.#resendRequestedFor = null
    if (number > this.#nextNumber) this.#requestResend()
    else if (kind === MESSAGE_KINDS.heartbeat) this.#send(MESSAGE_KINDS.acknowledge, this.#acknowledgedNumber)
    else if (number === this.#nextNumber) this.#handleNext(message)
  }

  /** An echo arrived, so a heartbeat of the leader could have, too. */
  recordEcho(): void {
    if (this.#isFinished || ++this.#missedHeartbeats <= MAX_MISSED_HEARTBEATS) return
    const { name, lease } = this.#followed
    void this.#bus.releaseLease(name, lease).catch(() => {})
    this.#settle(NOT_SHAREABLE)
  }

  /** Leaves the call, which has settled: this process has the last message, or no subscribers. */
  leave(): void {
    this.#isFinished = true
    this.#send(MESSAGE_KINDS.leave)
  }

  #handleNext({ kind, payload }: Message): void {
    const number = ++this.#nextNumber
    if (kind === MESSAGE_KINDS.streamStarted) this.#followed.call.startStream()
    else if (kind === MESSAGE_KINDS.events) {
      const chunk = new EventChunk(createEventSplitter().push(payload))
      // The message is acknowledged when the buffer accepts more, so that local readers set the leader's pace.
      void this.#followed.call.push(chunk).then(() => {
        this.#acknowledgedNumber = Math.max(this.#acknowledgedNumber, number)
        this.#send(MESSAGE_KINDS.acknowledge, this.#acknowledgedNumber)
      })
    } else if (kind === MESSAGE_KINDS.complete) {
      const entry = decodeEntry(payload)
      this.#settle(entry ? { kind: 'complete', entry } : NOT_SHAREABLE)
    } else if (kind === MESSAGE_KINDS.notShareable) this.#settle(NOT_SHAREABLE, payload[0])
  }

  #requestResend(): void {
    if (this.#resendRequestedFor === this.#nextNumber) return
    this.#resendRequestedFor = this.#nextNumber
    this.#send(MESSAGE_KINDS.resend, this.#nextNumber)
  }

  #send(
    kind: typeof MESSAGE_KINDS.leave | typeof MESSAGE_KINDS.acknowledge | typeof MESSAGE_KINDS.resend,
    number = 0,
  ): void {
    const { lease, followerId } = this.#followed
    void this.#bus.send(lease.processId, encodeMessage({ kind, followerId, number })).catch(() => {})
  }

  /** Settles the local call. Interrupts a partly delivered stream, unless it is complete or `end` means that all events were delivered. */
  #settle(settlement: SharedCallResult, end: number = STREAM_ENDS.interrupted): void {
    this.#isFinished = true
    const { call } = this.#followed
    if (settlement.kind === 'complete' || end === STREAM_ENDS.delivered) call.settle(settlement)
    else if (end === STREAM_ENDS.interrupted) call.settle(settlement, createError('upstreamInterrupted'))
    else {
      const canFallBack = end === STREAM_ENDS.providerFailed
      call.settle({ kind: 'notShareable', failure: createError('upstreamInterrupted'), canFallBack })
    }
  }
}

const ECHO_INTERVAL_MS = 1_000

/** The followed calls of this process. */
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
    onAbort(call.signal, () => call.settle(NOT_SHAREABLE))
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
