/** How processes tell each other of the upstream calls they lead: claims with a lifetime, and messages from process to process. */
import { connectRedis } from './connect-redis.ts'

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
  close(): Promise<void>
}

/** A leader that died is taken to be gone after this long; a living one renews its claim. */
const CLAIM_LIFETIME_MS = 10_000

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

export function openFlightRadio(url: string): FlightRadio {
  const station = crypto.randomUUID()
  const redis = connectRedis(url)
  // A connection that listens can do nothing else.
  const ear = connectRedis(url, { listens: true })
  for (const connection of [redis, ear]) connection.on('error', () => {})
  let onMessage: (message: Uint8Array) => void = () => {}
  ear.on('messageBuffer', (_: Buffer, message: Buffer) => onMessage(message))
  ear.subscribe(channelOf(station)).catch(() => {})

  return {
    station,
    async claim(name, flightId, entryName) {
      // One pipeline, in this order: both names have the project's hash tag.
      const [claimed, entry] = await Promise.all([
        redis.set(name, `${station} ${flightId}`, 'PX', CLAIM_LIFETIME_MS, 'NX'),
        redis.getBuffer(entryName),
      ])
      if (claimed === 'OK') return { other: null, entry }
      const [other = '', otherFlight = ''] = ((await redis.get(name)) ?? '').split(' ')
      return { other: { station: other, flightId: otherFlight } }
    },
    async renew(name) {
      await redis.pexpire(name, CLAIM_LIFETIME_MS)
    },
    async release(name, claim) {
      await redis.eval(RELEASE, 1, name, `${claim.station} ${claim.flightId}`)
    },
    async send(to, message) {
      return (
        (await redis.publish(channelOf(to), Buffer.from(message.buffer, message.byteOffset, message.byteLength))) > 0
      )
    },
    listen(handler) {
      onMessage = handler
    },
    async close() {
      redis.disconnect()
      ear.disconnect()
    },
  }
}

function channelOf(station: string): string {
  return `mp:station:${station}`
}
