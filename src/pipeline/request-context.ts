/** An admitted request with all that is known about it, as every later step receives it. */

import type { CacheQuery } from '../cache/cache-query.ts'
import type { Account } from '../postgres/admit.ts'
import type { Provider } from '../providers/upstream.ts'
import type { RequestAccounting } from './accounting.ts'
import type { ProxyRequest } from './exchange.ts'
import type { RequestQuery } from './parse-request.ts'

export interface RequestContext {
  request: ProxyRequest
  query: RequestQuery
  account: Account
  provider: Provider
  /** What the cache is asked. Its call name is also the shared call's name. */
  cacheQuery: CacheQuery
  accounting: RequestAccounting
}
