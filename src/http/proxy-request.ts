/** Converts an HTTP request into the pipeline's form. */
import type { ProxyRequest } from '../pipeline/exchange.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { readAuthorization } from './key-carrier.ts'
import { namedBody } from './name-model.ts'
import type { ReceivedBody } from './read-body.ts'
import type { Arrival } from './respond.ts'

export interface ProxyRequestOptions {
  endpoint: Endpoint
  /** The model in the path, if there is one. */
  model: string | null
  body: ReceivedBody
  arrival: Arrival
  /** The client's address, as far as it can be trusted. */
  address: string
  whenOver: ProxyRequest['whenOver']
}

export function toProxyRequest(
  { headers, signal }: Request,
  { endpoint, model, body, arrival, address, whenOver }: ProxyRequestOptions,
): ProxyRequest {
  const named = model === null ? body : namedBody(body, headers.get('content-type'), model)
  return {
    id: arrival.requestId,
    endpoint,
    authorization: readAuthorization(headers),
    address,
    headers,
    body: named,
    signal,
    arrivedAtMs: arrival.atMs,
    whenOver,
  }
}
