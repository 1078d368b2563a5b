/** A client on a bare socket that reads only on demand, so unread data stays in the buffers before it. */
import { connect, type Socket } from 'node:net'

export interface RawClient {
  /** Bytes read so far, including the head. */
  readonly readBytes: number
  /** The last of these bytes. */
  readonly tail: string
  /** The connection is closed. */
  readonly isClosed: boolean
  /** Reads from now on until the end of the body. */
  readAll(): Promise<void>
  leave(): void
}

/** Sends the request without reading its response. */
export async function sendWithoutReading(
  port: number,
  key: string,
  body: Record<string, unknown>,
  path = '/chat/completions',
): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1')
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  socket.pause()
  const text = JSON.stringify(body)
  const head = [
    `POST /v1${path} HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${text}`)
  return readOnDemand(socket)
}

const LAST_CHUNK = '\r\n0\r\n\r\n'
const TAIL_BYTES = 2_000

function readOnDemand(socket: Socket): RawClient {
  let readBytes = 0
  let tail = ''
  const ended = Promise.withResolvers<void>()
  socket.on('data', bytes => {
    readBytes += bytes.length
    tail = (tail + bytes.subarray(-TAIL_BYTES).toString('latin1')).slice(-TAIL_BYTES)
    if (tail.endsWith(LAST_CHUNK)) ended.resolve()
  })
  let isClosed = false
  socket.once('close', () => {
    isClosed = true
  })
  socket.once('close', () => ended.reject(new Error('the connection was closed in the middle of the response')))
  ended.promise.catch(() => {})
  return {
    get readBytes() {
      return readBytes
    },
    get isClosed() {
      return isClosed
    },
    get tail() {
      return tail
    },
    readAll() {
      socket.resume()
      return ended.promise
    },
    leave: () => socket.destroy(),
  }
}
