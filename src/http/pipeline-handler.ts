/** Passes a request to the pipeline and sends its response: opens the body, sets the connection's time limits, and answers errors. */
import type { Config } from '../config/config.ts'
import { ClientDisconnected } from '../errors/errors.ts'
import { ResponseMemory } from '../event-loop/response-memory.ts'
import { GEMINI_KEEP_ALIVE } from '../formats/gemini/gemini-format.ts'
import { CLIENT_DISCONNECTED_STATUS } from '../pipeline/accounting/create-record.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import type {
  GeminiCall,
  HttpMethod,
  PipelineTarget,
  ProxyRequest,
  ProxyResponse,
  RequestBody,
} from '../pipeline/request/request.ts'
import type { Tracing } from '../telemetry/tracing/request-trace.ts'
import { adaptGeminiBody, adaptGeminiResponse } from './gemini-api.ts'
import { type ConnectionLimiter, type IncomingRequest, type Ingress, readAuthorization } from './ingress.ts'
import { routeOf } from './paths.ts'
import { addModelToBody, createBodyReader, type ReceivedBody } from './read-body.ts'
import { createResponse, isLongBody } from './respond.ts'
import { KEEP_ALIVE, streamBody } from './stream-body.ts'

/** How long a connection may be idle, in seconds. Requests that wait for an upstream are exempt. */
export const IDLE_TIMEOUT_SECONDS = 60

/** Never rejects. */
export type PipelineHandler = (
  incoming: IncomingRequest,
  target: PipelineTarget,
  method: HttpMethod,
) => Promise<Response>

export interface PipelineHandlerOptions {
  config: Pick<Config, 'maxBodyBytes' | 'bodyTimeoutMs'>
  pipeline: Pipeline
  /** Idle limit of a connection after its first response. */
  idleTimeoutSeconds: number
  connections: ConnectionLimiter
  /** Null if tracing is off. */
  tracing: Tracing | null
}

export function createPipelineHandler(options: PipelineHandlerOptions, ingress: Ingress): PipelineHandler {
  const { config, pipeline, idleTimeoutSeconds, connections, tracing } = options
  const createBodyRedactor = createBodyReader({ ...config, acceptsMislabeledJson: true })

  return async (incoming, target, method) => {
    const { request, server } = incoming
    const context = ingress.createContext(request)
    const body = createBodyRedactor(request)
    const trace = tracing?.startRequest({ method, route: () => routeOf(target), headers: request.headers })
    let proxyRequest: ProxyRequest | null = null
    let isStreaming = false
    let status = 0
    // No idle limit while the request is in flight: an upstream may take minutes, and has limits of its own.
    server?.timeout(request, 0)
    const finalizers: (() => void)[] = []
    const memory = new ResponseMemory(context.memory)
    function end(): void {
      // A connection keeps the last limit that was set, which is none while a request is in flight.
      server?.timeout(request, idleTimeoutSeconds)
      for (const finalizer of finalizers) finalizer()
      if (proxyRequest?.isRecorded) return
      trace?.end(status)
      ingress.countUnrecorded(target, status)
    }
    try {
      if (server) connections.check(server)
      const { headers, signal, url } = request
      const address = ingress.clientAddressOf(incoming)
      proxyRequest = {
        id: context.requestId,
        target,
        method,
        // The query of Gemini's API may contain the key.
        search: geminiCallOf(target) ? '' : queryStringOf(url),
        authorization: readAuthorization(request),
        address,
        headers,
        body: adaptBody(body, target, { headers, address }),
        signal,
        arrivedAtMs: context.arrivedAtMs,
        trace,
        responseMemory: memory,
        onFinished: finalizer => void finalizers.push(finalizer),
      }
      const { response, ...sending } = await adaptResponse(await pipeline(proxyRequest), proxyRequest, url)
      status = response.status
      const source = readLongBody(response)
      if (source) {
        isStreaming = true
        // Called after the end of the body, so that this limit is the last that is set.
        const disconnect = () => server?.timeout(request, 1)
        response.body = streamBody(source, { ...sending, memory, onEnd: end, disconnect })
      }
      return closeIfUnread(createResponse(response, context), body)
    } catch (error) {
      const failed = ingress.respondToError(error, incoming, context)
      status = error instanceof ClientDisconnected ? CLIENT_DISCONNECTED_STATUS : failed.status
      return closeIfUnread(failed, body)
    } finally {
      body.release()
      if (!isStreaming) {
        memory.release()
        end()
      }
    }
  }
}

/** Returns the method of Gemini's API and its model; undefined for any other target. */
function geminiCallOf(target: PipelineTarget): GeminiCall | undefined {
  return 'gemini' in target ? target.gemini : undefined
}

/** Returns the body in the form that the pipeline reads, with the model of the path. */
function adaptBody(
  body: ReceivedBody,
  target: PipelineTarget,
  { headers, address }: Pick<ProxyRequest, 'headers' | 'address'>,
): RequestBody {
  const gemini = geminiCallOf(target)
  if (gemini) return adaptGeminiBody(body, gemini, address)
  const model = 'model' in target ? target.model : null
  return model === null ? body : addModelToBody(body, headers.get('content-type'), model)
}

/** Returns the response in the form that the client reads, and how it is sent. */
async function adaptResponse(
  piped: ProxyResponse,
  { target, address: owner }: Pick<ProxyRequest, 'target' | 'address'>,
  url: string,
) {
  const gemini = geminiCallOf(target)
  const hasEvents = isEventStream(piped)
  // Without this header, nginx buffers the stream.
  if (hasEvents) piped.headers['x-accel-buffering'] = 'no'
  if (!gemini) return { response: piped, hasEvents, keepAlive: KEEP_ALIVE }
  return { response: await adaptGeminiResponse(piped, gemini, { url, owner }), hasEvents, keepAlive: GEMINI_KEEP_ALIVE }
}

/** Returns a body that is sent in pieces; null for a short one. */
function readLongBody({ body }: ProxyResponse): ReadableStream<Uint8Array> | Uint8Array | null {
  if (body instanceof ReadableStream) return body
  if (!isLongBody(body)) return null
  return typeof body === 'string' ? Buffer.from(body) : body
}

function isEventStream({ headers }: ProxyResponse): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false
}

/** Closes the connection if bytes of its body may still be arriving, because it then accepts no further request. */
function closeIfUnread(response: Response, body: ReceivedBody): Response {
  if (body.hasUnreadBytes()) response.headers.set('connection', 'close')
  return response
}

/** Returns the URL's query string with its question mark; '' without one. */
function queryStringOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start)
}
