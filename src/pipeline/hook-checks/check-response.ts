/** Checks responses with the hook before they are served: providers' responses, and cached ones if the hook's policy has changed since. */
import type { CacheQuery } from '../../cache/cache-query.ts'
import type { CachedResponseMatch } from '../../cache/entry.ts'
import type { LookupResult } from '../../cache/lookup.ts'
import type { HookDecision } from '../../hooks/hook.ts'
import { HookRejection } from '../../hooks/hook-response.ts'
import type { HookCheck, PipelineServices, RequestContext, RoutedContext } from '../context/request-context.ts'
import type { CallUsage } from '../spending/call-usage.ts'
import { hasTextResponse } from './check-request.ts'

/**
 * Sends a provider's response to the hook. Returns null if there is no hook or no text. Throws if the response is rejected; the request is then
 * recorded with its cost, and counts against limits.
 */
export async function checkResponse(
  { check, query, recorder }: RoutedContext,
  response: Uint8Array | null,
  usage: CallUsage,
): Promise<HookDecision | null> {
  if (!check || !hasTextResponse(query)) return null
  try {
    return await check.checkResponse(response, false)
  } catch (error) {
    recorder.finishFailed(error, { usage, isCounted: error instanceof HookRejection })
    throw error
  }
}

/** Returns the cached response; null if the hook rejects it. The hook is not called if the response passed under the request's policy. */
export async function checkCachedResponse(
  { check, query, cacheQuery }: Pick<RequestContext, 'check' | 'query' | 'cacheQuery'>,
  match: CachedResponseMatch,
  { cache }: Pick<PipelineServices, 'cache'>,
): Promise<CachedResponseMatch | null> {
  if (!check || !cacheQuery || match.entry.policy === check.policy || !hasTextResponse(query)) return match
  const decisionName = `${cacheQuery.exactKey} ${match.id} ${check.policy} ${Bun.SHA256.hash(match.entry.body, 'hex')}`
  const policy = await check.decideOnce(decisionName, () => checkAgain(check, cacheQuery, match, cache))
  return policy === REJECTED ? null : { ...match, entry: { ...match.entry, policy } }
}

const REJECTED = Symbol('rejected')

/** Returns the policy under which the response passes now; null if the hook was unreachable. */
async function checkAgain(
  check: HookCheck,
  cacheQuery: CacheQuery,
  match: CachedResponseMatch,
  cache: PipelineServices['cache'],
): Promise<string | typeof REJECTED | null> {
  try {
    const { policy, mayStore } = await check.checkResponse(match.entry.body, true)
    if (!mayStore) await cache.deleteEntry(cacheQuery, match)
    else if (policy !== null) cache.updateEntryPolicy(cacheQuery, { ...match, entry: { ...match.entry, policy } })
    return policy
  } catch (error) {
    if (!(error instanceof HookRejection)) throw error
    await cache.deleteEntry(cacheQuery, match)
    return REJECTED
  }
}

/** Checks the match of a lookup result. A rejected match becomes a miss. */
export async function checkLookupResult(
  context: Pick<RequestContext, 'check' | 'query' | 'cacheQuery'>,
  lookup: LookupResult,
  services: Pick<PipelineServices, 'cache'>,
): Promise<LookupResult> {
  if (!lookup.match) return lookup
  const match = await checkCachedResponse(context, lookup.match, services)
  return match ? { ...lookup, match } : { ...lookup, match, missReason: 'refused' }
}
