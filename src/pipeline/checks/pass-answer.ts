/** An answer passes the hook before it is given to anybody: a provider's, and a stored one where the rules have changed since. */
import type { Match } from '../../cache/entry.ts'
import type { Lookup } from '../../cache/lookup.ts'
import type { Passed } from '../../hooks/hook.ts'
import { HookRefusal } from '../../hooks/verdict.ts'
import type { RequestContext, RoutedContext, Stages } from '../request-context.ts'
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
  try {
    const { policy, mayStore } = await check.ask(match.entry.body, true)
    const passed = { ...match, entry: { ...match.entry, policy } }
    if (!mayStore) await cache.discard(cacheQuery, match)
    else if (policy !== null) cache.restamp(cacheQuery, passed)
    return passed
  } catch (error) {
    if (!(error instanceof HookRefusal)) throw error
    await cache.discard(cacheQuery, match)
    return null
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
