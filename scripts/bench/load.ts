/**
 * A load generator in a separate process: keeps N connections busy with prepared requests and measures each response.
 *
 * Reads one JSON object (LoadOrder) from standard input and prints one (LoadResult) to standard output. Uses raw sockets, because fetch
 * would need more processor time than the measured proxy.
 */
import type { Socket } from 'bun'

export interface LoadOrder {
  url: string
  headers: Record<string, string>
  /** Sent in turn; `{{n}}` in a body is replaced by a new number in each request. */
  bodies: string[]
  connections: number
  /** Pause between the first requests of two connections, in milliseconds. */
  pauseMs?: number
  measureMs: number
}

export interface LoadResult {
  requests: number
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** Median time to the first event of a stream; 0 without streams. */
  firstEventMs: number
  /** Events of all streams, including unfinished ones. */
  events: number
  /** Number of responses by status. */
  statuses: Record<string, number>
  /** Number of responses by X-Proxy-Cache. */
  cacheResults: Record<string, number>
}

/** A response whose head is complete. */
interface Answer {
  status: string
  cache: string
  isStream: boolean
  /** Remaining bytes of the body; Infinity if it is chunked. */
  left: number
  /** The last received bytes of a chunked body, in which its end is detected. */
  tail: string
  events: number
  firstEventMs: number
}

interface Connection {
  socket: Socket<Connection> | null
  sentAtMs: number
  /** The received part of the head, until it is complete. */
  head: Buffer
  answer: Answer | null
}

const EMPTY = Buffer.alloc(0)
/** The end of a chunked body. */
const LAST_CHUNK = '\r\n0\r\n\r\n'

export async function runLoad(order: LoadOrder): Promise<LoadResult> {
  const latencies: number[] = []
  const firstEvents: number[] = []
  const statuses: Record<string, number> = {}
  const cacheResults: Record<string, number> = {}
  const prepared = prepareRequests(order)
  const url = new URL(order.url)
  let events = 0
  let next = 0
  let serial = Date.now() * 1000
  let isRunning = true

  function send(connection: Connection): void {
    const request = prepared[next++ % prepared.length]
    connection.sentAtMs = performance.now()
    connection.socket?.write(request?.bytes ?? request?.make(serial++) ?? EMPTY)
  }

  function take(connection: Connection, data: Buffer): void {
    let body = data
    if (connection.answer === null) {
      const bytes = connection.head.length === 0 ? data : Buffer.concat([connection.head, data])
      const headEnd = bytes.indexOf('\r\n\r\n')
      connection.head = headEnd < 0 ? Buffer.from(bytes) : EMPTY
      if (headEnd < 0) return
      connection.answer = readHead(bytes.toString('latin1', 0, headEnd))
      body = bytes.subarray(headEnd + 4)
    }
    const { answer } = connection
    const known = answer.events
    const hasEnded = readBody(answer, body, connection.sentAtMs)
    events += answer.events - known
    if (!hasEnded) return
    connection.answer = null
    if (!isRunning) return
    latencies.push(performance.now() - connection.sentAtMs)
    if (answer.events > 0) firstEvents.push(answer.firstEventMs)
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    cacheResults[answer.cache] = (cacheResults[answer.cache] ?? 0) + 1
    send(connection)
  }

  const connections = await Promise.all(
    Array.from({ length: order.connections }, async () => {
      const connection: Connection = { socket: null, sentAtMs: 0, head: EMPTY, answer: null }
      connection.socket = await Bun.connect<Connection>({
        hostname: url.hostname,
        port: Number(url.port),
        data: connection,
        socket: {
          data: (socket, data) => take(socket.data, data),
          close() {
            if (isRunning) throw new Error(`A connection to ${url.host} was closed`)
          },
          error(_, error) {
            throw error
          },
        },
      })
      return connection
    }),
  )
  const startedAt = performance.now()
  for (const connection of connections) {
    send(connection)
    if (order.pauseMs) await Bun.sleep(order.pauseMs)
  }
  await Bun.sleep(order.measureMs)
  const seconds = (performance.now() - startedAt) / 1000
  isRunning = false
  for (const { socket } of connections) socket?.end()

  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    firstEventMs: quantile(firstEvents, 0.5),
    events,
    statuses,
    cacheResults,
  }
}

function prepareRequests({ url, headers, bodies }: LoadOrder) {
  const { host, pathname } = new URL(url)
  const sent = Object.entries({ host, 'content-type': 'application/json', ...headers })
  const head = [`POST ${pathname} HTTP/1.1`, ...sent.map(([name, value]) => `${name}: ${value}`), ''].join('\r\n')
  const assemble = (body: string) => Buffer.from(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  return bodies.map(body => ({
    bytes: body.includes('{{n}}') ? null : assemble(body),
    make: (n: number) => assemble(body.replaceAll('{{n}}', String(n))),
  }))
}

function readHead(head: string): Answer {
  const length = /content-length: (\d+)/i.exec(head)
  return {
    status: head.slice(9, 12),
    cache: /x-proxy-cache: (\S+)/i.exec(head)?.[1] ?? '-',
    isStream: /content-type: text\/event-stream/i.test(head),
    left: length ? Number(length[1]) : Number.POSITIVE_INFINITY,
    tail: '\r\n',
    events: 0,
    firstEventMs: 0,
  }
}

/** Returns whether the response is complete. */
function readBody(answer: Answer, bytes: Buffer, sentAtMs: number): boolean {
  if (answer.isStream) {
    const found = bytes.toString('latin1').split('data: {').length - 1
    if (found > 0 && answer.events === 0) answer.firstEventMs = performance.now() - sentAtMs
    answer.events += found
  }
  answer.left -= bytes.length
  answer.tail = (answer.tail + bytes.toString('latin1', Math.max(0, bytes.length - LAST_CHUNK.length))).slice(
    -LAST_CHUNK.length,
  )
  return answer.left <= 0 || (answer.left === Number.POSITIVE_INFINITY && answer.tail === LAST_CHUNK)
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(await runLoad(await Bun.stdin.json()))}\n`)
