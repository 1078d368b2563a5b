/** An admitted pass-through request, with all that is known about it. */
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
  /** Null when the response is not stored. */
  cacheQuery: CacheQuery | null
  accounting: RequestAccounting
}

/** A request whose response may be stored, and therefore shared. */
export interface KeptContext extends PassedContext {
  cacheQuery: CacheQuery
}

export function isKept(context: PassedContext): context is KeptContext {
  return context.cacheQuery !== null
}
