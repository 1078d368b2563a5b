/** One upstream call that identical requests share: who listens, what has come of it so far, and how it ended. */

import type { CacheEntry } from '../cache/entry.ts'
import type { Match } from '../cache/match.ts'
import { ClientGone, type ProxyError } from '../errors.ts'
import type { EventLump } from '../openai-format/event-lump.ts'
import { EventBuffer } from './event-buffer.ts'

/** How a call ended, for all who share it. */
export type Settlement =
  /** A stored answer was found before anybody called upstream. */
  | { kind: 'cached'; match: Match }
  /** A complete answer, fit for everybody. */
  | { kind: 'complete'; entry: CacheEntry }
  /** Nothing for anybody but the leader: a failure, be it told in the stream's own words, or (null) an answer that is not complete. */
  | { kind: 'notShareable'; failure: CallFailure | null }

/** What those are told who cannot try for themselves any more. */
export type CallFailure = ProxyError | ClientGone | ErrorResponse

/** An upstream's own error, fit to be passed on. */
export interface ErrorResponse {
  status: number
  headers: Record<string, string>
  body: Uint8Array | string
}

/** One request's part in a call. */
export interface Subscriber {
  /** The next events; null at the end. Throws the failure that broke the stream off. For live subscribers. */
  read(): Promise<EventLump | null>
  /** Gives the place up. The last to leave ends the upstream call. */
  leave(): void
}

export class SharedCall {
  readonly #events = new EventBuffer()
  readonly #subscribers = new Set<Subscriber>()
  readonly #abort = new AbortController()
  readonly #started = Promise.withResolvers<'stream' | 'settled'>()
  readonly #settled = Promise.withResolvers<Settlement>()
  #isOver = false

  /** Aborted, with a ClientGone, when the last subscriber has left. */
  readonly signal = this.#abort.signal
  /** Resolves when a stream has begun, or when the call has settled without one. */
  readonly started = this.#started.promise
  /** Resolves when it is over; never rejects. */
  readonly settled = this.#settled.promise

  /** Null where it is too late to hear all. `live`: reads events as they come, and sets the pace with others. */
  subscribe(live: boolean): Subscriber | null {
    if (this.#isOver || this.#abort.signal.aborted || !this.#events.isReplayable) return null
    const reader = live ? this.#events.openReader() : null
    const subscriber: Subscriber = {
      read: async () => (reader ? reader.read() : null),
      leave: () => {
        if (!this.#subscribers.delete(subscriber)) return
        if (this.#subscribers.size === 0 && !this.#isOver) this.#abort.abort(new ClientGone())
        reader?.close()
      },
    }
    this.#subscribers.add(subscriber)
    return subscriber
  }

  /** For the leader: the stream has begun. */
  startStream(): void {
    this.#started.resolve('stream')
  }

  /** For the leader: passes events on; resolves when there is room for more. */
  push(lump: EventLump): Promise<void> {
    return this.#events.push(lump)
  }

  /** For the leader: it is over; only the first call counts. `failure` breaks the stream off for those who heard a part. */
  settle(settlement: Settlement, failure?: ProxyError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#events.end(failure)
    this.#started.resolve('settled')
    this.#settled.resolve(settlement)
  }
}
