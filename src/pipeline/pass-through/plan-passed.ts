/** Plans a pass-through request: its provider, and its cache query. */
import { type CacheQuery, createCacheQuery } from '../../cache/cache-query.ts'
import { hashRequest } from '../../cache/exact-key.ts'
import { mayCache } from '../../cache/may-cache.ts'
import { ProxyError } from '../../errors.ts'
import type { Account } from '../../postgres/admit.ts'
import { answerHeaders } from '../../providers/forwarded-headers.ts'
import type { ModelRouter } from '../../providers/model-router.ts'
import { nameRoute } from '../../providers/name-route.ts'
import type { Provider } from '../../providers/upstream.ts'
import { alternativesOf } from '../plan-request.ts'
import type { PassedQuery } from './parse-passed.ts'

export interface PassedPlan {
  provider: Provider
  /** Null when the response is not stored. */
  cacheQuery: CacheQuery | null
}

/** Throws a ProxyError when no provider may answer. */
export function planPassed(query: PassedQuery, account: Account, modelRouter: ModelRouter): PassedPlan {
  const provider = modelRouter.resolve(query.model, account, alternativesOf(query.body))
  if (provider instanceof ProxyError) throw provider
  return { provider, cacheQuery: planCacheQuery(query, account, provider) }
}

function planCacheQuery(query: PassedQuery, account: Account, provider: Provider): CacheQuery | null {
  const { json, endpoint, body, model, headers: given, passed } = query
  if (json === null) return null
  // A moderation gives the same result each time; speech is sampled.
  const mode = endpoint === 'moderations' && account.cache_mode === 'deterministic' ? 'all' : account.cache_mode
  const { control } = query
  const allowed = mayCache(body, mode) ? control : { ...control, lookup: false, store: false }
  const source = {
    ...json,
    get text() {
      return new TextDecoder().decode(passed.bytes)
    },
  }
  const headers = answerHeaders(given, provider.kind)
  const { canonicalBody } = json
  const identity = {
    namespace: control.namespace,
    endpoint,
    route: nameRoute(provider),
    headers,
    body,
    canonicalBody,
    source,
  }
  return createCacheQuery({ account, control: allowed, identity, requestHash: hashRequest(identity), model })
}
