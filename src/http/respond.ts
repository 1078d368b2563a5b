/** Creates the HTTP response: X-Request-Id and X-Proxy-Latency-Ms on every one, errors in OpenAI's or Anthropic's envelope. */
import type { ProxyError } from '../errors.ts'
import { writeError } from '../formats/messages/message-errors.ts'
import type { ProxyResponse } from '../pipeline/exchange.ts'

export interface Arrival {
  requestId: string
  /** `performance.now()` when the request arrived. */
  atMs: number
  /** CORS headers; empty unless a page sent the request. */
  corsHeaders: Record<string, string>
  /** Whether the client expects Anthropic's envelope. */
  isAnthropic: boolean
}

export function respond({ status, headers, body }: ProxyResponse, arrival: Arrival): Response {
  Object.assign(headers, arrival.corsHeaders)
  headers['x-request-id'] = arrival.requestId
  if (arrival.isAnthropic) headers['request-id'] = arrival.requestId
  headers['x-proxy-latency-ms'] = (performance.now() - arrival.atMs).toFixed(3)
  return new Response(body, { status, headers })
}

export function respondWithJson(value: unknown, arrival: Arrival, status = 200): Response {
  return respond({ status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }, arrival)
}

export function respondWithError(error: ProxyError, arrival: Arrival): Response {
  const headers = { 'content-type': 'application/json', ...error.headers }
  const body = arrival.isAnthropic ? writeError(error, arrival.requestId) : error.toBody()
  return respond({ status: error.status, headers, body: JSON.stringify(body) }, arrival)
}
