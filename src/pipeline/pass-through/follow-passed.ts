/** Waits for another request's call, and serves its response at no cost if it is complete. */
import type { Catalogue } from '../../catalogue/catalogue.ts'
import type { CallFailure } from '../../coalescing/shared-call.ts'
import type { Joined } from '../../coalescing/shared-calls.ts'
import type { ProxyResponse } from '../exchange.ts'
import { matchOf, rejectWhenGone } from '../follow-call.ts'
import type { KeptContext } from './passed-context.ts'
import { serveStored } from './serve-stored.ts'

/** Returns the response, or the call's failure when its result is of use to the leader only. Throws ClientGone. */
export async function followPassed(
  context: KeptContext,
  { call, subscriber }: Joined,
  catalogue: Catalogue,
): Promise<{ response: ProxyResponse } | { failure: CallFailure | null }> {
  try {
    const settlement = await Promise.race([call.settled, rejectWhenGone(context.request.signal)])
    if (settlement.kind === 'notShareable') return { failure: settlement.failure }
    const response = serveStored(context, matchOf(settlement, context.cacheQuery.requestHash), catalogue)
    return response ? { response } : { failure: null }
  } finally {
    subscriber.leave()
  }
}
