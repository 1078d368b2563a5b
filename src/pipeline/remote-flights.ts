/** Flights across processes: leads are claimed, and what is heard of another process's flight makes a flight here as well. */
import { decodeEntry, encodeEntry } from '../cache/entry.ts'
import { ProxyError } from '../errors.ts'
import type { Claim, ClaimReply, FlightRadio } from '../redis/flight-radio.ts'
import type { Flight, Landing, Seat } from './flight.ts'

export interface RemoteFlights {
  /** Claims the lead of a flight for this process. Never rejects: out of each other's reach, every process leads for itself. */
  claimLead(name: string, flight: Flight, entryName: string): Promise<Lead>
}

export type Lead =
  /** Another process has it, and `flight` is going to be what is heard of its flight. */
  | { isOurs: false }
  /** `flight` can be heard by others until it lands. `entry`: what an earlier flight, landed since admission, has left. */
  | { isOurs: true; entry: Uint8Array | null }

/**
 * One letter in front of each message says what it is; an id follows, then the payload. The leader is told the flight's id, once,
 * and the id under which the listener wants to hear of it: a process that left and came back hears nothing twice.
 */
const JOIN = 'J'
const LEAVE = 'L'
const OPENED = 'O'
const CHUNK = 'C'
const BEAT = 'B'
const WHOLE = 'W'
const UNSHARED = 'U'
const UNKNOWN = 'N'

const ID_LENGTH = 36
const BEAT_EVERY_MS = 1_000
/** A leader that is not heard for this long is taken to be gone. */
const SILENCE_LIMIT_MS = 3_000

interface Followed {
  flight: Flight
  silence: ReturnType<typeof setTimeout>
}

/** Without a radio, every lead is ours. */
export function createRemoteFlights(radio: FlightRadio | null): RemoteFlights {
  if (!radio) return { claimLead: async () => ({ isOurs: true, entry: null }) }
  const air = radio
  const led = new Map<string, Flight>()
  /** By the id of whoever listens there. */
  const relays = new Map<string, Seat>()
  /** By the id under which this process listens. */
  const followed = new Map<string, Followed>()

  function send(station: string, kind: string, id: string, payload?: Uint8Array): Promise<boolean> {
    return air.send(station, Buffer.concat([Buffer.from(kind + id), payload ?? EMPTY])).catch(() => false)
  }

  air.listen(message => {
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
    const kind = bytes.toString('latin1', 0, 1)
    const id = bytes.toString('latin1', 1, 1 + ID_LENGTH)
    const payload = bytes.subarray(1 + ID_LENGTH)
    if (kind === JOIN) {
      const [listenerId = '', station = ''] = payload.toString('latin1').split(' ')
      void relay(id, listenerId, station)
    } else if (kind === LEAVE) endRelay(id)
    else hear(kind, id, payload)
  })

  /** Tells another process of a flight that is led here: from its first byte, live, to its end. */
  async function relay(flightId: string, listenerId: string, station: string): Promise<void> {
    const flight = led.get(flightId)
    const seat = flight?.board(true)
    if (!flight || !seat) {
      await send(station, UNKNOWN, listenerId)
      return
    }
    relays.set(listenerId, seat)
    const isHeard = () => relays.has(listenerId)
    const beat = setInterval(() => send(station, BEAT, listenerId), BEAT_EVERY_MS)
    try {
      await send(station, BEAT, listenerId)
      if ((await flight.opened) === 'stream' && isHeard()) {
        await send(station, OPENED, listenerId)
        for (let chunk = await seat.read(); chunk && isHeard(); chunk = await seat.read()) {
          if (!(await send(station, CHUNK, listenerId, chunk))) endRelay(listenerId)
        }
      }
      const landing = await flight.landed
      if (isHeard()) await sendLanding(station, listenerId, landing)
    } catch {
      await send(station, UNSHARED, listenerId)
    } finally {
      clearInterval(beat)
      endRelay(listenerId)
    }
  }

  function endRelay(listenerId: string): void {
    relays.get(listenerId)?.leave()
    relays.delete(listenerId)
  }

  async function sendLanding(station: string, listenerId: string, landing: Landing): Promise<void> {
    if (landing.kind === 'whole') await send(station, WHOLE, listenerId, encodeEntry(landing.entry))
    // A stored answer is found by the other process itself; a failure is its own to try again.
    else await send(station, UNSHARED, listenerId)
  }

  function hear(kind: string, listenerId: string, payload: Buffer): void {
    const following = followed.get(listenerId)
    if (!following) return
    const { flight } = following
    following.silence.refresh()
    if (kind === OPENED) flight.openStream()
    // Copied: the bytes lie in the connection's own buffer.
    else if (kind === CHUNK) void flight.push(Uint8Array.from(payload))
    else if (kind === WHOLE) {
      const entry = decodeEntry(Uint8Array.from(payload))
      land(listenerId, entry ? { kind: 'whole', entry } : { kind: 'unshared', failed: null })
    } else if (kind === UNSHARED || kind === UNKNOWN) land(listenerId, { kind: 'unshared', failed: null })
  }

  function land(listenerId: string, landing: Landing): void {
    const following = followed.get(listenerId)
    if (!following) return
    followed.delete(listenerId)
    clearTimeout(following.silence)
    following.flight.land(landing, landing.kind === 'whole' ? undefined : brokenOff())
  }

  /** Resolves to whether the leader's process was there to hear of it. */
  async function follow(name: string, flight: Flight, claim: Claim): Promise<boolean> {
    const { station, flightId } = claim
    const listenerId = crypto.randomUUID()
    const silence = setTimeout(() => {
      void air.release(name, claim).catch(() => {})
      land(listenerId, { kind: 'unshared', failed: null })
    }, SILENCE_LIMIT_MS)
    followed.set(listenerId, { flight, silence })
    const joined = await send(station, JOIN, flightId, Buffer.from(`${listenerId} ${air.station}`))
    if (!joined) {
      clearTimeout(silence)
      followed.delete(listenerId)
      return false
    }
    const leave = () => flight.land({ kind: 'unshared', failed: null })
    if (flight.signal.aborted) leave()
    else flight.signal.addEventListener('abort', leave)
    // Over before its leader said so: nobody listens here any more.
    void flight.landed.then(() => {
      if (!followed.delete(listenerId)) return
      clearTimeout(silence)
      void send(station, LEAVE, listenerId)
    })
    return true
  }

  function lead(name: string, flight: Flight, flightId: string): void {
    led.set(flightId, flight)
    const renewal = setInterval(() => air.renew(name).catch(() => {}), SILENCE_LIMIT_MS)
    void flight.landed.then(() => {
      clearInterval(renewal)
      led.delete(flightId)
      return air.release(name, { station: air.station, flightId }).catch(() => {})
    })
  }

  return {
    async claimLead(name, flight, entryName) {
      const flightId = crypto.randomUUID()
      const reply = await air.claim(name, flightId, entryName).catch(() => UNHEARD)
      const { other } = reply
      if (other && other.station !== '') {
        if (await follow(name, flight, other)) return { isOurs: false }
        // The process that made the claim has died.
        await air.release(name, other).catch(() => {})
      }
      lead(name, flight, flightId)
      return { isOurs: true, entry: reply.other ? null : reply.entry }
    },
  }
}

const EMPTY = new Uint8Array(0)
const UNHEARD: ClaimReply = { other: null, entry: null }

function brokenOff(): ProxyError {
  return new ProxyError({ status: 502, code: 'upstream_error', message: 'The upstream broke off its answer.' })
}
