/** Reserves the money of a request before the cache lookup, for projects that also reject cache hits when their budget is spent. */
import { ProxyError } from '../../errors/errors.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { maxCost, requestSizeOf } from '../spending/max-cost.ts'

/**
 * Does nothing unless the project's `when_exhausted` is `refuse`. Throws when a budget is spent. Money that other requests have reserved is
 * not spent: the request waits for it only if the cache has no response.
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
