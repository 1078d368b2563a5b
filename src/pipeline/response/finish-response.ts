/** Completes a response before the client gets it: adds headers, claims created ids, restores echoed fields, stores the conversation. */
import { setProxyStatusHeader } from '../../providers/proxy-status.ts'
import { type AdmittedRequest, setRateLimitHeaders } from '../context/admit-request.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { restoreEchoedFields } from '../conversations/echoed-fields.ts'
import { claimCreatedIds } from '../ownership/claim-ids.ts'
import type { ProxyResponse } from '../request/request.ts'
import { setCacheScopeHeader } from './serve-hit.ts'

export async function finishResponse(
  context: RequestContext,
  response: ProxyResponse,
  admitted: AdmittedRequest,
  services: PipelineServices,
): Promise<ProxyResponse> {
  const { query } = context
  setProxyStatusHeader(admitted.recorder.attempts, response.headers)
  await setRateLimitHeaders(admitted, response)
  if (response.headers['x-proxy-cache']?.startsWith('HIT')) setCacheScopeHeader(response.headers, context)
  if (query.alias) response.headers['x-proxy-model'] ??= query.model
  return storeCreatedObjects(context, response, services)
}

/** Ids in the client's own fields are not claimed: they are restored after the claim. */
async function storeCreatedObjects(
  { query, resolvedKey, provider }: RequestContext,
  response: ProxyResponse,
  services: PipelineServices,
): Promise<ProxyResponse> {
  if (query.kind !== 'completion') return response
  const { canBeStored, echoedFields } = query
  const claimed = canBeStored ? await claimCreatedIds({ query, resolvedKey, provider }, response, services) : response
  const restored = echoedFields ? await restoreEchoedFields(echoedFields, claimed, resolvedKey) : claimed
  return canBeStored ? services.conversations.storeResponse({ query, resolvedKey }, restored) : restored
}
