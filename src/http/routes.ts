/** The HTTP face: paths and methods, and nothing that is not HTTP. */
import { Elysia } from 'elysia'
import type { Config } from '../config.ts'
import { ClientGone, invalidRequest, ProxyError } from '../errors.ts'
import type { ProxyRequest } from '../pipeline/exchange.ts'
import type { ModelDirectory } from '../pipeline/model-directory.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { readClientAddress } from './client-address.ts'
import type { Health } from './health.ts'
import { createBodyReader } from './read-body.ts'
import { readRequestId } from './request-id.ts'
import { type Arrival, internalError, respond, respondWithError } from './respond.ts'

export interface HttpOptions {
  config: Pick<Config, 'maxBodyBytes' | 'bodyTimeoutMs' | 'trustedProxies'>
  pipeline: Pipeline
  models: ModelDirectory
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

const MODELS = '/v1/models'

export function createHttp({ config, pipeline, models, checkHealth, log }: HttpOptions) {
  const readBody = createBodyReader(config)

  async function answer(endpoint: Endpoint, request: Request, server: Server | null): Promise<Response> {
    const arrival = arrive(request)
    // An upstream may think for minutes; its own limits apply then, not the connection's.
    server?.timeout(request, 0)
    const { headers, signal } = request
    const proxied: ProxyRequest = {
      id: arrival.requestId,
      endpoint,
      authorization: headers.get('authorization'),
      address: addressOf(request, server),
      headers,
      isSmall: isSmall(headers),
      readBody: () => readBody(request),
      signal,
      arrivedAtMs: arrival.atMs,
    }
    try {
      return respond(await pipeline(proxied), arrival)
    } catch (error) {
      return respondWithError(asProxyError(error, arrival), arrival)
    }
  }

  function addressOf(request: Request, server: Server | null): string {
    const socketAddress = server?.requestIP(request)?.address ?? '127.0.0.1'
    return readClientAddress(socketAddress, request.headers.get('x-forwarded-for'), config.trustedProxies)
  }

  async function answerModels(request: Request, server: Server | null): Promise<Response> {
    const arrival = arrive(request)
    const caller = { authorization: request.headers.get('authorization'), address: addressOf(request, server) }
    try {
      const id = readModelId(request.url)
      const found = id === null ? await models.list(caller) : await models.find(caller, id)
      const headers = { 'content-type': 'application/json' }
      return respond({ status: 200, headers, body: JSON.stringify(found) }, arrival)
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

  const app = new Elysia({
    normalize: false,
    // Else a host of a few letters, such as http://api/, hides where its path begins.
    handler: { standardHostname: false },
    serve: {
      // No error page that shows source code.
      development: false,
      // `readBody` keeps our own limit, and says so; Bun's would answer bare.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    },
  })
    .get('/v1/health', async ({ request }) => {
      const arrival = arrive(request)
      const health = await checkHealth()
      const status = health.status === 'down' ? 503 : 200
      return respond({ status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(health) }, arrival)
    })
    .all('/v1/health', ({ request }) => wrongMethod(request, 'GET'))
    .get(MODELS, ({ request, server }) => answerModels(request, server))
    .all(MODELS, ({ request }) => wrongMethod(request, 'GET'))
    // A model's name may have slashes.
    .get(`${MODELS}/*`, ({ request, server }) => answerModels(request, server))
    .all(`${MODELS}/*`, ({ request }) => wrongMethod(request, 'GET'))
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

/** A body that may be read before the key is known to be good. */
const SMALL_BODY_BYTES = 65_536

function isSmall(headers: Headers): boolean {
  const announced = headers.get('content-length')
  return announced !== null && Number(announced) <= SMALL_BODY_BYTES
}

function arrive(request: Request): Arrival {
  return { requestId: readRequestId(request.headers), atMs: performance.now() }
}

/** What follows /v1/models/, with its slashes escaped or not; null where nothing does. Throws a 400 where it is no text. */
function readModelId(url: string): string | null {
  const escaped = new URL(url).pathname.slice(MODELS.length + 1)
  try {
    return escaped === '' ? null : decodeURIComponent(escaped)
  } catch {
    throw invalidRequest('The model in the path is not valid: its percent signs must begin an escaped UTF-8 character.')
  }
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
      'There is nothing at this path. Requests go to /v1/chat/completions, /v1/completions, /v1/embeddings, /v1/models or /v1/health.',
  })
}
