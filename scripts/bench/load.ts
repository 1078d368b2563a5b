/**
 * A load generator in a process of its own: keeps N connections busy with prepared requests and measures each response.
 *
 * Reads one JSON object from standard input (LoadOrder), prints one to standard output (LoadResult). Uses raw sockets, because fetch
 * would cost more than what is measured.
 */
import type { Socket } from 'bun'

export interface LoadOrder {
  host: string
  port: number
  path: string
  headers: Record<string, string>
  /** Sent in turn; `{{n}}` in a body is replaced by a new number each time. */
  bodies: string[]
  connections: number
  warmupMs: number
  measureMs: number
}

export interface LoadResult {
  requests: number
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** Responses by status. */
  statuses: Record<string, number>
  /** Responses by X-Proxy-Cache. */
  cacheResults: Record<string, number>
}

const EMPTY = Buffer.alloc(0)

interface Connection {
  socket: Socket<Connection> | null
  sentAtMs: number
  held: Buffer
}

export async function runLoad(order: LoadOrder): Promise<LoadResult> {
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const cacheResults: Record<string, number> = {}
  const prepared = prepareRequests(order)
  let next = 0
  let serial = Date.now() * 1000
  let measuring = false
  let running = true

  function send(connection: Connection): void {
    const request = prepared[next++ % prepared.length] as { bytes: Buffer | null; make(n: number): Buffer }
    connection.sentAtMs = performance.now()
    connection.socket?.write(request.bytes ?? request.make(serial++))
  }

  function take(connection: Connection, data: Buffer): void {
    const bytes = connection.held.length === 0 ? data : Buffer.concat([connection.held, data])
    const answer = readAnswer(bytes)
    if (!answer) {
      connection.held = Buffer.from(bytes)
      return
    }
    connection.held = EMPTY
    if (measuring) {
      latencies.push(performance.now() - connection.sentAtMs)
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      cacheResults[answer.cache] = (cacheResults[answer.cache] ?? 0) + 1
    }
    if (running) send(connection)
  }

  const connections = await Promise.all(
    Array.from({ length: order.connections }, async () => {
      const connection: Connection = { socket: null, sentAtMs: 0, held: EMPTY }
      connection.socket = await Bun.connect<Connection>({
        hostname: order.host,
        port: order.port,
        data: connection,
        socket: {
          data: (socket, data) => take(socket.data, data),
          error(_, error) {
            throw error
          },
        },
      })
      return connection
    }),
  )
  for (const connection of connections) send(connection)
  await Bun.sleep(order.warmupMs)
  measuring = true
  const startedAt = performance.now()
  await Bun.sleep(order.measureMs)
  measuring = false
  const seconds = (performance.now() - startedAt) / 1000
  running = false
  for (const { socket } of connections) socket?.end()

  latencies.sort((a, b) => a - b)
  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / seconds,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    statuses,
    cacheResults,
  }
}

function prepareRequests({ host, port, path, headers, bodies }: LoadOrder) {
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${host}:${port}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
  ].join('\r\n')
  const assemble = (body: string) => Buffer.from(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  return bodies.map(body => ({
    bytes: body.includes('{{n}}') ? null : assemble(body),
    make: (n: number) => assemble(body.replaceAll('{{n}}', String(n))),
  }))
}

/** Null while the response is incomplete. */
function readAnswer(bytes: Buffer): { status: string; cache: string } | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const head = bytes.toString('latin1', 0, headEnd)
  const length = /content-length: (\d+)/i.exec(head)
  const complete = length
    ? bytes.length >= headEnd + 4 + Number(length[1])
    : bytes.indexOf('\r\n0\r\n\r\n', Math.max(headEnd, bytes.length - 16)) >= 0
  if (!complete) return null
  return { status: head.slice(9, 12), cache: /x-proxy-cache: (\S+)/i.exec(head)?.[1] ?? '-' }
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(await runLoad(await Bun.stdin.json()))}\n`)
