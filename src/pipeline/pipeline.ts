/** The life of a request, in order: parse, plan, admit, check with the hook, serve a hit or call a provider, finish, record. */
import { ProxyError } from '../errors/errors.ts'
import { sessionOf } from '../formats/session.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { type AdmittedRequest, admitRequest, isCountedAgainstQuota, reserveAhead } from './context/admit-request.ts'
import { changeControl, isPlanReusable, isStreamed, planRequest } from './context/plan-request.ts'
import { type EarlyBody, readBodyEarly } from './context/read-request.ts'
import type { PipelineServices, RequestContext } from './context/request-context.ts'
import { recordFailure, recordRejection } from './context/request-failure.ts'
import { operationForQuery, operationForTarget } from './endpoints/operations.ts'
import { applyHookDecision, checkRequest } from './hook-checks/check-request.ts'
import { checkCachedResponse } from './hook-checks/check-response.ts'
import { resolveAliasSync } from './request/change-model.ts'
import type { Query } from './request/query.ts'
import type { ProxyRequest, ProxyResponse } from './request/request.ts'
import { readTags } from './request/tags.ts'
import { createEarlyHeaders, EARLY_HEADERS_AFTER_MS, sendHeadersEarly } from './response/early-headers.ts'
import { finishResponse } from './response/finish-response.ts'
import { createMissHeaders } from './response/response-headers.ts'
import { sendWithFallbacks } from './upstream/fallbacks.ts'

export type Pipeline = (request: ProxyRequest) => Promise<ProxyResponse>

/** `keepAliveAfterMs`: milliseconds without a response after which the headers of a streamed response are sent. */
export function createPipeline(services: PipelineServices, keepAliveAfterMs = EARLY_HEADERS_AFTER_MS): Pipeline {
  const { admission, modelRouter, cache } = services
  const plan = (query: Query, key: ResolvedKey) => planRequest(query, operationForQuery(query), key, modelRouter)

  return async request => {
    const keyHash = admission.hashKey(request.authorization)
    let early: EarlyBody | null = null
    let admitted: AdmittedRequest | null = null
    try {
      early = await readBodyEarly(request, keyHash, services)
      // The cached key record only saves a round trip for the exact entry. It never decides about admission.
      const cachedKey = admission.findCachedKey(keyHash)
      const earlyPlan = early?.query && cachedKey && plan(resolveAliasSync(early.query, cachedKey), cachedKey)
      admitted = await admitRequest(request, keyHash, earlyPlan || null, services)
      const { resolvedKey, recorder } = admitted
      const query = early?.query
        ? resolveAliasSync(early.query, resolvedKey)
        : await operationForTarget(request.target).read(request, resolvedKey, services, early?.bytes)
      recorder.setQuery(query, readTags(request.headers, query))
      const session = sessionOf(request.headers, query.body, `${resolvedKey.key_id}`)
      if (session !== null) recorder.setDetails({ session })
      const loading = modelRouter.loadModelNames(resolvedKey, query.model)
      if (loading) await loading
      const isReusable = earlyPlan && !loading && isPlanReusable(cachedKey, resolvedKey)
      const planned = isReusable ? earlyPlan : plan(query, resolvedKey)
      const exactEntry = isReusable ? admitted.exactEntry : await cache.readEntry(planned.exactKey)
      if (planned.error) throw planned.error
      const check = services.hook && (await checkRequest({ request, query, resolvedKey }, services.hook))
      if (planned.provider) recorder.setProvider(planned.provider)
      if (planned.cacheQuery) recorder.setDetails({ asked_id: planned.cacheQuery.askedId })
      const isOld = await isOldVersion({ query, resolvedKey, control: planned.control }, services)
      const allowed = isOld ? changeControl(planned, OLD_VERSION) : planned
      const context = { request, query, resolvedKey, recorder, check, ...applyHookDecision(allowed, check) }
      const entry = isOld ? null : exactEntry
      const responding = complete(context, admitted, entry, services)
      if (entry !== null || !isStreamed(context)) return await responding // An exact hit responds at once.
      return await sendHeadersEarly(responding, createEarlyHeaders(context, admitted, keepAliveAfterMs))
    } catch (raised) {
      if (admitted) throw await recordFailure(admitted, raised)
      throw recordRejection(request, { keyHash, early }, raised, services)
    }
  }
}

/** The cache control of a request that names an old version: its response comes from the provider, and is not stored. */
const OLD_VERSION = { isOldVersion: true, lookup: false, store: false }

/** Explaining a request records no version. */
function isOldVersion(
  { query, resolvedKey, control }: Pick<RequestContext, 'query' | 'resolvedKey' | 'control'>,
  { versions }: PipelineServices,
): Promise<boolean> | false {
  return control !== null && versions.isOld(control, resolvedKey, { mayRecord: query.kind !== 'explain' })
}

/** Records a failure here because the client may already have the headers of its response. */
async function complete(
  context: RequestContext,
  admitted: AdmittedRequest,
  exactEntry: Uint8Array | null,
  services: PipelineServices,
): Promise<ProxyResponse> {
  try {
    return await finishResponse(context, await respond(context, exactEntry, services), admitted, services)
  } catch (raised) {
    throw await recordFailure(admitted, raised)
  }
}

async function respond(
  context: RequestContext,
  exactEntry: Uint8Array | null,
  services: PipelineServices,
): Promise<ProxyResponse> {
  const { request, operation, cacheQuery, provider } = context
  try {
    await reserveAhead(context, services)
    const cached = cacheQuery && services.cache.readExact(exactEntry, cacheQuery)
    const match = cached && context.check ? await checkCachedResponse(context, cached, services) : cached
    return (match && operation.serveHit(context, match, services)) ?? (await sendWithFallbacks(context, services))
  } catch (error) {
    const isMiss = error instanceof ProxyError && provider && isCountedAgainstQuota(request)
    if (isMiss) Object.assign(error.headers, createMissHeaders(provider.name, 0))
    throw error
  }
}
