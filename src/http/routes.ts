/** The HTTP server: its paths, which of them the pipeline answers, and nothing that is not HTTP. */

import { type AnyElysia, Elysia } from 'elysia'
import type { Config } from '../config/config.ts'
import { refuse } from '../errors/errors.ts'
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import type { Method, Target } from '../pipeline/request.ts'
import type { Log } from '../telemetry/log.ts'
import type { ProxyMetrics } from '../telemetry/proxy-metrics.ts'
import type { Refusals } from '../telemetry/refusals.ts'
import { type AnswerOptions, createAnswer } from './answer.ts'
import { notFound } from './elsewhere.ts'
import { createFreeAnswers, type FreeAnswersOptions } from './free-answers.ts'
import { createEntrance, type Incoming } from './incoming.ts'
import { homeOf } from './lead-home.ts'
import { vendorOfHeaders } from './named-vendor.ts'
import { hasReadableAddress, methodOf, methodsOf, ofVendor, readPath, TARGETS, urlOf } from './paths.ts'
import { leaveBody } from './read-body.ts'
import { createRealtimeDoor, type RealtimeDoorOptions, SOCKET_LIMITS } from './realtime.ts'
import { createCors, respond } from './respond.ts'

/** `read-body.ts` reads bodies, after the request is admitted; OpenAI describes these paths, not the admin API's description. */
const OWN_PATH = { parse: 'none', detail: { hide: true } } as const

export interface HttpOptions extends AnswerOptions, FreeAnswersOptions, RealtimeDoorOptions {
  config: AnswerOptions['config'] & Pick<Config, 'trustedProxies' | 'corsOrigins' | 'dashboard'>
  /** Counts what clients have not read. */
  memory: StreamMemory
  refusals: Refusals
  metrics: Pick<ProxyMetrics, 'noteUnrecorded'>
  log: Log
  /** Controllers with paths of their own beside the proxy's. */
  controllers?: readonly AnyElysia[]
}

export function createHttp({ controllers = [], ...options }: HttpOptions) {
  const { answer, answerPreflight, answerHome, answerError } = createDispatch(options)

  /** Answers a path that is not listed: another spelling of one, or an unknown path. */
  function answerElsewhere(incoming: Incoming): Answered {
    const home = options.config.dashboard === 'on' ? answerHome(incoming.request) : undefined
    if (home) return home
    const { pathname } = urlOf(incoming.request)
    const target = readPath(pathname, vendorOfHeaders(incoming.request.headers))
    return target ? answer(incoming, target) : answerError(notFound(pathname), incoming)
  }

  const bare = new Elysia({
    normalize: false,
    websocket: SOCKET_LIMITS,
    // Otherwise Elysia misreads where the path begins for a host of a few letters, such as http://api/.
    handler: { standardHostname: false },
    serve: {
      // Prevents error pages that show source code.
      development: false,
      // `read-body.ts` enforces our limit with a proper error; Bun's would have no body.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    },
  })
  // Before the hooks below, which must not apply to controllers.
  for (const controller of controllers) bare.use(controller)
  const app = bare
    .onRequest(({ request, server }) => {
      if (!hasReadableAddress(request)) return answerError(refuse('addressMalformed'), { request, server })
      return request.method === 'OPTIONS' ? answerPreflight(request) : undefined
    })
    // Elysia prepares the properties that a handler destructures: naming the whole context would parse it for nothing.
    .all('/*', ({ request, server }) => answerElsewhere({ request, server }), OWN_PATH)
    .onError(({ code, error, request, server }) => {
      const incoming = { request, server }
      return answerError(code === 'NOT_FOUND' ? notFound(urlOf(request).pathname) : error, incoming)
    })
  for (const [path, target] of Object.entries(TARGETS)) {
    const handler = ({ request, server }: Incoming) =>
      answer({ request, server }, ofVendor(target, vendorOfHeaders(request.headers)))
    for (const method of [...methodsOf(target), 'ALL']) app.route(method, path, handler, OWN_PATH)
  }
  return app
}

/** Undefined for a connection that has become a WebSocket. */
type Answered = Response | undefined | Promise<Response | undefined>

/** Answers targets; a method that the target does not have gets a 405. */
function createDispatch(options: Omit<HttpOptions, 'controllers'>) {
  const cors = createCors(options.config.corsOrigins)
  const entrance = createEntrance({ ...options, cors })
  const answerAsked = createAnswer(options, entrance)
  const { answerModels, answerTold, answerHealth, answerProbe } = createFreeAnswers(options, entrance)

  const answerRealtime = createRealtimeDoor(options, entrance)

  function answerAllowed(incoming: Incoming, method: Method, target: Target): Promise<Response | undefined> {
    if (target.kind === 'models') return answerModels(incoming, target.id)
    if (target.kind === 'told') return answerTold(incoming, target.about)
    if (target.kind === 'realtime') return answerRealtime(incoming)
    if (target.kind === 'probe') return answerProbe(incoming, target.probe)
    return target.kind === 'health' ? answerHealth(incoming) : answerAsked(incoming, target, method)
  }

  function answerError(error: unknown, incoming: Incoming, target: Target | null = null): Response {
    const response = entrance.fail(error, incoming, entrance.arrive(incoming.request))
    entrance.noteUnrecorded(target, response.status)
    return leaveBody(incoming.request, response)
  }

  return {
    answer(incoming: Incoming, target: Target): Answered {
      const method = methodOf(target, incoming.request.method)
      if (method) return answerAllowed(incoming, method, target)
      if (/^websocket$/i.test(incoming.request.headers.get('upgrade') ?? ''))
        return answerError(refuse('socketUnsupported'), incoming, target)
      const allowed = methodsOf(target).join(', ')
      const methods = allowed.replace(', ', ' and ')
      return answerError(refuse('methodNotAllowed', { allowed, methods }), incoming, target)
    },
    /** Answers a browser's preflight; undefined for any other request. */
    answerPreflight(request: Request): Response | undefined {
      const headers = cors.preflight(request)
      if (headers === null) return undefined
      entrance.noteUnrecorded(null, 204)
      return respond({ status: 204, headers, body: '' }, entrance.arrive(request))
    },
    /** Leads a browser that opens the bare address to the dashboard; undefined for any other request. */
    answerHome(request: Request): Response | undefined {
      const headers = homeOf(request)
      if (headers === null) return undefined
      entrance.noteUnrecorded(null, 302)
      return leaveBody(request, respond({ status: 302, headers, body: '' }, entrance.arrive(request)))
    },
    answerError,
  }
}
