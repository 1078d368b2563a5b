/** Passes a request to the pipeline and sends its response: opens the body, sets the connection's time limits, and answers errors. */
import type { Config } from '../config/config.ts'
import { ClientDisconnected } from '../errors/errors.ts'
import { ResponseMemory } from '../event-loop/response-memory.ts'
import { CLIENT_DISCONNECTED_STATUS } from '../pipeline/accounting/create-record.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import type { HttpMethod, PipelineTarget, ProxyRequest, ProxyResponse } from '../pipeline/request/request.ts'
import type { Tracing } from '../telemetry/tracing/request-trace.ts'
import { type ConnectionLimiter, type IncomingRequest, type Ingress, readAuthorization } from './ingress.ts'
import { routeOf } from './paths.ts'
import { addModelToBody, createBodyReader, type ReceivedBody } from './read-body.ts'
import { createResponse, isLongBody } from './respond.ts'
import { streamBody } from './stream-body.ts'

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
      const model = 'model' in target ? target.model : null
      proxyRequest = {
        id: context.requestId,
        target,
        method,
        search: queryStringOf(url),
        authorization: readAuthorization(headers),
        address: ingress.clientAddressOf(incoming),
        headers,
        body: model === null ? body : addModelToBody(body, headers.get('content-type'), model),
        signal,
        arrivedAtMs: context.arrivedAtMs,
        trace,
        responseMemory: memory,
        onFinished: finalizer => void finalizers.push(finalizer),
      }
      const response = await pipeline(proxyRequest)
      status = response.status
      // Without this header, nginx buffers the stream.
      if (isEventStream(response)) response.headers['x-accel-buffering'] = 'no'
      const source =
        typeof response.body === 'string' && isLongBody(response.body) ? Buffer.from(response.body) : response.body
      if (source instanceof ReadableStream || (typeof source !== 'string' && isLongBody(source))) {
        isStreaming = true
        // Called after the end of the body, so that this limit is the last that is set.
        const disconnect = () => server?.timeout(request, 1)
        response.body = streamBody(source, { hasEvents: isEventStream(response), memory, onEnd: end, disconnect })
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
