/** Plans a request from its query and account. Pure, so that a guessed account can be planned with too. */
import { type CacheControl, isCacheableInMode, isRefreshRequest } from '../../cache/cache-control.ts'
import { type CacheQuery, createCacheQuery, hashRequest } from '../../cache/cache-query.ts'
import { hasCachePermission, sharingScope } from '../../cache/cache-scope.ts'
import { ProxyError } from '../../errors/errors.ts'
import { planResponsesCaching } from '../../formats/responses/plan-responses.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { pickCacheKeyHeaders } from '../../providers/forwarded-headers.ts'
import { type ModelRouter, routeIdOf } from '../../providers/model-router.ts'
import type { Provider } from '../../providers/upstream.ts'
import { listAlternativeModels } from '../request/parse-request.ts'
import type { CompletionQuery, ExplainQuery, PassThroughQuery, Query } from '../request/query.ts'
import type { Operation, PlannedRequest, RequestContext, RoutedContext } from './request-context.ts'

/** Whether the client receives the call's events as they arrive. Pass-through responses are never streamed live. */
export function isStreamedLive(context: RoutedContext): context is RoutedContext<CompletionQuery> {
  return isStreamed(context)
}

/** Whether a provider streams a completion for the request. */
export function isStreamed(context: RequestContext): context is RequestContext<CompletionQuery> {
  const { query, provider } = context
  return query.kind === 'completion' && query.stream && provider !== null
}

export type RequestPlan =
  | (PlannedRequest & {
      error: null
      /** The exact entry to read during admission; null when none is wanted. */
      exactKey: string | null
    })
  /** No provider may answer. */
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

/** The provider, or why there is none; null where none is asked, or which one it is can only be looked up. */
function findProvider(query: Query, resolvedKey: ResolvedKey, modelRouter: ModelRouter): Provider | ProxyError | null {
  if (query.kind === 'response' || query.kind === 'bound') return modelRouter.findResponseStorage(resolvedKey)
  if (query.kind === 'kept' || query.kind === 'feedback') return null
  return modelRouter.resolve(query.model, resolvedKey, listAlternativeModels(query.body), query.alias?.name)
}

type CacheableQuery = CompletionQuery | ExplainQuery | PassThroughQuery

function isCachedWhole(query: CacheableQuery): boolean {
  return query.kind === 'passed' ? query.isCacheable : query.embeddings === null
}

function planCacheQuery(
  query: CacheableQuery,
  resolvedKey: ResolvedKey,
  provider: Provider,
  control: CacheControl,
): CacheQuery {
  const { endpoint, body, canonicalBody, model } = query
  const route = routeIdOf(provider) + boundKey(query, resolvedKey)
  const headers = pickCacheKeyHeaders(query.headers, provider.kind)
  const identity = { namespace: control.namespace, endpoint, route, headers, body, canonicalBody, source: query }
  return createCacheQuery({ resolvedKey, control, identity, model }, hashRequest(identity))
}

/** The client's cache control, within what the project allows: a client may have less served from the cache than others, never more. */
function controlFor(query: CacheableQuery, resolvedKey: ResolvedKey): CacheControl {
  const { control } = query
  const scope = sharingScope(resolvedKey, query.body)
  const asked = control.threshold
  const threshold = asked !== null && asked > resolvedKey.semantic_threshold ? asked : null
  const isAllowed = isCachingAllowed(query, resolvedKey)
  const mayReplace = hasCachePermission(resolvedKey, 'refresh') || !isRefreshRequest(control)
  if (isAllowed && mayReplace && threshold === asked && scope === control.sharingScope) return control
  const lookup = control.lookup && isAllowed
  const store = control.store && isAllowed && mayReplace
  return { ...control, sharingScope: scope, threshold, lookup, store }
}

/** Whether the project's cache mode lets this request be cached. */
export function isCachingAllowed(query: CacheableQuery, { cache_mode }: ResolvedKey): boolean {
  const isSampled = query.kind === 'passed' ? query.endpoint !== 'moderations' : query.embeddings === null
  return isCacheableInMode(query.body, !isSampled && cache_mode === 'deterministic' ? 'all' : cache_mode)
}

/** Names the provider key of a response that only works with the key it was made with; else ''. */
function boundKey({ endpoint, body }: CacheableQuery, { provider_keys_version: version }: ResolvedKey): string {
  if (endpoint !== 'responses') return ''
  const plan = planResponsesCaching(body)
  return plan.isCacheable && plan.isBoundToKey ? ` under key ${version}` : ''
}

/** Whether a plan made for one account holds for the other. They change so seldom that a plan may depend on all that they say. */
export function isPlanReusable(guess: ResolvedKey, resolvedKey: ResolvedKey): boolean {
  return guess === resolvedKey || Bun.deepEquals(guess, resolvedKey)
}
