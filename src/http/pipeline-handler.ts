/** Passes one request to the pipeline and the response back: body, time limits of its connection, errors. */
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

/** How long Bun's connections may idle, in seconds; requests that wait for an upstream are exempt. */
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
  /** For a connection after a request was answered on it. */
  idleTimeoutSeconds: number
  connections: ConnectionLimiter
  /** Null where nothing is traced. */
  tracing: Tracing | null
}

export function createPipelineHandler(options: PipelineHandlerOptions, entrance: Ingress): PipelineHandler {
  const { config, pipeline, idleTimeoutSeconds, connections, tracing } = options
  const openBody = createBodyReader({ ...config, acceptsMislabeledJson: true })

  return async (incoming, target, method) => {
    const { request, server } = incoming
    const arrival = entrance.createContext(request)
    const body = openBody(request)
    const trace = tracing?.startRequest({ method, route: () => routeOf(target), headers: request.headers })
    let asked: ProxyRequest | null = null
    let isStreaming = false
    let status = 0
    // No idle limit while the request is in flight: an upstream may take minutes, and has limits of its own.
    server?.timeout(request, 0)
    const lastActs: (() => void)[] = []
    const memory = new ResponseMemory(arrival.memory)
    function end(): void {
      // The connection keeps its last limit: without this one it would idle for ever.
      server?.timeout(request, idleTimeoutSeconds)
      for (const act of lastActs) act()
      if (asked?.isRecorded) return
      trace?.end(status)
      entrance.countUnrecorded(target, status)
    }
    try {
      if (server) connections.check(server)
      const { headers, signal, url } = request
      const model = 'model' in target ? target.model : null
      asked = {
        id: arrival.requestId,
        target,
        method,
        search: searchOf(url),
        authorization: readAuthorization(headers),
        address: entrance.clientAddressOf(incoming),
        headers,
        body: model === null ? body : addModelToBody(body, headers.get('content-type'), model),
        signal,
        arrivedAtMs: arrival.arrivedAtMs,
        trace,
        responseMemory: memory,
        onFinished: act => void lastActs.push(act),
      }
      const response = await pipeline(asked)
      status = response.status
      // Without this header, nginx buffers the stream.
      if (isEventStream(response)) response.headers['x-accel-buffering'] = 'no'
      const source =
        typeof response.body === 'string' && isLongBody(response.body) ? Buffer.from(response.body) : response.body
      if (source instanceof ReadableStream || (typeof source !== 'string' && isLongBody(source))) {
        isStreaming = true
        // Once it has ended: the limit is the connection's last.
        const disconnect = () => server?.timeout(request, 1)
        response.body = streamBody(source, { hasEvents: isEventStream(response), memory, onEnd: end, disconnect })
      }
      return endWith(createResponse(response, arrival), body)
    } catch (error) {
      const failed = entrance.respondToError(error, incoming, arrival)
      status = error instanceof ClientDisconnected ? CLIENT_DISCONNECTED_STATUS : failed.status
      return endWith(failed, body)
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

/** A connection whose body may still be arriving takes no further request. */
function endWith(response: Response, body: ReceivedBody): Response {
  if (body.hasUnreadBytes()) response.headers.set('connection', 'close')
  return response
}

/** The URL's query, with its question mark. */
function searchOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start)
}
