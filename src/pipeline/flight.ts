/** One upstream call that identical requests share: what has come of it so far, who listens, and how it ended. */

import type { Match } from '../cache/cache.ts'
import type { CacheEntry } from '../cache/entry.ts'
import type { ProxyError } from '../errors.ts'
import { ClientGone, type ProxyResponse } from './exchange.ts'

/** What a flight came to. */
export type Landing =
  /** A stored answer was found before anybody called upstream. */
  | { kind: 'match'; match: Match }
  /** A whole answer, fit for everybody. */
  | { kind: 'whole'; entry: CacheEntry }
  /** Nothing for anybody but the leader: an error, or (null) an answer that is not whole. */
  | { kind: 'unshared'; failed: FailedAnswer | null }

/** What those that cannot try for themselves any more are told. */
export type FailedAnswer = ProxyError | ClientGone | Pick<ProxyResponse, 'status' | 'headers' | 'body'>

/** Upstream is read no further ahead of the fastest listener than this. */
const READ_AHEAD_BYTES = 1024 * 1024
/** Longer streams take nobody else on board, and forget what everybody has read. */
const REPLAYABLE_BYTES = 1024 * 1024

export interface Flight {
  /** Aborted when the last listener has left. */
  readonly signal: AbortSignal
  /** Resolves when a stream has begun, or when the flight has landed without one. */
  readonly opened: Promise<'stream' | 'landed'>
  /** Resolves when it is over; never rejects. */
  readonly landed: Promise<Landing>
  /** A seat for one more listener; null where it came too late to hear all. `live`: it reads chunks, and sets the pace with others. */
  board(live: boolean): Seat | null
  /** For the leader: the stream has begun. */
  openStream(): void
  /** For the leader: passes a chunk on; resolves when there is room for more. */
  push(chunk: Uint8Array): Promise<void>
  /** For the leader: it is over. `failure` is told to those who already heard a part. */
  land(landing: Landing, failure?: ProxyError): void
}

/** One listener's place. */
export interface Seat {
  /** The next chunk; null at the end. Throws the failure that broke the stream off. */
  read(): Promise<Uint8Array | null>
  /** Gives the place up. The last to leave ends the upstream call. */
  leave(): void
}

export function createFlight(): Flight {
  const abort = new AbortController()
  const opened = Promise.withResolvers<'stream' | 'landed'>()
  const landed = Promise.withResolvers<Landing>()
  const seats = new Set<{ at: number; live: boolean }>()
  let chunks: Uint8Array[] = []
  /** Chunks forgotten in front of `chunks`. */
  let forgotten = 0
  let pushedBytes = 0
  let furthestRead = 0
  let unreadBytes = 0
  let over = false
  let failure: ProxyError | undefined
  let waiting: (() => void)[] = []
  let waitingForRoom: (() => void) | null = null

  function wakeAll(): void {
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }

  function forgetRead(): void {
    const positions = Array.from(seats, seat => (seat.live ? seat.at : Number.POSITIVE_INFINITY))
    const least = Math.min(forgotten + chunks.length, ...positions)
    if (least - forgotten < 64) return
    chunks = chunks.slice(least - forgotten)
    forgotten = least
  }

  function noteRead(at: number, bytes: number): void {
    if (at <= furthestRead) return
    furthestRead = at
    unreadBytes -= bytes
    if (unreadBytes < READ_AHEAD_BYTES) makeRoom()
  }

  function makeRoom(): void {
    waitingForRoom?.()
    waitingForRoom = null
  }

  return {
    signal: abort.signal,
    opened: opened.promise,
    landed: landed.promise,

    board(live) {
      if (over || abort.signal.aborted || forgotten > 0 || pushedBytes > REPLAYABLE_BYTES) return null
      const seat = { at: 0, live }
      seats.add(seat)
      return {
        async read() {
          for (;;) {
            const chunk = chunks[seat.at - forgotten]
            if (chunk) {
              seat.at++
              noteRead(seat.at, chunk.length)
              if (pushedBytes > REPLAYABLE_BYTES) forgetRead()
              return chunk
            }
            if (failure) throw failure
            if (over) return null
            await new Promise<void>(resolve => waiting.push(resolve))
          }
        },
        leave() {
          if (!seats.delete(seat)) return
          if (seats.size === 0 && !over) abort.abort(new ClientGone())
          makeRoom()
        },
      }
    },

    openStream: () => opened.resolve('stream'),

    push(chunk) {
      chunks.push(chunk)
      pushedBytes += chunk.length
      unreadBytes += chunk.length
      wakeAll()
      // Those who wait for the whole answer alone have room for all of it.
      const paced = unreadBytes >= READ_AHEAD_BYTES && Array.from(seats).some(seat => seat.live)
      if (!paced) return ROOM
      return new Promise<void>(resolve => {
        waitingForRoom = resolve
      })
    },

    land(landing, error) {
      over = true
      failure = error
      opened.resolve('landed')
      landed.resolve(landing)
      wakeAll()
    },
  }
}

const ROOM = Promise.resolve()
