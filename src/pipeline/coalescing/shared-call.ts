/** One upstream call that identical requests share: its subscribers, its events so far, and its result. */
import type { CachedResponseMatch, CacheEntry } from '../../cache/entry.ts'
import { ClientDisconnected, type ProxyError } from '../../errors/errors.ts'
import type { StreamMemory } from '../../event-loop/stream-memory.ts'
import type { EventChunk } from '../../formats/sse/event-chunk.ts'
import { type AbandonedCall, type AbandonedCallLimits, AbandonedCalls } from './abandoned-calls.ts'
import { EventBuffer } from './event-buffer.ts'

/** The result of a call, for all requests that share it. */
export type SharedCallResult =
  /** A cache entry was found before any request to the upstream. */
  | { kind: 'cached'; match: CachedResponseMatch }
  /** A complete response for every subscriber. */
  | { kind: 'complete'; entry: CacheEntry }
  /**
   * A result that only the leader can use: a failure, also one reported inside the stream, or (null) an incomplete response. `canFallBack` is
   * set if the provider failed, nothing was delivered, and a fallback may help.
   */
  | { kind: 'notShareable'; failure: CallFailure | null; canFallBack?: boolean }

/** The result of a call whose response only the leader can use. */
export const NOT_SHAREABLE: SharedCallResult = { kind: 'notShareable', failure: null }

/** The failure for subscribers that cannot retry. */
export type CallFailure = ProxyError | ClientDisconnected | UpstreamErrorResponse

/** An upstream's error response, as it is forwarded. */
export interface UpstreamErrorResponse {
  status: number
  /** The upstream's status, if the client receives another. */
  upstreamStatus?: number
  headers: Record<string, string>
  body: Uint8Array | string
}

/** One request's subscription to a call. */
export interface Subscriber {
  /**
   * For live subscribers: resolves to the next events, or to null at the end. Throws the failure that interrupted the stream, or an error
   * if the subscriber was disconnected for reading too slowly.
   */
  read(): Promise<EventChunk | null>
  /** Called after a live subscriber was disconnected to free memory. It has left the call by then. */
  onDisconnected: () => void
  /** Leaves the call. If no subscriber remains, the upstream call is aborted, unless the leader reads it to its end. */
  leave(): void
}

export class SharedCall {
  readonly #memory: StreamMemory
  readonly #abandonedCalls: AbandonedCalls
  /** Created by the first live subscriber or the first event: most calls have neither. */
  #events: EventBuffer | null = null
  readonly #subscribers = new Set<Subscriber>()
  readonly #abort = new AbortController()
  readonly #started = Promise.withResolvers<'stream' | 'settled'>()
  readonly #settled = Promise.withResolvers<SharedCallResult>()
  #isSettled = false
  #hasEvents = false
  /** Subscribers that wait for the complete response. */
  #completeWaiters = 0
  #isResponseDiscarded = false
  /** Set while the call has no subscribers and is read to its end. */
  #abandoned: AbandonedCall | null = null

  constructor(memory: StreamMemory, abandonedCalls = new AbandonedCalls()) {
    this.#memory = memory
    this.#abandonedCalls = abandonedCalls
  }

  /**
   * Set by the leader: whether the upstream is read to its end without subscribers, within the limits of abandoned calls. `hasBegun` is
   * true if an event has arrived.
   */
  canContinueUnsubscribed: (hasBegun: boolean) => boolean = () => false
  /** Returns whether no subscriber remains. The leader calls it. */
  readonly hasNoSubscribers = () => this.#subscribers.size === 0
  /** Aborted with ClientDisconnected when the last subscriber has left, unless the call is read to its end. */
  readonly signal = this.#abort.signal
  /** Resolves when a stream has begun, or when the call has settled without one. */
  readonly started = this.#started.promise
  /** Resolves when the call has settled; never rejects. */
  readonly settled = this.#settled.promise

  /**
   * Subscribes to the call. A `live` subscriber reads events as they arrive, and exerts backpressure; any other waits for the complete
   * response. Returns null if the call is finished, or no longer has all that the subscriber needs.
   */
  subscribe(live: boolean): Subscriber | null {
    if (this.#isSettled || this.#abort.signal.aborted) return null
    if (live ? this.#events?.isReplayable === false : this.#isResponseDiscarded) return null
    const reader = live ? this.#openEvents().openReader(() => cut()) : null
    const subscriber: Subscriber = {
      read: reader ? reader.read : readNothing,
      onDisconnected: () => {},
      leave: () => {
        if (!this.#subscribers.delete(subscriber)) return
        if (!live) this.#completeWaiters--
        if (this.#subscribers.size === 0) this.#abortIfUnused()
        reader?.close()
      },
    }
    function cut(): void {
      subscriber.leave()
      subscriber.onDisconnected()
    }
    this.#subscribers.add(subscriber)
    this.#untrackAbandoned()
    if (!live) this.#completeWaiters++
    return subscriber
  }

  /** Stops retaining the complete response. Returns false if a subscriber waits for it. The leader calls it. */
  discardFullResponse(): boolean {
    this.#isResponseDiscarded ||= this.#completeWaiters === 0
    return this.#isResponseDiscarded
  }

  /** Marks the stream as started. The leader calls it. */
  startStream(): void {
    this.#started.resolve('stream')
  }

  /** Disconnects the live subscribers of a new stream if the stream memory is full. The leader calls it. */
  rejectIfMemoryFull(): void {
    this.#events?.rejectIfMemoryFull()
  }

  /** Forwards events of the leader. Resolves when the leader may continue. */
  push(chunk: EventChunk): Promise<void> {
    this.#hasEvents = true
    this.#abandoned?.addBytes(chunk.bytes.length)
    return this.#openEvents().push(chunk)
  }

  /** Settles the call; later calls have no effect. `failure` is thrown to readers of a partly delivered stream. The leader calls it. */
  settle(settlement: SharedCallResult, failure?: ProxyError): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#untrackAbandoned()
    this.#events?.end(failure)
    this.#started.resolve('settled')
    this.#settled.resolve(settlement)
  }

  #abortIfUnused(): void {
    if (this.#isSettled) return
    if (this.canContinueUnsubscribed(this.#hasEvents))
      this.#abandoned = this.#abandonedCalls.add(() => this.#abortUpstream())
    else this.#abortUpstream()
  }

  #untrackAbandoned(): void {
    this.#abandoned?.end()
    this.#abandoned = null
  }

  #abortUpstream(): void {
    this.#abort.abort(new ClientDisconnected())
  }

  #openEvents(): EventBuffer {
    this.#events ??= new EventBuffer(this.#memory)
    return this.#events
  }
}

async function readNothing(): Promise<null> {
  return null
}

export interface JoinedCall {
  call: SharedCall
  subscriber: Subscriber
  /** Whether this request started the call. It then leads the call, or finds the process that does. */
  isFirst: boolean
}

export class SharedCalls {
  readonly #calls = new Map<string, SharedCall>()
  /** The memory of the calls' streams. */
  readonly memory: StreamMemory

  /** Calls that are read to their end without clients. */
  readonly abandoned: AbandonedCalls

  constructor(memory: StreamMemory, abandoned?: Partial<AbandonedCallLimits>) {
    this.memory = memory
    this.abandoned = new AbandonedCalls(abandoned)
  }

  /**
   * Joins the call in flight, or starts one that later requests can join. Returns null if the call in flight has advanced too far to join.
   */
  join(name: string, live: boolean): JoinedCall | null {
    const existing = this.#calls.get(name)
    const call = existing ?? this.#start(name)
    const subscriber = call.subscribe(live)
    return subscriber && { call, subscriber, isFirst: !existing }
  }

  /** Starts a call that no other request can join. */
  startUnshared(live: boolean): JoinedCall {
    const call = new SharedCall(this.memory, this.abandoned)
    const subscriber = call.subscribe(live)
    if (!subscriber) throw new Error('a new shared call rejected its first subscriber')
    return { call, subscriber, isFirst: true }
  }

  #start(name: string): SharedCall {
    const call = new SharedCall(this.memory, this.abandoned)
    this.#calls.set(name, call)
    void call.settled.then(() => {
      if (this.#calls.get(name) === call) this.#calls.delete(name)
    })
    return call
  }
}
