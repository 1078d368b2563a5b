/** Plans a request from its query and account. Pure, so that a guessed account can be planned with too. */
import { type CacheControl, mayCache, refusesStored } from '../cache/cache-control.ts'
import { type CacheQuery, createCacheQuery, hashRequest } from '../cache/cache-query.ts'
import { hasCacheRight, sharingScope } from '../cache/cache-scope.ts'
import { ProxyError } from '../errors/errors.ts'
import { planResponses } from '../formats/responses/plan-responses.ts'
import type { Account } from '../postgres/admit.ts'
import { answerHeaders } from '../providers/forwarded-headers.ts'
import { type ModelRouter, nameRoute } from '../providers/model-router.ts'
import type { Provider } from '../providers/upstream.ts'
import { completion } from './completion.ts'
import { embeddings } from './embeddings/answer-embeddings.ts'
import { keptObject } from './kept-objects/kept-objects.ts'
import { alternativesOf } from './parse-request.ts'
import { passed } from './pass-through/pass-through.ts'
import type { CompletionQuery, ExplainQuery, PassedQuery, Query } from './query.ts'
import { question } from './questions.ts'
import type { PipelineTarget } from './request.ts'
import type { Operation, Planned, RoutedContext } from './request-context.ts'

const BY_TARGET: Record<PipelineTarget['kind'], Operation> = {
  // Embeddings, too: only their body says whether they are answered input by input.
  endpoint: completion,
  operation: passed,
  kept: keptObject,
  bound: keptObject,
  response: keptObject,
  count: question,
  cache: question,
}

const BY_QUERY: Record<Query['kind'], Operation> = {
  completion,
  passed,
  kept: keptObject,
  bound: keptObject,
  response: keptObject,
  count: question,
  explain: question,
  feedback: question,
}

/** The operation that reads the body. */
export function readerOf({ kind }: PipelineTarget): Operation {
  return BY_TARGET[kind]
}

/** The operation that answers. */
export function operationOf(query: Query): Operation {
  return query.kind === 'completion' && query.embeddings ? embeddings : BY_QUERY[query.kind]
}

/** Whether the client wants the call's events as they come. What is passed on is followed whole. */
export function isFollowedLive(context: RoutedContext): context is RoutedContext<CompletionQuery> {
  return context.query.kind === 'completion' && context.query.stream
}

export type RequestPlan =
  | (Planned & {
      refusal: null
      /** The exact entry to read during admission; null when none is wanted. */
      exactKey: string | null
    })
  /** No provider may answer. */
  | { refusal: ProxyError; exactKey: null; cacheQuery: null }

export function planRequest(query: Query, account: Account, modelRouter: ModelRouter): RequestPlan {
  const provider = findProvider(query, account, modelRouter)
  if (provider instanceof ProxyError) return { refusal: provider, exactKey: null, cacheQuery: null }
  const operation = operationOf(query)
  if (!provider || !('control' in query)) {
    return { refusal: null, operation, provider, control: null, cacheQuery: null, exactKey: null }
  }
  const control = controlFor(query, account)
  const cacheQuery = isCachedWhole(query) ? planCacheQuery(query, account, provider, control) : null
  const exactKey = cacheQuery && control.lookup && operation.sharesCalls ? cacheQuery.exactKey : null
  return { refusal: null, operation, provider, control, cacheQuery, exactKey }
}

/** The provider, or why there is none; null where none is asked, or which one it is can only be looked up. */
function findProvider(query: Query, account: Account, modelRouter: ModelRouter): Provider | ProxyError | null {
  if (query.kind === 'response' || query.kind === 'bound') return modelRouter.keeperOf(account)
  if (query.kind === 'kept' || query.kind === 'feedback') return null
  return modelRouter.resolve(query.model, account, alternativesOf(query.body), query.alias?.name)
}

type CacheableQuery = CompletionQuery | ExplainQuery | PassedQuery

function isCachedWhole(query: CacheableQuery): boolean {
  return query.kind === 'passed' ? query.isCacheable : query.embeddings === null
}

function planCacheQuery(
  query: CacheableQuery,
  account: Account,
  provider: Provider,
  control: CacheControl,
): CacheQuery {
  const { endpoint, body, canonicalBody, model } = query
  const route = nameRoute(provider) + boundKey(query, account)
  const headers = answerHeaders(query.headers, provider.kind)
  const identity = { namespace: control.namespace, endpoint, route, headers, body, canonicalBody, source: query }
  return createCacheQuery({ account, control, identity, model }, hashRequest(identity))
}

/** The client's cache control, within what the project allows: a client may have less served from the cache than others, never more. */
function controlFor(query: CacheableQuery, account: Account): CacheControl {
  const { control } = query
  const scope = sharingScope(account, query.body)
  const asked = control.threshold
  const threshold = asked !== null && asked > account.semantic_threshold ? asked : null
  const isAllowed = allowsCaching(query, account)
  const mayReplace = hasCacheRight(account, 'refresh') || !refusesStored(control)
  if (isAllowed && mayReplace && threshold === asked && scope === control.sharingScope) return control
  const lookup = control.lookup && isAllowed
  const store = control.store && isAllowed && mayReplace
  return { ...control, sharingScope: scope, threshold, lookup, store }
}

/** Whether the project's cache mode lets this request be cached. */
export function allowsCaching(query: CacheableQuery, { cache_mode }: Account): boolean {
  const isSampled = query.kind === 'passed' ? query.endpoint !== 'moderations' : query.embeddings === null
  return mayCache(query.body, !isSampled && cache_mode === 'deterministic' ? 'all' : cache_mode)
}

/** Names the provider key of a response that only works with the key it was made with; else ''. */
function boundKey({ endpoint, body }: CacheableQuery, { provider_keys_version: version }: Account): string {
  if (endpoint !== 'responses') return ''
  const plan = planResponses(body)
  return plan.isCacheable && plan.isBoundToKey ? ` under key ${version}` : ''
}

/** Whether a plan made for one account holds for the other. They change so seldom that a plan may depend on all that they say. */
export function samePlanInputs(guess: Account, account: Account): boolean {
  return guess === account || Bun.deepEquals(guess, account)
}
