/** Who shares which upstream call: a request boards the flight that is under way for the same request, else one that departs with it. */

import type { Cache, Lookup, Match } from '../cache/cache.ts'
import type { CacheControl } from '../cache/cache-control.ts'
import type { Question } from '../cache/question.ts'
import { flightName } from '../stores/fast-store.ts'
import { createFlight, type Flight, type Seat } from './flight.ts'
import type { Lead, RemoteFlights } from './remote-flights.ts'

export interface Boarded {
  flight: Flight
  seat: Seat
  /** Null on a flight that was under way. */
  departure: Departure | null
}

/** What a flight of this process's own waits for before it is known to be needed, and to be led from here. */
export interface Departure {
  claiming: Promise<Lead>
  /** Null where looking costs money: it then waits for the claim. */
  looking: Promise<Lookup> | null
}

export interface Boarding {
  /** A seat for the request; null where it has to go alone. */
  board(question: Question, stream: boolean): Boarded | null
}

export interface BoardingOptions {
  cache: Cache
  remoteFlights: RemoteFlights
}

export function createBoarding({ cache, remoteFlights }: BoardingOptions): Boarding {
  const flights = new Map<string, Flight>()

  /** From now on, identical requests find it. */
  function startFlight(name: string): Flight {
    const flight = createFlight()
    flights.set(name, flight)
    void flight.landed.then(() => {
      if (flights.get(name) === flight) flights.delete(name)
    })
    return flight
  }

  return {
    board(question, stream) {
      if (!mayShare(question.control)) return null
      const name = nameFlight(question)
      const underWay = flights.get(name)
      const flight = underWay ?? startFlight(name)
      const seat = flight.board(stream)
      if (!seat) return null
      if (underWay) return { flight, seat, departure: null }
      // Both at once. What another process lands between the two is no miss: the claim brings it along.
      const claiming = remoteFlights.claimLead(name, flight, question.entryName)
      const looking = cache.findsForFree ? cache.find(question) : null
      return { flight, seat, departure: { claiming, looking } }
    },
  }
}

/** A flight that nobody else hears of. */
export function boardAlone(stream: boolean): Pick<Boarded, 'flight' | 'seat'> {
  const flight = createFlight()
  return { flight, seat: flight.board(stream) as Seat }
}

/** Gives up a seat that turned out not to be needed, or not to be had. Whoever boarded behind it gets the match, or tries for himself. */
export function disembark({ flight, seat, departure }: Boarded, match: Match | null = null): void {
  seat.leave()
  if (departure) flight.land(match ? { kind: 'match', match } : { kind: 'unshared', failed: null })
}

/** Who wants a fresh answer, or leaves none behind, or would not wait for one, goes alone. */
function mayShare(control: CacheControl): boolean {
  return control.lookup && control.store && !control.onlyIfCached
}

/** Requests of one name take the same answer: identical ones that would also accept the same stored answers. */
function nameFlight({ account, requestHash, control }: Question): string {
  const { project_id, cache_generation } = account
  return flightName(
    project_id,
    cache_generation,
    `${requestHash}:${control.threshold ?? ''}:${control.maxAgeSeconds ?? ''}`,
  )
}
