/** Records requests that fail, and returns the error that the client gets. */
import { createError, ProxyError } from '../../errors/errors.ts'
import { isDatabaseUnavailable } from '../../postgres/database.ts'
import { setProxyStatusHeader } from '../../providers/attempts.ts'
import { resolveAliasSync } from '../request/change-model.ts'
import type { ProxyRequest } from '../request/request.ts'
import { type AdmittedRequest, isCountedAgainstQuota, setRateLimitHeaders } from './admit-request.ts'
import type { EarlyBody } from './read-request.ts'
import type { PipelineServices } from './request-context.ts'

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
