/** Explains what the cache would do with a request: nobody is asked for an answer, and nothing counts against the month. */
import type { Admission } from '../admission/admission.ts'
import { hashBearerKey } from '../admission/api-key.ts'
import type { Explainer } from '../cache/explain.ts'
import { invalidRequest, ProxyError } from '../errors.ts'
import type { JsonObject } from '../json/json-object.ts'
import type { Routes } from '../providers/routes.ts'
import type { Endpoint } from '../providers/upstream.ts'
import type { ProxyRequest, ProxyResponse } from './exchange.ts'
import { parseObject, parseRequest } from './parse-request.ts'
import { planRequest } from './plan-request.ts'
import { JSON_TYPE } from './response-headers.ts'

export type RequestExplainer = (request: ProxyRequest) => Promise<ProxyResponse>

/** Takes a request's own body and headers. Throws 400, 401, 403, 404 or 503. */
export function createRequestExplainer(
  admission: Pick<Admission, 'authenticate'>,
  routes: Routes,
  explainer: Explainer,
): RequestExplainer {
  return async ({ authorization, address, headers, readBody }) => {
    const account = await admission.authenticate(hashBearerKey(authorization), address)
    const text = await readBody()
    const query = parseRequest({ endpoint: endpointOf(parseObject(text)), headers }, text)
    const { route, cacheQuery } = planRequest(query, account, routes)
    if (route instanceof ProxyError) throw route
    if (!cacheQuery) throw new Error('A request with a route has a cache query')
    const explanation = await explainer.explain(cacheQuery)
    return { status: 200, headers: { ...JSON_TYPE }, body: JSON.stringify(explanation) }
  }
}

/** Which operation a body is for: the path here names none. */
function endpointOf(body: JsonObject): Endpoint {
  if ('messages' in body) return 'chat'
  if ('prompt' in body) return 'completions'
  throw invalidRequest('Give the body of a chat completion (with messages) or of a completion (with prompt).')
}
