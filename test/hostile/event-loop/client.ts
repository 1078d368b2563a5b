/**
 * `client.ts BASE_URL PROJECT_KEY TEST_KEY`: sends the body of an endpoint that is requested by name, and responds with the status. Prints
 * its own URL.
 */
import { LARGEST_BODIES, type LargestBody } from './largest-bodies.ts'

const [baseUrl, projectKey, testKey] = process.argv.slice(2)
const SMALL: LargestBody = {
  name: 'small',
  path: '/chat/completions',
  body: () => JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello.' }] }),
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 120,
  async fetch(request) {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1))
    const door = [SMALL, ...LARGEST_BODIES].find(one => one.name === name)
    if (!door) return new Response('unknown')
    const body = door.body()
    const response = await fetch(baseUrl + door.path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${door.key === 'test' ? testKey : projectKey}`,
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      },
      body,
    }).catch(error => new Response(String(error), { status: 599 }))
    const bytes = (await response.arrayBuffer().catch(() => new ArrayBuffer(0))).byteLength
    return new Response(
      `${response.status} ${response.headers.get('x-proxy-cache') ?? ''} ${Math.round(bytes / 1000)} kB`,
    )
  },
})
process.stdout.write(`http://127.0.0.1:${server.port}\n`)
