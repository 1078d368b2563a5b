/** An answer passes the hook before it is given to anybody: a provider's, and a stored one where the rules have changed since. */
import type { CacheQuery } from '../../cache/cache-query.ts'
import type { Match } from '../../cache/entry.ts'
import type { Lookup } from '../../cache/lookup.ts'
import type { Passed } from '../../hooks/hook.ts'
import { HookRefusal } from '../../hooks/verdict.ts'
import type { Check, RequestContext, RoutedContext, Stages } from '../request-context.ts'
import type { SpentUsage } from '../spending/spent-usage.ts'
import { hasTextAnswer } from './check.ts'

/**
 * Asks about a provider's answer. Null where nothing is asked. Throws where it may not pass: the provider has been paid, and what was refused
 * counts.
 */
export async function passAnswer(
  { check, query, recorder }: RoutedContext,
  answer: Uint8Array | null,
  usage: SpentUsage,
): Promise<Passed | null> {
  if (!check || !hasTextAnswer(query)) return null
  try {
    return await check.ask(answer, false)
  } catch (error) {
    recorder.finishFailed(error, { usage, counts: error instanceof HookRefusal })
    throw error
  }
}

/** The stored answer; null where it may not be given any more. It is asked about unless it passed under the rules that the request did. */
export async function passStored(
  { check, query, cacheQuery }: Pick<RequestContext, 'check' | 'query' | 'cacheQuery'>,
  match: Match,
  { cache }: Pick<Stages, 'cache'>,
): Promise<Match | null> {
  if (!check || !cacheQuery || match.entry.policy === check.policy || !hasTextAnswer(query)) return match
  const decided = `${cacheQuery.exactKey} ${match.id} ${check.policy} ${Bun.SHA256.hash(match.entry.body, 'hex')}`
  const policy = await check.once(decided, () => recheck(check, cacheQuery, match, cache))
  return policy === REJECTED ? null : { ...match, entry: { ...match.entry, policy } }
}

const REJECTED = Symbol('rejected')

/** The policy under which it passes now; null: the hook was not heard. */
async function recheck(
  check: Check,
  cacheQuery: CacheQuery,
  match: Match,
  cache: Stages['cache'],
): Promise<string | typeof REJECTED | null> {
  try {
    const { policy, mayStore } = await check.ask(match.entry.body, true)
    if (!mayStore) await cache.discard(cacheQuery, match)
    else if (policy !== null) cache.restamp(cacheQuery, { ...match, entry: { ...match.entry, policy } })
    return policy
  } catch (error) {
    if (!(error instanceof HookRefusal)) throw error
    await cache.discard(cacheQuery, match)
    return REJECTED
  }
}

/** The same of what a lookup found. */
export async function passFound(
  context: Pick<RequestContext, 'check' | 'query' | 'cacheQuery'>,
  lookup: Lookup,
  stages: Pick<Stages, 'cache'>,
): Promise<Lookup> {
  if (!lookup.match) return lookup
  const match = await passStored(context, lookup.match, stages)
  return match ? { ...lookup, match } : { ...lookup, match, missReason: 'refused' }
}
