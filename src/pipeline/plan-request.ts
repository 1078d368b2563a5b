/** Plans a request from its query and account. Pure, so that a guessed account can be planned with too. */

import type { CacheControl } from '../cache/cache-control.ts'
import { type CacheQuery, createCacheQuery } from '../cache/cache-query.ts'
import { hashRequest } from '../cache/exact-key.ts'
import { mayCache } from '../cache/may-cache.ts'
import { ProxyError } from '../errors.ts'
import { planResponses } from '../formats/responses/plan-responses.ts'
import type { JsonObject } from '../json/json-object.ts'
import type { Account } from '../postgres/admit.ts'
import { answerHeaders } from '../providers/forwarded-headers.ts'
import type { ModelRouter } from '../providers/model-router.ts'
import { nameRoute } from '../providers/name-route.ts'
import type { Provider } from '../providers/upstream.ts'
import type { RequestQuery } from './parse-request.ts'

export type RequestPlan =
  | {
      refusal: null
      /** The provider that would answer. */
      provider: Provider
      cacheQuery: CacheQuery
      /** The exact entry to read during admission; null when none is wanted. */
      exactKey: string | null
    }
  /** No provider may answer. */
  | { refusal: ProxyError; exactKey: null }

export function planRequest(query: RequestQuery, account: Account, modelRouter: ModelRouter): RequestPlan {
  const provider = modelRouter.resolve(query.model, account, alternativesOf(query.body))
  if (provider instanceof ProxyError) return { refusal: provider, exactKey: null }
  const cacheQuery = planCacheQuery(query, account, provider)
  const isLookedUpWhole = cacheQuery.control.lookup && query.embeddings === null
  return { refusal: null, provider, cacheQuery, exactKey: isLookedUpWhole ? cacheQuery.exactKey : null }
}

/** Models that an aggregator may use instead, if the request names any. */
export function alternativesOf({ models }: JsonObject): string[] {
  return Array.isArray(models) ? models.filter(model => typeof model === 'string') : []
}

function planCacheQuery(query: RequestQuery, account: Account, provider: Provider): CacheQuery {
  const { endpoint, body, canonicalBody, model } = query
  const control = controlFor(query, account)
  const route = nameRoute(provider) + boundKey(query, account)
  const headers = answerHeaders(query.headers, provider.kind)
  const identity = { namespace: control.namespace, endpoint, route, headers, body, canonicalBody, source: query }
  return createCacheQuery({ account, control, identity, requestHash: hashRequest(identity), model })
}

/** The client's cache control, within what the project's cache mode allows. */
function controlFor({ control, body, embeddings }: RequestQuery, { cache_mode }: Account): CacheControl {
  // Vectors are not sampled: each call gives the same.
  const mode = embeddings && cache_mode === 'deterministic' ? 'all' : cache_mode
  return mayCache(body, mode) ? control : { ...control, lookup: false, store: false }
}

/** Names the provider key of a response that only works with the key it was made with; else ''. */
function boundKey({ endpoint, body }: RequestQuery, { provider_keys_version: version }: Account): string {
  if (endpoint !== 'responses') return ''
  const plan = planResponses(body)
  return plan.isCacheable && plan.isBoundToKey ? ` under key ${version}` : ''
}

/** The fields of an account that a plan depends on. */
const PLAN_INPUTS = [
  'key_type',
  'project_id',
  'semantic_mode',
  'semantic_policy',
  'semantic_risk',
  'semantic_threshold',
  'semantic_judge',
  'semantic_judge_model',
  'semantic_judge_floor',
  'semantic_judge_timeout_ms',
  'semantic_verify_ratio',
  'verdict_generation',
  'cache_mode',
  'cache_generation',
  'cache_ttl_seconds',
  'max_cache_ttl_seconds',
  'provider_keys_version',
] as const satisfies (keyof Account)[]

/** Whether a plan made for one account holds for the other. */
export function samePlanInputs(guess: Account, account: Account): boolean {
  if (guess === account) return true
  return (
    PLAN_INPUTS.every(input => guess[input] === account[input]) &&
    guess.direct_providers.join() === account.direct_providers.join() &&
    guess.allowed_models?.join() === account.allowed_models?.join()
  )
}
