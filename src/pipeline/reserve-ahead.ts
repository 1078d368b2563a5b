/** A project may want that nothing is answered any more when its money is spent, not even from the cache. */
import { largestCost, sizeOf } from './largest-cost.ts'
import type { RequestContext, Stages } from './request-context.ts'

export async function reserveAhead(
  { query, provider, accounting }: RequestContext,
  { catalogue }: Pick<Stages, 'catalogue'>,
): Promise<void> {
  if (!provider || (query.kind !== 'completion' && query.kind !== 'passed')) return
  await accounting.spending?.reserveAhead(query.model, largestCost(sizeOf(query), provider, catalogue))
}
