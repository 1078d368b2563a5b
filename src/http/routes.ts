/** Creates the HTTP server and routes each path to its handler. */
import { type AnyElysia, Elysia } from 'elysia'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Config } from '../config/config.ts'
import { createError } from '../errors/errors.ts'
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import type { HttpMethod, RouteTarget } from '../pipeline/request/request.ts'
import type { Log } from '../telemetry/log.ts'
import type { ProxyMetrics } from '../telemetry/proxy-metrics.ts'
import type { RejectionCounter } from '../telemetry/rejection-counter.ts'
import { vendorDetectorOf } from './detect-vendor.ts'
import { createIngress, type IncomingRequest } from './ingress.ts'
import {
  allowedMethodsOf,
  applyVendor,
  createDashboardRedirect,
  createNotFoundError,
  hasValidUrl,
  parseUrl,
  resolveMethod,
  resolveTarget,
  TARGETS_BY_PATH,
} from './paths.ts'
import { createPipelineHandler, type PipelineHandlerOptions } from './pipeline-handler.ts'
import { closeIfBodyUnread } from './read-body.ts'
import { createRealtimeHandler, type RealtimeHandlerOptions, WEBSOCKET_LIMITS } from './realtime.ts'
import { createCors, createResponse } from './respond.ts'
import { createUnmeteredHandlers, type UnmeteredHandlersOptions } from './unmetered-handlers.ts'

/** Elysia parses no body, because `read-body.ts` reads it after admission. The paths are not part of the admin API's OpenAPI description. */
const PROXY_ROUTE = { parse: 'none', detail: { hide: true } } as const

export interface HttpAppOptions extends PipelineHandlerOptions, UnmeteredHandlersOptions, RealtimeHandlerOptions {
  config: PipelineHandlerOptions['config'] & Pick<Config, 'trustedProxies' | 'corsOrigins' | 'dashboard'>
  /** The memory budget in which data that clients have not read is counted. */
  memory: StreamMemory
  rejections: RejectionCounter
  metrics: Pick<ProxyMetrics, 'countUnrecorded'>
  log: Log
  catalogue: Pick<Catalogue, 'vendors'>
  /** Controllers with their own paths, besides the proxy's. */
  controllers?: readonly AnyElysia[]
}

export function createHttpApp({ controllers = [], catalogue, ...options }: HttpAppOptions) {
  const { answer, answerPreflight, redirectToDashboard, answerError } = createDispatch(options)

  /** Answers a path that is not in TARGETS_BY_PATH: a variant of a known path, or an unknown one. */
  function answerUnlisted(incoming: IncomingRequest): MaybeResponse {
    const redirect = options.config.dashboard === 'on' ? redirectToDashboard(incoming.request) : undefined
    if (redirect) return redirect
    const { pathname } = parseUrl(incoming.request)
    const target = resolveTarget(pathname, vendorDetectorOf(catalogue.vendors), incoming.request.headers)
    return target ? answer(incoming, target) : answerError(createNotFoundError(pathname), incoming)
  }

  const bare = new Elysia({
    normalize: false,
    websocket: WEBSOCKET_LIMITS,
    // Otherwise Elysia misreads where the path begins for a host of a few letters, such as http://api/.
    handler: { standardHostname: false },
    serve: {
      // Prevents error pages that show source code.
      development: false,
      // `read-body.ts` enforces our limit with a proper error; Bun's would have no body.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    },
  })
  // Controllers come before the hooks below, which must not apply to them.
  for (const controller of controllers) bare.use(controller)
  const app = bare
    .onRequest(({ request, server }) => {
      if (!hasValidUrl(request)) return answerError(createError('invalidHost'), { request, server })
      return request.method === 'OPTIONS' ? answerPreflight(request) : undefined
    })
    // Elysia prepares the properties that a handler destructures: naming the whole context would parse it for nothing.
    .all('/*', ({ request, server }) => answerUnlisted({ request, server }), PROXY_ROUTE)
    .onError(({ code, error, request, server }) => {
      const incoming = { request, server }
      return answerError(code === 'NOT_FOUND' ? createNotFoundError(parseUrl(request).pathname) : error, incoming)
    })
  for (const [path, target] of Object.entries(TARGETS_BY_PATH)) {
    const handler = ({ request, server }: IncomingRequest) =>
      answer({ request, server }, applyVendor(target, vendorDetectorOf(catalogue.vendors).detect(request.headers)))
    for (const method of [...allowedMethodsOf(target), 'ALL']) app.route(method, path, handler, PROXY_ROUTE)
  }
  return app
}

/** Undefined for a connection that has become a WebSocket. */
type MaybeResponse = Response | undefined | Promise<Response | undefined>

/** Answers targets; a method that the target does not have gets a 405. */
function createDispatch(options: Omit<HttpAppOptions, 'controllers' | 'catalogue'>) {
  const cors = createCors(options.config.corsOrigins)
  const ingress = createIngress({ ...options, cors })
  const answerPipeline = createPipelineHandler(options, ingress)
  const { handleModels, handleInfo, handleHealth, handleProbe } = createUnmeteredHandlers(options, ingress)

  const answerRealtime = createRealtimeHandler(options, ingress)

  function answerAllowed(
    incoming: IncomingRequest,
    method: HttpMethod,
    target: RouteTarget,
  ): Promise<Response | undefined> {
    if (target.kind === 'models') return handleModels(incoming, target.id)
    if (target.kind === 'info') return handleInfo(incoming, target.about)
    if (target.kind === 'realtime') return answerRealtime(incoming)
    if (target.kind === 'probe') return handleProbe(incoming, target.probe)
    return target.kind === 'health' ? handleHealth(incoming) : answerPipeline(incoming, target, method)
  }

  function answerError(error: unknown, incoming: IncomingRequest, target: RouteTarget | null = null): Response {
    const response = ingress.respondToError(error, incoming, ingress.createContext(incoming.request))
    ingress.countUnrecorded(target, response.status)
    return closeIfBodyUnread(incoming.request, response)
  }

  return {
    answer(incoming: IncomingRequest, target: RouteTarget): MaybeResponse {
      const method = resolveMethod(target, incoming.request.method)
      if (method) return answerAllowed(incoming, method, target)
      if (/^websocket$/i.test(incoming.request.headers.get('upgrade') ?? ''))
        return answerError(createError('socketUnsupported'), incoming, target)
      const allowed = allowedMethodsOf(target).join(', ')
      const methods = allowed.replace(', ', ' and ')
      return answerError(createError('methodNotAllowed', { allowed, methods }), incoming, target)
    },
    /** Answers a browser's preflight; undefined for any other request. */
    answerPreflight(request: Request): Response | undefined {
      const headers = cors.preflight(request)
      if (headers === null) return undefined
      ingress.countUnrecorded(null, 204)
      return createResponse({ status: 204, headers, body: '' }, ingress.createContext(request))
    },
    /** Redirects a browser that opens `/` to the dashboard; undefined for any other request. */
    redirectToDashboard(request: Request): Response | undefined {
      const headers = createDashboardRedirect(request)
      if (headers === null) return undefined
      ingress.countUnrecorded(null, 302)
      return closeIfBodyUnread(
        request,
        createResponse({ status: 302, headers, body: '' }, ingress.createContext(request)),
      )
    },
    answerError,
  }
}
