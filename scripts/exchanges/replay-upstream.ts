/** An upstream that returns recorded responses only. */
import { bodyText, type Exchange, matchKey } from './exchange.ts'

export interface ReplayUpstream {
  /** Without /v1. */
  baseUrl: string
  /** The requests that it received, by `matchKey`. */
  asked: string[]
  stop(): Promise<void>
}

/** Starts it on 127.0.0.1. A request that was not recorded gets a 404 that says so. */
export function startReplayUpstream(exchanges: readonly Exchange[], port = 0): ReplayUpstream {
  const known = new Map(exchanges.map(exchange => [matchKey(exchange.request), exchange.response]))
  const asked: string[] = []
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname: path } = new URL(request.url)
      const body = JSON.parse((await request.text()) || '{}')
      const key = matchKey({ method: request.method, path, body })
      asked.push(key)
      const response = known.get(key)
      if (!response) {
        return Response.json({ error: { message: 'This was not recorded.', code: 'not_recorded' } }, { status: 404 })
      }
      return new Response(bodyText(response), { status: response.status, headers: response.headers })
    },
  })
  return { baseUrl: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) }
}
