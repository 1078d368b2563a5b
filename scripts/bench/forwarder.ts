/** The minimal proxy: forwards each request to the upstream at UPSTREAM_BASE_URL and returns its response. Prints its port. */
const { UPSTREAM_BASE_URL = '' } = process.env

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname } = new URL(request.url)
    const answer = await fetch(`${UPSTREAM_BASE_URL}${pathname.slice('/v1'.length)}`, {
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
