/** A request to be passed on that was admitted, with all that is known about it. */
import type { CacheQuery } from '../../cache/cache-query.ts'
import type { Account } from '../../postgres/admit.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { RequestAccounting } from '../accounting.ts'
import type { ProxyRequest } from '../exchange.ts'
import type { PassedQuery } from './parse-passed.ts'

export interface PassedContext {
  request: ProxyRequest
  query: PassedQuery
  account: Account
  provider: Provider
  /** Null where the answer is not kept. */
  cacheQuery: CacheQuery | null
  accounting: RequestAccounting
}

/** One whose answer may be kept, and so shared. */
export interface KeptContext extends PassedContext {
  cacheQuery: CacheQuery
}

export function isKept(context: PassedContext): context is KeptContext {
  return context.cacheQuery !== null
}
