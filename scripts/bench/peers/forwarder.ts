/**
 * The least that a proxy can do: sends each request to the upstream at UPSTREAM_BASE_URL, and returns its response. Listens on PORT, and
 * prints it.
 */
const { UPSTREAM_BASE_URL = '', PORT } = process.env

const server = Bun.serve({
  port: Number(PORT),
  hostname: '127.0.0.1',
  async fetch(request) {
    const answer = await fetch(`${UPSTREAM_BASE_URL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer bench', 'content-type': 'application/json' },
      body: await request.text(),
    })
    const type = answer.headers.get('content-type') ?? 'application/json'
    return new Response(type.startsWith('text/event-stream') ? answer.body : await answer.bytes(), {
      headers: { 'content-type': type },
    })
  },
})

process.stdout.write(`${server.port}\n`)
