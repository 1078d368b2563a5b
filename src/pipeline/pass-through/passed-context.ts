/** An admitted pass-through request, with all that is known about it. */
import type { CacheQuery } from '../../cache/cache-query.ts'
import type { SharedCall, Subscriber } from '../../coalescing/shared-call.ts'
import type { RequestContext } from '../request-context.ts'
import type { PassedQuery } from './parse-passed.ts'

export interface PassedContext extends Omit<RequestContext<PassedQuery>, 'cacheQuery'> {
  /** Null when the response is not stored, and therefore not shared. */
  cacheQuery: CacheQuery | null
}

/** A pass-through request that asks the provider, for its subscribers or for itself alone. */
export interface AskingContext extends PassedContext {
  call: SharedCall
  subscriber: Subscriber
}
