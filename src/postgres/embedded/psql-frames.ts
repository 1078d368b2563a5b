/**
 * Splits the bytes of a psql session into messages of PostgreSQL's protocol.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */

export type ProtocolFrame =
  /** A request for encryption. The server declines it with one byte. */
  | { kind: 'encryption' }
  | { kind: 'cancel' }
  | { kind: 'startup'; bytes: Buffer }
  | { kind: 'message'; type: string; bytes: Buffer }

export interface FrameReader {
  /** Returns the complete messages of a chunk. Incomplete ones wait for the next chunk. Throws on an invalid message. */
  read(chunk: Buffer): ProtocolFrame[]
}

const MAX_FRAME_BYTES = 64 * 1024 * 1024
const CANCEL_CODE = 80877102
const SSL_CODE = 80877103
const GSS_CODE = 80877104
const PROTOCOL_MAJOR = 3

export function createFrameReader(): FrameReader {
  let rest: Buffer = Buffer.alloc(0)
  let hasStarted = false

  function next(): ProtocolFrame | null {
    const lengthAt = hasStarted ? 1 : 0
    if (rest.length < lengthAt + 4) return null
    const size = lengthAt + rest.readInt32BE(lengthAt)
    if (size < (hasStarted ? 5 : 8) || size > MAX_FRAME_BYTES) throw new Error('invalid message length')
    if (rest.length < size) return null
    const bytes = rest.subarray(0, size)
    rest = rest.subarray(size)
    if (hasStarted) return { kind: 'message', type: String.fromCharCode(bytes[0] ?? 0), bytes }
    const frame = readOpening(bytes)
    hasStarted = frame.kind === 'startup'
    return frame
  }

  return {
    read(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const frames: ProtocolFrame[] = []
      for (let frame = next(); frame; frame = next()) frames.push(frame)
      return frames
    },
  }
}

/** Reads one of a connection's first messages, which have a code instead of a type byte. */
function readOpening(bytes: Buffer): ProtocolFrame {
  const code = bytes.readInt32BE(4)
  if (code === SSL_CODE || code === GSS_CODE) return { kind: 'encryption' }
  if (code === CANCEL_CODE) return { kind: 'cancel' }
  if (code >>> 16 !== PROTOCOL_MAJOR) throw new Error('unsupported protocol version')
  return { kind: 'startup', bytes }
}

export const SYNC_MESSAGE = encodeMessage('S', '')

/** Encodes a message that ends COPY FROM STDIN with an error. PostgreSQL ignores it if no COPY is running. */
export function encodeCopyFail(reason: string): Buffer {
  return encodeMessage('f', `${reason}\0`)
}

/** Encodes a step of authentication: https://www.postgresql.org/docs/current/sasl-authentication.html */
export function encodeAuthentication(step: number, content: string): Buffer {
  const code = Buffer.alloc(4)
  code.writeInt32BE(step)
  return encodeMessage('R', Buffer.concat([code, Buffer.from(content)]))
}

/** Encodes an error after which the server closes the connection. */
export function encodeFatalError(sqlState: string, message: string): Buffer {
  return encodeMessage('E', `SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`)
}

function encodeMessage(type: string, content: string | Buffer): Buffer {
  const body = typeof content === 'string' ? Buffer.from(content) : content
  const head = Buffer.alloc(5)
  head.write(type, 0, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
