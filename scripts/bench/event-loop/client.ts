/**
 * `bun scripts/bench/event-loop/client.ts '{"baseUrl","keys","upstreamUrl"}'`: sends the case that it is asked for by name, and reports
 * its status.
 */
import { CASES } from './cases.ts'

interface Orders {
  baseUrl: string
  keys: { project: string; test: string }
  upstreamUrl: string
}

const { baseUrl, keys, upstreamUrl }: Orders = JSON.parse(process.argv[2] ?? '{}')

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 120,
  async fetch(request) {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1))
    const asked = CASES.find(one => one.name === name)
    if (!asked) return new Response('unknown')
    const script = new URL('/__script', upstreamUrl)
    if (asked.scenario) await fetch(script, { method: 'PUT', body: JSON.stringify(asked.scenario) })
    const body = asked.body()
    const response = await fetch(baseUrl + asked.path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${keys[asked.key ?? 'project']}`,
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      },
      body,
    }).catch(error => new Response(String(error), { status: 599 }))
    const bytes = (await response.arrayBuffer().catch(() => new ArrayBuffer(0))).byteLength
    if (asked.scenario) await fetch(script, { method: 'DELETE' })
    return new Response(
      `${response.status} ${response.headers.get('x-proxy-cache') ?? ''} ${Math.round(bytes / 1000)} kB`,
    )
  },
})
process.stdout.write(`http://127.0.0.1:${server.port}\n`)
