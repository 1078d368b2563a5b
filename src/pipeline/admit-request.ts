/** Which requests count, and their admission. */
import { tellLimits } from '../admission/admission.ts'
import type { Account } from '../postgres/admit.ts'
import type { RequestRecorder } from './accounting/request-recorder.ts'
import type { RequestPlan } from './plan-request.ts'
import type { ProxyRequest, ProxyResponse } from './request.ts'
import type { Stages } from './request-context.ts'

export interface AdmittedRequest {
  account: Account
  /** The exact entry of the plan that was guessed, if it was found. */
  entry: Uint8Array | null
  /** Requests that the key may still make in its window; null for a request that is free. */
  remaining: number | null
  recorder: RequestRecorder
}

/** Only what counts against the month is accounted for. A lookup may begin before that has been counted. */
export async function admitRequest(
  request: ProxyRequest,
  keyHash: string,
  guessed: RequestPlan | null,
  { admission, accounting, cache, explainer }: Stages,
): Promise<AdmittedRequest> {
  if (!isCounted(request) && !(explainer.costs && isExplained(request))) {
    const account = await admission.authenticate(keyHash, request)
    return { account, entry: null, remaining: null, recorder: accounting.open(request, account, null) }
  }
  const { address } = request
  const { exactKey, cacheQuery } = guessed ?? NO_PLAN
  const onNone = () => cacheQuery && cache.beginFinding(cacheQuery)
  const { account, entry, remaining, leave } = await admission.admit({ keyHash, address, exactKey, onNone })
  return { account, entry, remaining, recorder: accounting.open(request, account, leave) }
}

const NO_PLAN = { exactKey: null, cacheQuery: null }

/** Whether the request counts against the month, and is recorded. Reading what a provider keeps, and questions, are free. */
export function isCounted({ target, method }: Pick<ProxyRequest, 'target' | 'method'>): boolean {
  if (target.kind === 'kept') return target.id === null && method === 'POST'
  if (target.kind === 'bound') return method === 'POST'
  return target.kind === 'endpoint' || target.kind === 'operation'
}

function isExplained({ target }: ProxyRequest): boolean {
  return target.kind === 'cache' && target.question === 'explain'
}

/** Tells the client what is left of its limits. */
export async function tellLeft({ recorder, ...counted }: AdmittedRequest, { headers }: Pick<ProxyResponse, 'headers'>) {
  const { spending } = recorder
  tellLimits({ ...counted, spending: spending && (await spending.left()) }, headers)
}
