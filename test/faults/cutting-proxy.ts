/**
 * A TCP proxy in front of a database. It discards responses: the server has executed the statement, and the client never receives the
 * result.
 */
import { connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy {
  /** The database's URL through this proxy. */
  url: string
  /** From now on, cuts each connection at one of its responses. The position differs between connections. */
  cut(): void
  /**
   * Stops all bytes in both directions for this time in milliseconds, or until the promise resolves. Then cuts the connections and forwards
   * again.
   */
  part(until: number | Promise<void>): Promise<void>
  /** Forwards everything again. */
  pass(): void
  /** The number of discarded responses. */
  swallowed(): number
  close(): void
}

/** The first responses belong to the handshake. */
const LEAST_ANSWERS = 3
const MOST_ANSWERS = 23

export async function startCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const url = new URL(databaseUrl)
  const target = { host: url.hostname, port: Number(url.port) }
  const pairs = new Set<{ client: Socket; server: Socket }>()
  let isCutting = false
  let isParted = false
  let connections = 0
  let swallowed = 0

  const listener = createServer(client => {
    const server = connect(target)
    const pair = { client, server }
    pairs.add(pair)
    const cutAt = LEAST_ANSWERS + (connections++ % (MOST_ANSWERS - LEAST_ANSWERS))
    let answers = 0
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    client.on('data', bytes => {
      if (!isParted) server.write(bytes)
    })
    server.on('data', bytes => {
      if (isParted) return
      if (isCutting && ++answers >= cutAt) {
        swallowed++
        end()
      } else client.write(bytes)
    })
  })
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy did not start')
  url.host = `127.0.0.1:${address.port}`

  return {
    url: url.href,
    cut() {
      isCutting = true
    },
    async part(until) {
      isParted = true
      await (typeof until === 'number' ? Bun.sleep(until) : until)
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
      isParted = false
    },
    pass() {
      isCutting = false
    },
    swallowed: () => swallowed,
    close() {
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
      listener.close()
    },
  }
}
