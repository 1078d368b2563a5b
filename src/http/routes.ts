/** The HTTP face: paths and methods, and nothing that is not HTTP. */
import { Elysia } from 'elysia'
import type { Config } from '../config.ts'
import { ProxyError } from '../errors.ts'
import { ClientGone, type ProxyRequest } from '../pipeline/exchange.ts'
import { describeCause } from '../pipeline/ledger.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import type { Endpoint } from '../providers/upstream.ts'
import type { Log } from '../telemetry/log.ts'
import { readClientAddress } from './client-address.ts'
import type { Health } from './health.ts'
import { readBody } from './read-body.ts'
import { readRequestId } from './request-id.ts'
import { type Arrival, internalError, respond, respondWithError } from './respond.ts'

export interface HttpOptions {
  config: Pick<Config, 'maxBodyBytes' | 'trustedProxies'>
  pipeline: Pipeline
  checkHealth(): Promise<Health>
  log: Log
}

/** The part of Bun's server that handlers use. */
interface Server {
  requestIP(request: Request): { address: string } | null
  timeout(request: Request, seconds: number): void
}

const PATHS: Record<string, Endpoint> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/embeddings': 'embeddings',
}

export function createHttp({ config, pipeline, checkHealth, log }: HttpOptions) {
  async function answer(endpoint: Endpoint, request: Request, server: Server | null): Promise<Response> {
    const arrival = arrive(request)
    // An upstream may think for minutes; its own limits apply then, not the connection's.
    server?.timeout(request, 0)
    const { headers, signal } = request
    const proxied: ProxyRequest = {
      id: arrival.requestId,
      endpoint,
      authorization: headers.get('authorization'),
      address: readClientAddress(
        server?.requestIP(request)?.address ?? '127.0.0.1',
        headers.get('x-forwarded-for'),
        config.trustedProxies,
      ),
      headers,
      readBody: () => readBody(request, config.maxBodyBytes),
      signal,
      arrivedAtMs: arrival.atMs,
    }
    try {
      return respond(await pipeline(proxied), arrival)
    } catch (error) {
      return respondWithError(asProxyError(error, arrival), arrival)
    }
  }

  function asProxyError(error: unknown, { requestId }: Arrival): ProxyError {
    if (error instanceof ProxyError) {
      if (error.status >= 500)
        log.warn({ id: requestId, code: error.code, cause: describeCause(error.cause) }, 'request failed')
      return error
    }
    if (error instanceof ClientGone) return internalError(error)
    const where = error instanceof Error ? error.stack?.split('\n').slice(1, 4).join('\n') : undefined
    log.error({ id: requestId, cause: describeCause(error), where }, 'unexpected error')
    return internalError(error)
  }

  const app = new Elysia({ normalize: false })
    .get('/v1/health', async ({ request }) => {
      const arrival = arrive(request)
      const health = await checkHealth()
      const status = health.status === 'down' ? 503 : 200
      return respond({ status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(health) }, arrival)
    })
    .all('/v1/health', ({ request }) => wrongMethod(request, 'GET'))
    .onError(({ code, error, request }) => {
      const arrival = arrive(request)
      return respondWithError(code === 'NOT_FOUND' ? notFound() : asProxyError(error, arrival), arrival)
    })
  for (const [path, endpoint] of Object.entries(PATHS)) {
    app
      .post(path, ({ request, server }) => answer(endpoint, request, server), { parse: 'none' })
      .all(path, ({ request }) => wrongMethod(request, 'POST'), { parse: 'none' })
  }
  return app
}

function arrive(request: Request): Arrival {
  return { requestId: readRequestId(request.headers), atMs: performance.now() }
}

function wrongMethod(request: Request, allowed: string): Response {
  const error = new ProxyError({
    status: 405,
    code: 'method_not_allowed',
    message: `This path takes ${allowed} alone.`,
    headers: { allow: allowed },
  })
  return respondWithError(error, arrive(request))
}

function notFound(): ProxyError {
  return new ProxyError({
    status: 404,
    code: 'not_found',
    message:
      'There is nothing at this path. Requests go to /v1/chat/completions, /v1/completions, /v1/embeddings or /v1/health.',
  })
}
