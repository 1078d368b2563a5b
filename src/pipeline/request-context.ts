/** An admitted request with all that is known about it, as every later step receives it. */

import type { CacheQuery } from '../cache/cache-query.ts'
import type { Lookup } from '../cache/lookup.ts'
import type { SharedCall, Subscriber } from '../coalescing/shared-call.ts'
import type { Account } from '../postgres/admit.ts'
import type { Provider } from '../providers/upstream.ts'
import type { RequestAccounting } from './accounting.ts'
import type { ProxyRequest } from './exchange.ts'
import type { RequestQuery } from './parse-request.ts'
import type { PassedQuery } from './pass-through/parse-passed.ts'

export interface RequestContext<Query = RequestQuery> {
  request: ProxyRequest
  query: Query
  account: Account
  provider: Provider
  /** What the cache is asked. Its call name is also the shared call's name. */
  cacheQuery: CacheQuery
  accounting: RequestAccounting
}

/** A request that may share its call with identical ones. */
export type SharingContext = RequestContext | RequestContext<PassedQuery>

/** A request that leads its call: it asks the provider, and settles the call for every subscriber. */
export interface LeadingContext<Query = RequestQuery> extends RequestContext<Query> {
  call: SharedCall
  subscriber: Subscriber
  /** What the cache said. */
  lookup: Lookup
}

/** Whether the request is for a pass-through operation. */
export function isPassed(context: SharingContext): context is RequestContext<PassedQuery> {
  return 'passed' in context.query
}
