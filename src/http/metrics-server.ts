/** Serves `/metrics` on a separate port, so that it is never exposed together with the API. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { formatExposition, type MetricsSnapshot } from '../telemetry/metrics.ts'
import { hasValidUrl, parseUrl } from './paths.ts'
import { closeIfBodyUnread } from './read-body.ts'
import { respondWithBadHost } from './respond.ts'

export interface MetricsServerOptions {
  host: string
  port: number
  /** The Bearer token that a scraper must send; null for none. */
  token: string | null
}

/** Throws when the port is not available. */
export function serveMetrics({ host, port, token }: MetricsServerOptions, read: () => Promise<MetricsSnapshot>) {
  return Bun.serve({
    hostname: host,
    port,
    // Outside of development Bun would share the port with another proxy, and a scrape would reach either one.
    reusePort: false,
    // Prevents error pages that show source code.
    development: false,
    fetch: async request => closeIfBodyUnread(request, await respond(request, token, read)),
  })
}

async function respond(
  request: Request,
  token: string | null,
  read: () => Promise<MetricsSnapshot>,
): Promise<Response> {
  if (!hasValidUrl(request)) return respondWithBadHost()
  if (parseUrl(request).pathname !== '/metrics') return new Response('Metrics are at /metrics.\n', { status: 404 })
  if (request.method !== 'GET' && request.method !== 'HEAD') return new Response(null, { status: 405 })
  if (token !== null && !isToken(request.headers.get('authorization'), token)) {
    return new Response('METRICS_TOKEN is required as a Bearer token.\n', {
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
    })
  }
  return new Response(formatExposition(await read()), {
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
  })
}

/** Compares in a time that does not depend on where the texts differ. */
function isToken(authorization: string | null, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(authorization ?? ''), hash(`Bearer ${token}`))
}
