/** A request from the wire in the form that the pipeline takes. */
import type { ProxyRequest } from '../pipeline/exchange.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { readAuthorization } from './key-carrier.ts'
import { namedBody } from './name-model.ts'
import type { ReceivedBody } from './read-body.ts'
import type { Arrival } from './respond.ts'

export interface ProxyRequestOptions {
  endpoint: Endpoint
  /** As the path names it, where it does. */
  model: string | null
  body: ReceivedBody
  arrival: Arrival
  /** The client's, as far as it can be trusted. */
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
