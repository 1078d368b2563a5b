/** The messages between processes about a call: one letter for the kind, the follower's id, a number, then the payload. */

export const MESSAGE_KINDS = {
  /** To the leader, once: a process wants to follow. The payload names the call and the follower's process. */
  join: 'J',
  /** To the leader: the follower has all messages before this number, and room for more. */
  acknowledge: 'T',
  /** To the leader: a message was lost; those from this number on are to be sent again. */
  resend: 'A',
  /** To the leader: the follower has left, or has the last message. */
  leave: 'L',
  /** To this process itself: what arrives proves that a leader's heartbeat could have arrived, too. */
  echo: 'O',
  /** To the follower: the call is still in flight, and this many messages were sent. */
  heartbeat: 'B',
  // The rest, to the follower, is numbered from 0, so that what is lost or repeated is noticed.
  streamStarted: 'S',
  /** Whole events. */
  events: 'E',
  /** Last: the payload is the complete response as a cache entry. */
  complete: 'C',
  /** Last: the result is of use to the leader only. The payload is one of ENDS. */
  notShareable: 'N',
} as const

/** How a stream ended without a shareable response. */
export const STREAM_ENDS = {
  /** Some events were not delivered. */
  interrupted: 0,
  /** All events were delivered. */
  delivered: 1,
  /** All events were delivered, and they report a failure. */
  failureDelivered: 2,
} as const

export type MessageKind = (typeof MESSAGE_KINDS)[keyof typeof MESSAGE_KINDS]

export interface Message {
  kind: MessageKind
  /** New for each time a process follows: one that left and came back gets no message twice. */
  followerId: string
  /** See KINDS; else 0. */
  number: number
  payload: Uint8Array
}

/** Without its addressee; the number is 0 and the payload empty unless given. */
export type OutgoingMessage = Pick<Message, 'kind'> & Partial<Pick<Message, 'number' | 'payload'>>

const ID_LENGTH = 36
const NUMBER_AT = 1 + ID_LENGTH
const PAYLOAD_AT = NUMBER_AT + 4
const NOTHING = new Uint8Array(0)

export function encodeMessage({
  kind,
  followerId,
  number = 0,
  payload = NOTHING,
}: OutgoingMessage & Pick<Message, 'followerId'>): Uint8Array {
  const bytes = Buffer.allocUnsafe(PAYLOAD_AT + payload.length)
  bytes.write(kind + followerId, 0, 'latin1')
  bytes.writeUInt32LE(number, NUMBER_AT)
  bytes.set(payload, PAYLOAD_AT)
  return bytes
}

/**
 * Returns null for anything that no version of this proxy sends. Copies the payload, because the bytes belong to the connection's buffer.
 */
export function decodeMessage(bytes: Uint8Array): Message | null {
  if (bytes.length < PAYLOAD_AT) return null
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    kind: buffer.toString('latin1', 0, 1) as MessageKind,
    followerId: buffer.toString('latin1', 1, NUMBER_AT),
    number: buffer.readUInt32LE(NUMBER_AT),
    payload: Uint8Array.from(buffer.subarray(PAYLOAD_AT)),
  }
}
