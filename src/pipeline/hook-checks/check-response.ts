/** An answer passes the hook before it is given to anybody: a provider's, and a stored one where the rules have changed since. */
import type { CacheQuery } from '../../cache/cache-query.ts'
import type { CachedResponseMatch } from '../../cache/entry.ts'
import type { LookupResult } from '../../cache/lookup.ts'
import type { HookDecision } from '../../hooks/hook.ts'
import { HookRejection } from '../../hooks/hook-response.ts'
import type { HookCheck, PipelineServices, RequestContext, RoutedContext } from '../context/request-context.ts'
import type { CallUsage } from '../spending/call-usage.ts'
import { hasTextResponse } from './check-request.ts'

/**
 * Asks about a provider's answer. Null where nothing is asked. Throws where it may not pass: the provider has been paid, and what was refused
 * counts.
 */
export async function checkResponse(
  { check, query, recorder }: RoutedContext,
  answer: Uint8Array | null,
  usage: CallUsage,
): Promise<HookDecision | null> {
  if (!check || !hasTextResponse(query)) return null
  try {
    return await check.checkResponse(answer, false)
  } catch (error) {
    recorder.finishFailed(error, { usage, isCounted: error instanceof HookRejection })
    throw error
  }
}

/** The stored answer; null where it may not be given any more. It is asked about unless it passed under the rules that the request did. */
export async function checkCachedResponse(
  { check, query, cacheQuery }: Pick<RequestContext, 'check' | 'query' | 'cacheQuery'>,
  match: CachedResponseMatch,
  { cache }: Pick<PipelineServices, 'cache'>,
): Promise<CachedResponseMatch | null> {
  if (!check || !cacheQuery || match.entry.policy === check.policy || !hasTextResponse(query)) return match
  const decided = `${cacheQuery.exactKey} ${match.id} ${check.policy} ${Bun.SHA256.hash(match.entry.body, 'hex')}`
  const policy = await check.decideOnce(decided, () => recheck(check, cacheQuery, match, cache))
  return policy === REJECTED ? null : { ...match, entry: { ...match.entry, policy } }
}

const REJECTED = Symbol('rejected')

/** The policy under which it passes now; null: the hook was not heard. */
async function recheck(
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

/** The same of what a lookup found. */
export async function checkLookupResult(
  context: Pick<RequestContext, 'check' | 'query' | 'cacheQuery'>,
  lookup: LookupResult,
  stages: Pick<PipelineServices, 'cache'>,
): Promise<LookupResult> {
  if (!lookup.match) return lookup
  const match = await checkCachedResponse(context, lookup.match, stages)
  return match ? { ...lookup, match } : { ...lookup, match, missReason: 'refused' }
}
