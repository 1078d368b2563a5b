/** The life of a request, in order: parse, plan, admit, check with the hook, serve a hit or call a provider, finish, record. */
import { createError, ProxyError } from '../errors/errors.ts'
import { sessionOf } from '../formats/session.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { isDatabaseUnavailable } from '../postgres/database.ts'
import { setProxyStatusHeader } from '../providers/attempts.ts'
import {
  type AdmittedRequest,
  admitRequest,
  isCountedAgainstQuota,
  reserveAhead,
  setRateLimitHeaders,
} from './context/admit-request.ts'
import { changeControl, isPlanReusable, isStreamed, planRequest } from './context/plan-request.ts'
import { type EarlyBody, readBodyEarly } from './context/read-request.ts'
import type { Operation, PipelineServices, RequestContext } from './context/request-context.ts'
import { restoreEchoedFields } from './conversations/echoed-fields.ts'
import { auxiliaryOperation } from './endpoints/auxiliary.ts'
import { completionOperation } from './endpoints/completions/completion.ts'
import { embeddingsOperation } from './endpoints/embeddings/embeddings.ts'
import { passThroughOperation } from './endpoints/pass-through/pass-through.ts'
import { applyHookDecision, checkCachedResponse, checkRequest } from './hook-checks/check-with-hook.ts'
import { claimCreatedIds } from './ownership/claim-ids.ts'
import { resolveAliasSync } from './request/change-model.ts'
import type { Query } from './request/query.ts'
import type { PipelineTarget, ProxyRequest, ProxyResponse } from './request/request.ts'
import { readTags } from './request/tags.ts'
import { createEarlyHeaders, EARLY_HEADERS_AFTER_MS, sendHeadersEarly } from './response/early-headers.ts'
import { createMissHeaders } from './response/response-headers.ts'
import { setCacheScopeHeader } from './response/serve-hit.ts'
import { storedObjectOperation } from './stored-objects/stored-objects.ts'
import { sendWithFallbacks } from './upstream/fallbacks.ts'

/** The operation that reads the body. */
const BY_TARGET: Record<PipelineTarget['kind'], Operation> = {
  // This includes embeddings: only the body tells whether they are processed input by input.
  endpoint: completionOperation,
  operation: passThroughOperation,
  stored_object: storedObjectOperation,
  count: auxiliaryOperation,
  cache: auxiliaryOperation,
}

/** The operation that executes the request. */
const BY_QUERY: Record<Query['kind'], Operation> = {
  completion: completionOperation,
  pass_through: passThroughOperation,
  stored_object: storedObjectOperation,
  count: auxiliaryOperation,
  explain: auxiliaryOperation,
  feedback: auxiliaryOperation,
}

const operationFor = (query: Query): Operation =>
  query.kind === 'completion' && query.embeddings ? embeddingsOperation : BY_QUERY[query.kind]

export type Pipeline = (request: ProxyRequest) => Promise<ProxyResponse>

/** `keepAliveAfterMs`: milliseconds without a response after which the headers of a streamed response are sent. */
export function createPipeline(services: PipelineServices, keepAliveAfterMs = EARLY_HEADERS_AFTER_MS): Pipeline {
  const { admission, modelRouter, cache } = services
  const plan = (query: Query, key: ResolvedKey) => planRequest(query, operationFor(query), key, modelRouter)

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
        : await BY_TARGET[request.target.kind].read(request, resolvedKey, services, early?.bytes)
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

/** Completes a response before the client gets it: adds headers, claims created ids, restores echoed fields, stores the conversation. */
async function finishResponse(
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

/** Finishes the record of an admitted request. Returns the error that the client gets, with the headers of its limits and attempts. */
export async function recordFailure(admitted: AdmittedRequest, raised: unknown): Promise<unknown> {
  const error = toClientError(raised)
  admitted.recorder.finishFailed(error)
  if (!(error instanceof ProxyError)) return error
  setProxyStatusHeader(admitted.recorder.attempts, error.headers)
  await setRateLimitHeaders(admitted, error)
  return error
}

/** Returns a 503 for an unavailable database; any other error unchanged. */
function toClientError(raised: unknown): unknown {
  return isDatabaseUnavailable(raised) ? createError('databaseUnavailable', null, raised) : raised
}

/**
 * Records a request that was rejected before admission, if its key is known and the request would count against the quota. Returns the error
 * that the client gets.
 */
export function recordRejection(
  request: ProxyRequest,
  { keyHash, early }: { keyHash: string; early: EarlyBody | null },
  raised: unknown,
  { admission, accounting }: PipelineServices,
): unknown {
  const error = toClientError(raised)
  const cachedKey = admission.findCachedKey(keyHash)
  if (!cachedKey || !isCountedAgainstQuota(request)) return error
  const query = early?.query ? resolveAliasSync(early.query, cachedKey) : null
  accounting.recordRejection(request, cachedKey, query, error)
  return error
}
