/** Plans a request from its query and key. It is pure, so that a request can also be planned with a cached key record. */
import { type CacheControl, isCacheableInMode, isRefreshRequest } from '../../cache/cache-control.ts'
import { type CacheQuery, createCacheQuery, hashRequest } from '../../cache/cache-query.ts'
import { hasCachePermission, sharingScope } from '../../cache/cache-scope.ts'
import { ProxyError } from '../../errors/errors.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { pickCacheKeyHeaders } from '../../providers/forwarded-headers.ts'
import { type ModelRouter, routeIdOf } from '../../providers/model-router.ts'
import { traitsOf } from '../../providers/stored-object-collections.ts'
import type { Provider } from '../../providers/upstream.ts'
import { listAlternativeModels } from '../request/parse-request.ts'
import type { CompletionQuery, ExplainQuery, PassThroughQuery, Query } from '../request/query.ts'
import type { Operation, PlannedRequest, RequestContext, RoutedContext } from './request-context.ts'

/** Whether a stream is sent once it is complete: as the request says, else the project's setting. */
export function isHeldWhole({ query, resolvedKey }: RoutedContext<CompletionQuery>): boolean {
  return (query.delivery.mode ?? resolvedKey.streams) === 'whole'
}

/** Whether a provider streams a completion, whose events the client gets as they arrive. Other responses are never streamed live. */
export function isStreamed(context: RequestContext): context is RoutedContext<CompletionQuery> {
  const { query, provider } = context
  return query.kind === 'completion' && query.stream && provider !== null
}

export type RequestPlan =
  | (PlannedRequest & {
      error: null
      /** The key of the exact entry to read during admission; null if none is read. */
      exactKey: string | null
    })
  /** No provider may respond. */
  | { error: ProxyError; exactKey: null; cacheQuery: null }

/** Does not throw: a request that no provider may respond to has a plan with `error`. */
export function planRequest(
  query: Query,
  operation: Operation,
  resolvedKey: ResolvedKey,
  modelRouter: ModelRouter,
): RequestPlan {
  const provider = findProvider(query, resolvedKey, modelRouter)
  if (provider instanceof ProxyError) return { error: provider, exactKey: null, cacheQuery: null }
  if (!provider || !('control' in query)) {
    return { error: null, operation, provider, control: null, cacheQuery: null, exactKey: null }
  }
  const control = controlFor(query, resolvedKey)
  const cacheQuery = isCachedWhole(query) ? planCacheQuery(query, resolvedKey, provider, control) : null
  const exactKey = cacheQuery && control.lookup && operation.sharesCalls ? cacheQuery.exactKey : null
  return { error: null, operation, provider, control, cacheQuery, exactKey }
}

/** Returns the provider, or the error that explains why there is none. Returns null if no provider is called, or if finding it needs a lookup. */
function findProvider(query: Query, resolvedKey: ResolvedKey, modelRouter: ModelRouter): Provider | ProxyError | null {
  if (query.kind === 'stored_object')
    return traitsOf(query.endpoint).ownership === 'claimed' ? modelRouter.findResponseStorage(resolvedKey) : null
  if (query.kind === 'feedback') return null
  return modelRouter.resolve(query.model, resolvedKey, listAlternativeModels(query.body), query.alias?.name)
}

type CacheableQuery = CompletionQuery | ExplainQuery | PassThroughQuery

function isCachedWhole(query: CacheableQuery): boolean {
  return query.kind === 'pass_through' ? query.isCacheable : query.embeddings === null
}

function planCacheQuery(
  query: CacheableQuery,
  resolvedKey: ResolvedKey,
  provider: Provider,
  control: CacheControl,
): CacheQuery {
  const { endpoint, body, canonicalBody, model } = query
  const route = routeIdOf(provider) + keyBinding(query, resolvedKey)
  const headers = pickCacheKeyHeaders(query.headers, provider.clientHeaders)
  const { namespace, version } = control
  const identity = { namespace, version, endpoint, route, headers, body, canonicalBody, source: query }
  return createCacheQuery({ resolvedKey, control, identity, model }, hashRequest(identity))
}

/** Returns the client's cache control, limited to what the project allows. A client may only narrow what the cache serves. */
function controlFor(query: CacheableQuery, resolvedKey: ResolvedKey): CacheControl {
  const { control } = query
  const scope = sharingScope(resolvedKey, query.body)
  const requested = control.threshold
  const threshold = requested !== null && requested > resolvedKey.semantic_threshold ? requested : null
  const isAllowed = isCachingAllowed(query, resolvedKey)
  const mayRefresh = hasCachePermission(resolvedKey, 'refresh') || !isRefreshRequest(control)
  if (isAllowed && mayRefresh && threshold === requested && scope === control.sharingScope) return control
  const lookup = control.lookup && isAllowed
  const store = control.store && isAllowed && mayRefresh
  return { ...control, sharingScope: scope, threshold, lookup, store }
}

/** Returns the plan with a changed cache control. */
export function changeControl<P extends PlannedRequest>(plan: P, changes: Partial<CacheControl>): P {
  const { cacheQuery } = plan
  if (!plan.control) return plan
  const control = { ...plan.control, ...changes }
  return { ...plan, control, cacheQuery: cacheQuery && { ...cacheQuery, control } }
}

/** Whether the project's cache mode lets this request be cached. */
export function isCachingAllowed(query: CacheableQuery, { cache_mode }: ResolvedKey): boolean {
  const isSampled = query.kind === 'pass_through' ? query.endpoint !== 'moderations' : query.embeddings === null
  return isCacheableInMode(query.body, !isSampled && cache_mode === 'deterministic' ? 'all' : cache_mode)
}

/** Names the version of the provider key for a response that is only usable with the key that created it; else returns ''. */
function keyBinding({ isBoundToKey }: CacheableQuery, { provider_keys_version: version }: ResolvedKey): string {
  return isBoundToKey ? ` under key ${version}` : ''
}

/** Whether a plan made with the cached key record is valid for the resolved key. Records change rarely, so all of their fields are compared. */
export function isPlanReusable(cachedKey: ResolvedKey, resolvedKey: ResolvedKey): boolean {
  return cachedKey === resolvedKey || Bun.deepEquals(cachedKey, resolvedKey)
}
