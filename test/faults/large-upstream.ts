/** A provider with large responses: images and completions of `bytes` length, and realtime sessions that send as much at once. */

export interface LargeUpstream {
  /** Ends in `/v1`. */
  baseUrl: string
  /** The number of completed requests. */
  readonly answered: number
  /** The number of ended sessions. */
  readonly ended: number
  stop(): Promise<void>
}

const PIECE = 'a'.repeat(65_536)
const MESSAGE = JSON.stringify({ type: 'response.output_audio.delta', delta: 'a'.repeat(131_072) })

export function startLargeUpstream(bytes: number): LargeUpstream {
  let answered = 0
  let ended = 0

  /** Writes only as fast as the proxy reads, so that this process does not buffer the rest. */
  function answer(head: string, tail: string): Response {
    let left = bytes
    const encoder = new TextEncoder()
    const body = new ReadableStream<Uint8Array>(
      {
        start: controller => controller.enqueue(encoder.encode(head)),
        pull(controller) {
          controller.enqueue(encoder.encode(left > 0 ? PIECE : tail))
          left -= PIECE.length
          if (left <= -PIECE.length) controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  }

  async function respond(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const isSmall = (await request.text()).includes('small')
    answered++
    if (pathname.endsWith('/images/generations')) return answer('{"created":1,"data":[{"b64_json":"', '"}]}')
    const head =
      '{"id":"c","object":"chat.completion","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"'
    const tail = '"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'
    return isSmall
      ? new Response(`${head}yes${tail}`, { headers: { 'content-type': 'application/json' } })
      : answer(head, tail)
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request, server) =>
      request.headers.get('upgrade') === 'websocket'
        ? server.upgrade(request)
          ? undefined
          : new Response(null, { status: 400 })
        : respond(request),
    websocket: {
      backpressureLimit: 2 * bytes,
      open(socket) {
        socket.send(JSON.stringify({ type: 'session.created', session: { type: 'realtime', id: 'sess_1' } }))
        for (let sent = 0; sent < bytes; sent += MESSAGE.length) socket.send(MESSAGE)
      },
      message() {},
      close() {
        ended++
      },
    },
  })
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    get answered() {
      return answered
    },
    get ended() {
      return ended
    },
    stop: () => server.stop(true),
  }
}
