/** HTTP over a bare socket: sends requests that no HTTP client would, byte by byte if required. */

export interface RawResponse {
  status: number
  headers: Headers
  body: string
}

export interface RawExchange {
  /** The responses in the order received, without interim ones; empty if the server closed the connection first. */
  responses: RawResponse[]
  /** Everything received, one character per byte. */
  received: string
  /** The server closed the connection. */
  hungUp: boolean
}

/** Bytes to send, or milliseconds or a promise to wait for before the next part. */
export type RawPart = string | Uint8Array | number | Promise<void>

export interface RawOptions {
  port: number
  parts: readonly RawPart[]
  /** The number of responses to wait for, or a function that decides whether those received are all. */
  responses: number | ((come: readonly RawResponse[]) => boolean)
  /** Rejects if neither all responses nor the end of the connection have arrived by then. */
  timeLimitMs: number
}

/** Sends the parts on one connection. Resolves with the last expected response, or when the server closes the connection. */
export async function sendRaw({ port, parts, responses, timeLimitMs }: RawOptions): Promise<RawExchange> {
  const { promise: exchange, resolve, reject } = Promise.withResolvers<RawExchange>()
  const hasBodies = !isHead(parts[0])
  const areAll = typeof responses === 'number' ? (come: readonly RawResponse[]) => come.length >= responses : responses
  let received = ''
  let isOver = false
  let wake = () => {}

  function look(hungUp: boolean): void {
    const read = readResponses(received, hasBodies)
    if (!hungUp && !areAll(read)) return
    isOver = true
    resolve({ responses: read, received, hungUp })
    wake()
  }

  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, bytes) {
        // Latin-1 has one character per byte, which is what lengths count.
        received += bytes.toString('latin1')
        look(false)
      },
      drain: () => wake(),
      close: () => look(true),
      error: () => look(true),
    },
  })
  const timer = setTimeout(
    () => reject(new Error(`no response and no end of the connection within ${timeLimitMs} ms`)),
    timeLimitMs,
  )
  try {
    for (const part of parts) {
      if (typeof part === 'number') await Promise.race([Bun.sleep(part), exchange])
      else if (part instanceof Promise) await Promise.race([part, exchange])
      else await write(typeof part === 'string' ? Buffer.from(part) : part)
    }
    return await exchange
  } finally {
    isOver = true
    clearTimeout(timer)
    socket.terminate()
  }

  async function write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !isOver; ) {
      const taken = socket.write(bytes.subarray(at))
      if (taken < 0) return
      at += taken
      if (at < bytes.length) await new Promise<void>(resolve => (wake = resolve))
    }
  }
}

function isHead(part: RawPart | undefined): boolean {
  return part instanceof Uint8Array && Buffer.from(part.subarray(0, 5)).toString() === 'HEAD '
}

function readResponses(received: string, hasBodies: boolean): RawResponse[] {
  const responses: RawResponse[] = []
  for (let at = 0; ; ) {
    const headEnd = received.indexOf('\r\n\r\n', at)
    if (headEnd < 0) return responses
    const [statusLine = '', ...lines] = received.slice(at, headEnd).split('\r\n')
    const headers = new Headers(lines.map(line => [line.split(':')[0] ?? '', line.slice(line.indexOf(':') + 1).trim()]))
    const status = Number(statusLine.split(' ')[1])
    const body = hasBodies ? readBody(received.slice(headEnd + 4), headers) : { text: '', length: 0 }
    if (body === null) return responses
    at = headEnd + 4 + body.length
    if (status >= 200) responses.push({ status, headers, body: Buffer.from(body.text, 'latin1').toString() })
  }
}

/** The body and its length on the wire; null while it is incomplete. */
function readBody(rest: string, headers: Headers): { text: string; length: number } | null {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(rest)
  const length = Number(headers.get('content-length') ?? 0)
  return rest.length < length ? null : { text: rest.slice(0, length), length }
}

function readChunks(rest: string): { text: string; length: number } | null {
  let text = ''
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd < 0) return null
    const size = Number.parseInt(rest.slice(at, lineEnd), 16)
    const end = lineEnd + 2 + size + 2
    if (rest.length < end) return null
    text += rest.slice(lineEnd + 2, end - 2)
    at = end
    if (size === 0) return { text, length: at }
  }
}
