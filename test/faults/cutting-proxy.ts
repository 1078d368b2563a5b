/** A TCP proxy before a database that swallows answers: the server has done its work, and its client never learns of it. */
import { connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy {
  /** As the database's, by way of the proxy. */
  url: string
  /** From now on each connection is cut at some answer, another for every one. */
  cut(): void
  /** For so long, or until then, no byte passes either way; then the connections are cut, and all is well. */
  part(until: number | Promise<void>): Promise<void>
  /** All that comes passes. */
  pass(): void
  /** Answers swallowed so far. */
  swallowed(): number
  close(): void
}

/** Authentication and greeting come first. */
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
