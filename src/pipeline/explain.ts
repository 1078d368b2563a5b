/** Explains what the cache would do with a request. No provider is asked, and nothing counts against the month. */
import type { Admission } from '../admission/admission.ts'
import { hashBearerKey } from '../admission/api-key.ts'
import type { Explainer } from '../cache/explain.ts'
import { invalidRequest } from '../errors.ts'
import { decodeUtf8 } from '../json/decode-utf8.ts'
import type { JsonObject } from '../json/json-object.ts'
import { isLargeBody, type LargeBodyReader } from '../large-bodies/read-large-body.ts'
import type { ModelRouter } from '../providers/model-router.ts'
import type { Endpoint } from '../providers/upstream.ts'
import type { ProxyRequest, ProxyResponse } from './exchange.ts'
import { parseLargeRequest, parseObject, parseRequest, type RequestQuery } from './parse-request.ts'
import { planRequest } from './plan-request.ts'
import { JSON_TYPE } from './response-headers.ts'

export type RequestExplainer = (request: ProxyRequest) => Promise<ProxyResponse>

/** Takes the body and headers of the request to be explained. Throws 400, 401, 403, 404 or 503. */
export function createRequestExplainer(
  admission: Pick<Admission, 'authenticate'>,
  modelRouter: ModelRouter,
  explainer: Explainer,
  largeBodies: LargeBodyReader,
): RequestExplainer {
  return async request => {
    const account = await admission.authenticate(hashBearerKey(request.authorization), request)
    const query = await readQuery(request, largeBodies)
    const plan = planRequest(query, account, modelRouter)
    if (plan.refusal) throw plan.refusal
    const explanation = await explainer.explain(plan.cacheQuery)
    return { status: 200, headers: { ...JSON_TYPE }, body: JSON.stringify(explanation) }
  }
}

async function readQuery({ body, headers }: ProxyRequest, largeBodies: LargeBodyReader): Promise<RequestQuery> {
  const bytes = await body.readBytes()
  if (isLargeBody(bytes)) {
    const large = await largeBodies.read(bytes, { hold: body.hold })
    return parseLargeRequest({ endpoint: endpointOf(large.body), headers }, large)
  }
  const text = decodeUtf8(bytes)
  return parseRequest({ endpoint: endpointOf(parseObject(text)), headers }, text)
}

/** Tells the operation from the body, because the path does not name it. */
function endpointOf(body: JsonObject): Endpoint {
  if ('messages' in body) return 'chat'
  if ('prompt' in body) return 'completions'
  throw invalidRequest('Give the body of a chat completion (with messages) or of a completion (with prompt).')
}
