/** A webhook endpoint: it accepts events, fails or hangs. */

export interface Receiver {
  /** Without a trailing slash. */
  url: string
  messages: { path: string; body: string; headers: Record<string, string> }[]
  /** Sets the status of later responses. Requests to `/hang` never receive a response. */
  answerWith(status: number): void
  reset(): void
  stop(): Promise<void>
}

export function startReceiver(): Receiver {
  const messages: Receiver['messages'] = []
  let status = 200
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const path = new URL(request.url).pathname
      messages.push({ path, body: await request.text(), headers: Object.fromEntries(request.headers) })
      if (path === '/hang') await new Promise(() => {})
      return new Response(null, { status })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    messages,
    answerWith(next) {
      status = next
    },
    reset() {
      messages.length = 0
      status = 200
    },
    stop: () => server.stop(true),
  }
}
