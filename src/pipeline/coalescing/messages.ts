/** Messages between processes about a shared call: one letter for the kind, the follower's id, a number, then the payload. */

export const MESSAGE_KINDS = {
  /** To the leader, once: a process follows the call. The payload names the call and the follower's process. */
  join: 'J',
  /** To the leader: the follower has all messages before this number, and can receive more. */
  acknowledge: 'T',
  /** To the leader: a message was lost. The leader sends those from this number on again. */
  resend: 'A',
  /** To the leader: the follower has left, or has the last message. */
  leave: 'L',
  /** To the sending process itself: its arrival proves that a leader's heartbeat could have arrived, too. */
  echo: 'O',
  /** To the follower: the call is still in flight, and this many messages were sent. */
  heartbeat: 'B',
  // The following messages go to the follower. They are numbered from 0, so that lost and repeated ones are detected.
  streamStarted: 'S',
  /** Complete events. */
  events: 'E',
  /** The last message: the payload is the complete response as a cache entry. */
  complete: 'C',
  /** The last message: only the leader can use the result. The payload is one of STREAM_ENDS. */
  notShareable: 'N',
} as const

/** The ends of a stream without a shareable response. */
export const STREAM_ENDS = {
  /** Some events were not delivered. */
  interrupted: 0,
  /** All events were delivered. */
  delivered: 1,
  /** All events were delivered, and they report a failure. */
  failureDelivered: 2,
  /** As failureDelivered, and a fallback may help. */
  providerFailed: 3,
} as const

export type MessageKind = (typeof MESSAGE_KINDS)[keyof typeof MESSAGE_KINDS]

export interface Message {
  kind: MessageKind
  /** A new id each time a process follows, so that one that left and follows again receives no message twice. */
  followerId: string
  /** See MESSAGE_KINDS; 0 for kinds without a number. */
  number: number
  payload: Uint8Array
}

/** A message to one follower. The number defaults to 0, and the payload is empty by default. */
export type OutgoingMessage = Pick<Message, 'kind'> & Partial<Pick<Message, 'number' | 'payload'>>

const ID_LENGTH = 36
const NUMBER_OFFSET = 1 + ID_LENGTH
const PAYLOAD_OFFSET = NUMBER_OFFSET + 4
const NO_PAYLOAD = new Uint8Array(0)

export function encodeMessage({
  kind,
  followerId,
  number = 0,
  payload = NO_PAYLOAD,
}: OutgoingMessage & Pick<Message, 'followerId'>): Uint8Array {
  const bytes = Buffer.allocUnsafe(PAYLOAD_OFFSET + payload.length)
  bytes.write(kind + followerId, 0, 'latin1')
  bytes.writeUInt32LE(number, NUMBER_OFFSET)
  bytes.set(payload, PAYLOAD_OFFSET)
  return bytes
}

/**
 * Returns null if the bytes are too short for a message. Copies the payload, because the bytes belong to the connection's buffer.
 */
export function decodeMessage(bytes: Uint8Array): Message | null {
  if (bytes.length < PAYLOAD_OFFSET) return null
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    kind: buffer.toString('latin1', 0, 1) as MessageKind,
    followerId: buffer.toString('latin1', 1, NUMBER_OFFSET),
    number: buffer.readUInt32LE(NUMBER_OFFSET),
    payload: Uint8Array.from(buffer.subarray(PAYLOAD_OFFSET)),
  }
}
