/** One request from the wire to the pipeline, and its answer back: key, address, body, time limits of its connection. */
import type { Config } from '../config.ts'
import { ClientGone, ProxyError, refuse } from '../errors.ts'
import type { ProxyRequest, ProxyResponse } from '../pipeline/exchange.ts'
import type { KeptObjects } from '../pipeline/kept-objects/kept-objects.ts'
import type { ModelDirectory } from '../pipeline/model-directory.ts'
import type { PassThrough } from '../pipeline/pass-through/pass-through.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import type { StoredResponses } from '../pipeline/stored-responses.ts'
import type { TokenCounter } from '../pipeline/token-counter.ts'
import type { Operation } from '../providers/operations.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import type { Refusals } from '../telemetry/refusals.ts'
import { addressPrefix, readClientAddress } from './client-address.ts'
import type { ConnectionRoom } from './connection-room.ts'
import { createCors } from './cors.ts'
import type { EdgeWindows } from './edge-windows.ts'
import type { Health } from './health.ts'
import { readAuthorization } from './key-carrier.ts'
import { type CacheQuestion, isAnthropicPath, type Target } from './paths.ts'
import { toProxyRequest } from './proxy-request.ts'
import { createBodyReader, type ReceivedBody } from './read-body.ts'
import { readRequestId } from './request-id.ts'
import { type Arrival, respond, respondWithError, respondWithJson } from './respond.ts'
import { streamBody } from './stream-body.ts'

/** Bun's connections may idle this long, in seconds; requests that wait for an upstream are exempt. */
export const IDLE_TIMEOUT_SECONDS = 60

export interface AnswerOptions {
  config: Pick<Config, 'maxBodyBytes' | 'bodyTimeoutMs' | 'trustedProxies' | 'corsOrigins'>
  /** Of a connection, once a request of the pipeline's has been answered on it. */
  idleTimeoutSeconds: number
  pipeline: Pipeline
  passThrough: PassThrough
  keptObjects: KeptObjects
  countTokens: TokenCounter
  storedResponses: StoredResponses
  /** Answers to what people ask the cache itself. */
  cacheQuestions: Record<CacheQuestion, (request: ProxyRequest) => Promise<ProxyResponse>>
  models: ModelDirectory
  checkHealth(): Promise<Health>
  connections: ConnectionRoom
  edge: EdgeWindows
  refusals: Refusals
  log: Log
}

/** The part of Bun's server that handlers use. */
export interface Server {
  readonly pendingRequests: number
  closeIdleConnections(): number
  requestIP(request: Request): { address: string } | null
  timeout(request: Request, seconds: number): void
}

/** Which files or batches. */
export type KeptTarget = Extract<Target, { kind: 'kept' }>

/** Where a request came in. */
export interface Incoming {
  request: Request
  server: Server | null
}

export function createAnswers(options: AnswerOptions) {
  const {
    config,
    idleTimeoutSeconds,
    pipeline,
    passThrough,
    keptObjects,
    countTokens,
    storedResponses,
    cacheQuestions,
    models,
    checkHealth,
    connections,
    edge,
    refusals,
    log,
  } = options
  const openBody = createBodyReader(config)
  const cors = createCors(config.corsOrigins)

  function arrive(request: Request): Arrival {
    return {
      requestId: readRequestId(request.headers),
      atMs: performance.now(),
      corsHeaders: cors.headersFor(request),
      isAnthropic: isAnthropicPath(request.url.split('?')[0] ?? ''),
    }
  }

  /** What is counted: an IPv6 client is its /64. */
  function addressOf({ request, server }: Incoming): string {
    const socketAddress = server?.requestIP(request)?.address ?? '127.0.0.1'
    const forwardedFor = request.headers.get('x-forwarded-for')
    return addressPrefix(readClientAddress(socketAddress, forwardedFor, config.trustedProxies))
  }

  function fail(error: unknown, incoming: Incoming, arrival: Arrival): Response {
    const told = asProxyError(error, arrival)
    if (told.status === 401 || told.status === 403 || told.status === 429) refusals.note(told.code, addressOf(incoming))
    return respondWithError(told, arrival)
  }

  function asProxyError(error: unknown, { requestId }: Arrival): ProxyError {
    if (error instanceof ProxyError) {
      if (error.status >= 500)
        log.warn({ id: requestId, code: error.code, cause: describeCause(error.cause) }, 'request failed')
      return error
    }
    if (error instanceof ClientGone) return refuse('internal', null, error)
    const where = error instanceof Error ? error.stack?.split('\n').slice(1, 4).join('\n') : undefined
    log.error({ id: requestId, cause: describeCause(error), where }, 'unexpected error')
    return refuse('internal', null, error)
  }

  /** A request of the pipeline's. `model`: as the path names it, where it does. */
  function answerEndpoint(incoming: Incoming, endpoint: Endpoint, model: string | null): Promise<Response> {
    return answerWith(pipeline, incoming, endpoint, model)
  }

  async function answerWith(
    answer: (request: ProxyRequest) => Promise<ProxyResponse>,
    incoming: Incoming,
    endpoint: Endpoint,
    model: string | null,
  ): Promise<Response> {
    const { request, server } = incoming
    const arrival = arrive(request)
    const body = openBody(request)
    let isStreaming = false
    // An upstream may think for minutes; its own limits apply then, not the connection's.
    server?.timeout(request, 0)
    // The connection keeps the limit it was given last: else it would idle for ever.
    const restoreLimit = () => server?.timeout(request, idleTimeoutSeconds)
    try {
      if (server) connections.check(server)
      const response = await answer(
        toProxyRequest(request, { endpoint, model, body, arrival, address: addressOf(incoming) }),
      )
      // Else nginx holds back what comes piece by piece.
      if (isEventStream(response)) response.headers['x-accel-buffering'] = 'no'
      if (response.body instanceof ReadableStream) {
        isStreaming = true
        passStream(response, response.body, restoreLimit)
      }
      return endWith(respond(response, arrival), body)
    } catch (error) {
      return endWith(fail(error, incoming, arrival), body)
    } finally {
      body.release()
      if (!isStreaming) restoreLimit()
    }
  }

  /** What a key can use; `id`: of one model, null for all. */
  async function answerModels(incoming: Incoming, id: string | null): Promise<Response> {
    const { request, server } = incoming
    const arrival = arrive(request)
    try {
      if (server) connections.check(server)
      const address = addressOf(incoming)
      await edge.passModels(address)
      const caller = { authorization: readAuthorization(request.headers), address }
      return respondWithJson(id === null ? await models.list(caller) : await models.find(caller, id), arrival)
    } catch (error) {
      return fail(error, incoming, arrival)
    }
  }

  /** A response that a provider keeps: `part` of it, or itself. */
  function answerResponse(
    incoming: Incoming,
    method: 'GET' | 'POST' | 'DELETE',
    { id, part }: { id: string; part: string },
  ): Promise<Response> {
    const { headers, signal, url } = incoming.request
    const asked = { id, part, method, query: new URL(url).search, headers, signal }
    return answerWith(request => storedResponses(request, asked), incoming, 'responses', null)
  }

  /** Files and batches, or one of them. */
  function answerKept(incoming: Incoming, method: 'GET' | 'POST' | 'DELETE', target: KeptTarget): Promise<Response> {
    const { collection, id, part } = target
    const answer = (request: ProxyRequest) => {
      if (id !== null) return keptObjects.ask(request, { method, collection, id, part })
      if (method === 'POST') return keptObjects.make(request, collection)
      return keptObjects.list(request, { collection, search: new URL(incoming.request.url).searchParams })
    }
    return answerWith(answer, incoming, 'chat', null)
  }

  async function answerHealth(incoming: Incoming): Promise<Response> {
    const arrival = arrive(incoming.request)
    try {
      await edge.passHealth(addressOf(incoming))
      const health = await checkHealth()
      return respondWithJson(health, arrival, health.status === 'down' ? 503 : 200)
    } catch (error) {
      return fail(error, incoming, arrival)
    }
  }

  /** A browser's question before a request; else undefined. */
  function answerPreflight(request: Request): Response | undefined {
    const headers = cors.preflight(request)
    return headers === null ? undefined : respond({ status: 204, headers, body: '' }, arrive(request))
  }

  return {
    answerEndpoint,
    answerCount: (incoming: Incoming, endpoint: Endpoint) => answerWith(countTokens, incoming, endpoint, null),
    answerOperation: (incoming: Incoming, operation: Operation) =>
      answerWith(request => passThrough(request, operation), incoming, 'chat', null),
    answerCacheQuestion: (incoming: Incoming, question: CacheQuestion) =>
      answerWith(cacheQuestions[question], incoming, 'chat', null),
    answerModels,
    answerKept,
    answerResponse,
    answerHealth,
    answerPreflight,
    answerError: (error: unknown, incoming: Incoming) => fail(error, incoming, arrive(incoming.request)),
  }
}

/** The client hears of a stream's life in its silence; its connection gets its limit back at the end. */
function passStream(response: ProxyResponse, body: ReadableStream<Uint8Array>, onEnd: () => void): void {
  response.body = streamBody(body, { hasEvents: isEventStream(response), onEnd })
}

function isEventStream({ headers }: ProxyResponse): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false
}

/** A connection on which a body may still be coming takes no further request. */
function endWith(response: Response, body: ReceivedBody): Response {
  if (body.isLeftOver()) response.headers.set('connection', 'close')
  return response
}
