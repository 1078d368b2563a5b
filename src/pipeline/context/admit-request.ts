/** Admits requests, decides which of them count against the quota, and reserves the cost of those that need it before the cache lookup. */
import { applyRateLimitHeaders } from '../../admission/admission.ts'
import { ProxyError } from '../../errors/errors.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { actionsOf } from '../../providers/stored-object-collections.ts'
import type { RequestRecorder } from '../accounting/request-recorder.ts'
import type { ProxyRequest, ProxyResponse } from '../request/request.ts'
import { maxCost, requestSizeOf } from '../spending/max-cost.ts'
import type { RequestPlan } from './plan-request.ts'
import type { PipelineServices, RequestContext } from './request-context.ts'

export interface AdmittedRequest {
  resolvedKey: ResolvedKey
  /** The exact entry of the early plan, if there is one. */
  exactEntry: Uint8Array | null
  /** Requests that the key may still send in its window; null for a request that does not count. */
  remainingRequests: number | null
  recorder: RequestRecorder
}

/**
 * Throws 401, 403, 429 or 503. Only a request that counts against the quota is recorded. The semantic lookup may begin before the request is
 * counted.
 */
export async function admitRequest(
  request: ProxyRequest,
  keyHash: string,
  earlyPlan: RequestPlan | null,
  { admission, accounting, cache, explainer }: PipelineServices,
): Promise<AdmittedRequest> {
  if (!isCountedAgainstQuota(request) && !(explainer.isMetered && isExplanation(request))) {
    const resolvedKey = await admission.admitWithoutQuota(keyHash, request)
    const recorder = accounting.open(request, resolvedKey, null)
    return { resolvedKey, exactEntry: null, remainingRequests: null, recorder }
  }
  const { address } = request
  const { exactKey, cacheQuery } = earlyPlan ?? NO_PLAN
  const { resolvedKey, entry, remaining, release } = await admission.admit({
    keyHash,
    address,
    exactKey,
    onEntryMissing: () => cacheQuery && cache.prefetch(cacheQuery),
  })
  return {
    resolvedKey,
    exactEntry: entry,
    remainingRequests: remaining,
    recorder: accounting.open(request, resolvedKey, release),
  }
}

const NO_PLAN = { exactKey: null, cacheQuery: null }

/** Whether the request counts against the monthly quota and is recorded. Reading stored objects, token counts and explanations are free. */
export function isCountedAgainstQuota({ target, method }: Pick<ProxyRequest, 'target' | 'method'>): boolean {
  if (target.kind === 'stored_object') return actionsOf(target)[method]?.isCounted === true
  return target.kind === 'endpoint' || target.kind === 'operation'
}

function isExplanation({ target }: ProxyRequest): boolean {
  return target.kind === 'cache' && target.question === 'explain'
}

/** Sets the headers that report what is left of the client's limits. */
export async function setRateLimitHeaders(
  { resolvedKey, remainingRequests: remaining, recorder }: AdmittedRequest,
  { headers }: Pick<ProxyResponse, 'headers'>,
): Promise<void> {
  const spending = recorder.spending && (await recorder.spending.readRemaining())
  applyRateLimitHeaders({ resolvedKey, remaining, spending }, headers)
}

/**
 * Reserves the cost of a request before the cache lookup, if the project rejects hits, too, when a budget is spent (`when_exhausted` is
 * `refuse`). Throws when a budget is spent. Money that other requests have reserved is not spent: the request waits for it only if the cache
 * has no response.
 */
export async function reserveAhead(
  { query, resolvedKey, provider, recorder }: RequestContext,
  { catalogue }: PipelineServices,
): Promise<void> {
  if (resolvedKey.when_exhausted !== 'refuse' || !provider) return
  if (query.kind !== 'completion' && query.kind !== 'pass_through') return
  const reserving = recorder.spending?.reserveAhead(query.model, maxCost(requestSizeOf(query), provider, catalogue))
  await reserving?.catch(error => {
    if (!(error instanceof ProxyError && error.code === 'budget_reserved')) throw error
  })
}
