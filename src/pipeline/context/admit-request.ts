/** Which requests count, and their admission. */
import { applyRateLimitHeaders } from '../../admission/admission.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { RequestRecorder } from '../accounting/request-recorder.ts'
import type { ProxyRequest, ProxyResponse } from '../request/request.ts'
import type { RequestPlan } from './plan-request.ts'
import type { PipelineServices } from './request-context.ts'

export interface AdmittedRequest {
  resolvedKey: ResolvedKey
  /** The exact entry of the plan that was guessed, if it was found. */
  exactEntry: Uint8Array | null
  /** Requests that the key may still make in its window; null for a request that is free. */
  remainingRequests: number | null
  recorder: RequestRecorder
}

/** Only what counts against the month is accounted for. A lookup may begin before that has been counted. */
export async function admitRequest(
  request: ProxyRequest,
  keyHash: string,
  guessed: RequestPlan | null,
  { admission, accounting, cache, explainer }: PipelineServices,
): Promise<AdmittedRequest> {
  if (!isCountedAgainstQuota(request) && !(explainer.isMetered && isExplained(request))) {
    const account = await admission.admitWithoutQuota(keyHash, request)
    return {
      resolvedKey: account,
      exactEntry: null,
      remainingRequests: null,
      recorder: accounting.open(request, account, null),
    }
  }
  const { address } = request
  const { exactKey, cacheQuery } = guessed ?? NO_PLAN
  const onNone = () => cacheQuery && cache.prefetch(cacheQuery)
  const { resolvedKey, entry, remaining, release } = await admission.admit({
    keyHash,
    address,
    exactKey,
    onEntryMissing: onNone,
  })
  return {
    resolvedKey,
    exactEntry: entry,
    remainingRequests: remaining,
    recorder: accounting.open(request, resolvedKey, release),
  }
}

const NO_PLAN = { exactKey: null, cacheQuery: null }

/** Whether the request counts against the month, and is recorded. Reading what a provider keeps, and questions, are free. */
export function isCountedAgainstQuota({ target, method }: Pick<ProxyRequest, 'target' | 'method'>): boolean {
  if (target.kind === 'kept') return target.id === null && method === 'POST'
  if (target.kind === 'bound') return method === 'POST'
  return target.kind === 'endpoint' || target.kind === 'operation'
}

function isExplained({ target }: ProxyRequest): boolean {
  return target.kind === 'cache' && target.question === 'explain'
}

/** Tells the client what is left of its limits. */
export async function setRateLimitHeaders(
  { recorder, ...counted }: AdmittedRequest,
  { headers }: Pick<ProxyResponse, 'headers'>,
) {
  const { spending } = recorder
  applyRateLimitHeaders(
    {
      resolvedKey: counted.resolvedKey,
      remaining: counted.remainingRequests,
      spending: spending && (await spending.readRemaining()),
    },
    headers,
  )
}
