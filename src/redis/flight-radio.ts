/** How processes tell each other of the upstream calls they lead: claims with a lifetime, and messages from process to process. */
import { createTimeLimit } from '../event-loop/time-limit.ts'
import { connectRedis, type RedisConnection } from './connect-redis.ts'

/** Who leads a flight. */
export interface Claim {
  /** The leading process. */
  station: string
  flightId: string
}

/** `other`: who made the claim before; null when it is ours now. `entry`: as it was right after the claim was made. */
export type ClaimReply = { other: Claim } | { other: null; entry: Uint8Array | null }

export interface FlightRadio {
  /** This process's own name. */
  readonly station: string
  /** Claims a flight for this process, and reads the exact entry that an earlier one may have left. Rejects when Redis is out of reach. */
  claim(name: string, flightId: string, entryName: string): Promise<ClaimReply>
  /** Makes a claim of ours last on. */
  renew(name: string): Promise<void>
  /** Gives up a claim, if it still is that one. */
  release(name: string, claim: Claim): Promise<void>
  /** Sends bytes to a process, in order; resolves to whether it was there to hear them. */
  send(station: string, message: Uint8Array): Promise<boolean>
  /** Sets who hears what is sent to this process. */
  listen(onMessage: (message: Uint8Array) => void): void
  /** Stops listening. */
  close(): Promise<void>
}

/** A leader that died is taken to be gone after this long; a living one renews its claim. */
const CLAIM_LIFETIME_MS = 10_000

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

/** Without an answer by then, a process goes its own way. */
const TIME_LIMIT_MS = 300

/** Sends on `redis`, which stays its owner's: claims travel with the store's commands. Listens at `url`, which leads to the same. */
export function openFlightRadio(redis: RedisConnection, url: string): FlightRadio {
  const station = crypto.randomUUID()
  const inTime = createTimeLimit(TIME_LIMIT_MS)
  // A connection that listens can do nothing else.
  const ear = connectRedis(url, { listens: true })
  let onMessage: (message: Uint8Array) => void = () => {}
  ear.on('messageBuffer', (_: Buffer, message: Buffer) => onMessage(message))
  ear.subscribe(channelOf(station)).catch(() => {})

  return {
    station,
    async claim(name, flightId, entryName) {
      // One pipeline, in this order: both names have the project's hash tag.
      const claiming = redis.set(name, `${station} ${flightId}`, 'PX', CLAIM_LIFETIME_MS, 'NX')
      const [claimed, entry] = await inTime(Promise.all([claiming, redis.getBuffer(entryName)]))
      if (claimed === 'OK') return { other: null, entry }
      const [other = '', otherFlight = ''] = ((await inTime(redis.get(name))) ?? '').split(' ')
      return { other: { station: other, flightId: otherFlight } }
    },
    async renew(name) {
      await inTime(redis.pexpire(name, CLAIM_LIFETIME_MS))
    },
    async release(name, claim) {
      await inTime(redis.eval(RELEASE, 1, name, `${claim.station} ${claim.flightId}`))
    },
    async send(to, message) {
      const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
      return (await inTime(redis.publish(channelOf(to), bytes))) > 0
    },
    listen(handler) {
      onMessage = handler
    },
    async close() {
      ear.disconnect()
    },
  }
}

function channelOf(station: string): string {
  return `mp:station:${station}`
}
