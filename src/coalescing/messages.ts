/** What processes tell each other about a call: one letter for the kind, the follower's id, a number, then the payload. */

export const KINDS = {
  /** To the leader, once: a process wants to follow. The payload names the call and where to send. */
  join: 'J',
  /** To the leader: so many bytes of the stream have been taken. */
  taken: 'T',
  /** To the leader: nobody listens there any more. */
  leave: 'L',
  /** To the follower: the call is under way. */
  heartbeat: 'B',
  streamStarted: 'S',
  /** To the follower: whole events. The number counts them from 0, so that none can be lost unnoticed. */
  events: 'E',
  /** To the follower, last: the payload is the complete answer as a cache entry. */
  complete: 'C',
  /** To the follower, last: nothing for anybody but the leader. The number is one of ENDS. */
  notShareable: 'N',
} as const

/** What a stream was that ended without an answer fit for everybody. */
export const ENDS = {
  /** Not all of it was told. */
  brokenOff: 0,
  /** All that there is was told. */
  told: 1,
  /** All was told, and that it is a failure. */
  toldToHaveFailed: 2,
} as const

export type Kind = (typeof KINDS)[keyof typeof KINDS]

export interface Message {
  kind: Kind
  /** Made by the follower for this one time: a process that left and came back hears nothing twice. */
  followerId: string
  /** Position of events, bytes taken, or how it ended; else 0. */
  number: number
  payload: Uint8Array
}

const ID_LENGTH = 36
const NUMBER_AT = 1 + ID_LENGTH
const PAYLOAD_AT = NUMBER_AT + 4
const NOTHING = new Uint8Array(0)

export function encodeMessage({
  kind,
  followerId,
  number = 0,
  payload = NOTHING,
}: Omit<Message, 'number' | 'payload'> & Partial<Message>): Uint8Array {
  const bytes = Buffer.allocUnsafe(PAYLOAD_AT + payload.length)
  bytes.write(kind + followerId, 0, 'latin1')
  bytes.writeUInt32LE(number, NUMBER_AT)
  bytes.set(payload, PAYLOAD_AT)
  return bytes
}

/** Null for what no version of ours would send. The payload is copied: the bytes lie in the connection's own buffer. */
export function decodeMessage(bytes: Uint8Array): Message | null {
  if (bytes.length < PAYLOAD_AT) return null
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    kind: buffer.toString('latin1', 0, 1) as Kind,
    followerId: buffer.toString('latin1', 1, NUMBER_AT),
    number: buffer.readUInt32LE(NUMBER_AT),
    payload: Uint8Array.from(buffer.subarray(PAYLOAD_AT)),
  }
}
