/** A client on a slow connection: it reads a little, waits, reads again, and sometimes gives up. */
import { connect } from 'node:net'

const PAUSE_MS = 25
const LAST_CHUNK = '\r\n0\r\n\r\n'
const GIVES_UP = 0.2

/** Throws when the response is no 200, or is cut. */
export async function readSlowly(port: number, key: string, body: Record<string, unknown>): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const readsAtMost = Math.random() < GIVES_UP ? 1 + Math.floor(Math.random() * 20) : Number.POSITIVE_INFINITY
  let reads = 0
  let head = ''
  let tail = ''
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on('connect', () => socket.write(writeRequest(key, body)))
      socket.on('error', reject)
      socket.on('close', () => reject(new Error(`closed in mid-answer: …${tail}`)))
      socket.on('data', bytes => {
        head = (head + bytes.subarray(0, 32).toString('latin1')).slice(0, 12)
        tail = (tail + bytes.subarray(-32).toString('latin1')).slice(-32)
        if (!'HTTP/1.1 200'.startsWith(head)) reject(new Error(`answered ${head}`))
        else if (tail.endsWith(LAST_CHUNK) || ++reads > readsAtMost) resolve()
        socket.pause()
        setTimeout(() => socket.resume(), PAUSE_MS)
      })
    })
  } finally {
    socket.destroy()
  }
}

function writeRequest(key: string, body: Record<string, unknown>): string {
  const text = JSON.stringify(body)
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}
