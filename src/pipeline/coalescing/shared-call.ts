/** One upstream call that identical requests share: its subscribers, its events so far, and how it ended. */
import type { CachedResponseMatch, CacheEntry } from '../../cache/entry.ts'
import { ClientDisconnected, type ProxyError } from '../../errors/errors.ts'
import type { StreamMemory } from '../../event-loop/stream-memory.ts'
import type { EventChunk } from '../../formats/sse/event-chunk.ts'
import { type AbandonedCall, type AbandonedCallLimits, AbandonedCalls } from './abandoned-calls.ts'
import { EventBuffer } from './event-buffer.ts'

/** How a call ended, for everyone who shares it. */
export type SharedCallResult =
  /** A cache entry was found before any request to the upstream. */
  | { kind: 'cached'; match: CachedResponseMatch }
  /** A complete response that every subscriber may get. */
  | { kind: 'complete'; entry: CacheEntry }
  /** Of use to the leader only: a failure, also one reported inside the stream, or (null) an incomplete response. */
  | { kind: 'notShareable'; failure: CallFailure | null }

/** The failure for subscribers that cannot try again. */
export type CallFailure = ProxyError | ClientDisconnected | UpstreamErrorResponse

/** An upstream's error, ready to be passed on. */
export interface UpstreamErrorResponse {
  status: number
  /** The upstream's own, where the client gets another. */
  upstreamStatus?: number
  headers: Record<string, string>
  body: Uint8Array | string
}

/** One request's place in a call. */
export interface Subscriber {
  /**
   * For live subscribers: the next events; null at the end. Throws the failure that broke the stream off, or, of a subscriber that was cut
   * off, that it reads too slowly.
   */
  read(): Promise<EventChunk | null>
  /** Called when a live subscriber is cut off, because others need the memory: it has left then. */
  onDisconnected: () => void
  /** Leaves the call. The last subscriber to leave aborts the upstream call, unless the call reads on. */
  leave(): void
}

export class SharedCall {
  readonly #room: StreamMemory
  readonly #abandonedCalls: AbandonedCalls
  /** From the first live subscriber, or the first event: most calls have neither. */
  #events: EventBuffer | null = null
  readonly #subscribers = new Set<Subscriber>()
  readonly #abort = new AbortController()
  readonly #started = Promise.withResolvers<'stream' | 'settled'>()
  readonly #settled = Promise.withResolvers<SharedCallResult>()
  #isOver = false
  #hasBegun = false
  /** How many wait for the whole response. */
  #wholeWaiting = 0
  #isGivenUp = false
  /** While nobody listens, and the call is read on. */
  #abandoned: AbandonedCall | null = null

  constructor(room: StreamMemory, abandonedCalls = new AbandonedCalls()) {
    this.#room = room
    this.#abandonedCalls = abandonedCalls
  }

  /**
   * For the leader: whether the upstream is read on, within the limits of abandoned calls, although nobody listens any more. `hasBegun`: an event
   * has come.
   */
  canContinueUnsubscribed: (hasBegun: boolean) => boolean = () => false
  /** For the leader: whether nobody listens any more. */
  readonly hasNoSubscribers = () => this.#subscribers.size === 0
  /** Aborted with ClientDisconnected when the last subscriber has left, unless the call reads on. */
  readonly signal = this.#abort.signal
  /** Resolves when a stream has begun, or when the call has settled without one. */
  readonly started = this.#started.promise
  /** Resolves when the call has settled; never rejects. */
  readonly settled = this.#settled.promise

  /**
   * Returns null when what it wants is gone already. A `live` subscriber reads events as they come, and takes part in backpressure; any other
   * waits for the whole response.
   */
  subscribe(live: boolean): Subscriber | null {
    if (this.#isOver || this.#abort.signal.aborted) return null
    if (live ? this.#events?.isReplayable === false : this.#isGivenUp) return null
    const reader = live ? this.#openEvents().openReader(() => cut()) : null
    const subscriber: Subscriber = {
      read: reader ? reader.read : noEvents,
      onDisconnected: () => {},
      leave: () => {
        if (!this.#subscribers.delete(subscriber)) return
        if (!live) this.#wholeWaiting--
        if (this.#subscribers.size === 0) this.#endUnheard()
        reader?.close()
      },
    }
    function cut(): void {
      subscriber.leave()
      subscriber.onDisconnected()
    }
    this.#subscribers.add(subscriber)
    this.#endAbandoned()
    if (!live) this.#wholeWaiting++
    return subscriber
  }

  /** For the leader: it will not keep the whole response, which can then not be waited for. Returns false if somebody does. */
  discardFullResponse(): boolean {
    this.#isGivenUp ||= this.#wholeWaiting === 0
    return this.#isGivenUp
  }

  /** For the leader: the stream has begun. */
  startStream(): void {
    this.#started.resolve('stream')
  }

  /** For the leader of a new stream: cuts its live subscribers off where the room is full. */
  rejectIfMemoryFull(): void {
    this.#events?.rejectIfMemoryFull()
  }

  /** For the leader: passes events on; resolves when there is room for more. */
  push(lump: EventChunk): Promise<void> {
    this.#hasBegun = true
    this.#abandoned?.addBytes(lump.bytes.length)
    return this.#openEvents().push(lump)
  }

  /** For the leader: ends the call; only the first call counts. `failure` breaks the stream off for readers that got a part of it. */
  settle(settlement: SharedCallResult, failure?: ProxyError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#endAbandoned()
    this.#events?.end(failure)
    this.#started.resolve('settled')
    this.#settled.resolve(settlement)
  }

  #endUnheard(): void {
    if (this.#isOver) return
    if (this.canContinueUnsubscribed(this.#hasBegun)) this.#abandoned = this.#abandonedCalls.add(() => this.#giveUp())
    else this.#giveUp()
  }

  #endAbandoned(): void {
    this.#abandoned?.end()
    this.#abandoned = null
  }

  #giveUp(): void {
    this.#abort.abort(new ClientDisconnected())
  }

  #openEvents(): EventBuffer {
    this.#events ??= new EventBuffer(this.#room)
    return this.#events
  }
}

async function noEvents(): Promise<null> {
  return null
}

export interface JoinedCall {
  call: SharedCall
  subscriber: Subscriber
  /** Whether this request started the call. It then has to lead, or to find the process that does. */
  isFirst: boolean
}

export class SharedCalls {
  readonly #calls = new Map<string, SharedCall>()
  /** The memory of their streams. */
  readonly memory: StreamMemory

  /** Those that are read on without clients. */
  readonly abandoned: AbandonedCalls

  constructor(memory: StreamMemory, abandoned?: Partial<AbandonedCallLimits>) {
    this.memory = memory
    this.abandoned = new AbandonedCalls(abandoned)
  }

  /**
   * Joins the call in flight, else starts one that later requests find. Returns null when the call in flight is too far on to be joined.
   */
  join(name: string, live: boolean): JoinedCall | null {
    const underWay = this.#calls.get(name)
    const call = underWay ?? this.#start(name)
    const subscriber = call.subscribe(live)
    return subscriber && { call, subscriber, isFirst: !underWay }
  }

  /** Starts a call that no other request can join. */
  startUnshared(live: boolean): JoinedCall {
    const call = new SharedCall(this.memory, this.abandoned)
    const subscriber = call.subscribe(live)
    if (!subscriber) throw new Error('A new call takes its first subscriber')
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
