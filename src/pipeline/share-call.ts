/** After an exact miss, a request follows the call in flight for the same request, or leads one of its own. */

import type { CacheControl } from '../cache/cache-control.ts'
import type { Lookup } from '../cache/lookup.ts'
import { mayCache } from '../cache/may-cache.ts'
import type { CallFailure } from '../coalescing/shared-call.ts'
import { type Joined, startAlone } from '../coalescing/shared-calls.ts'
import { ClientGone, ProxyError, refuse } from '../errors.ts'
import { whenAborted } from '../event-loop/when-aborted.ts'
import { askUpstream } from './ask-upstream.ts'
import type { Attempt } from './exchange.ts'
import { followCall } from './follow-call.ts'
import { askPassed } from './pass-through/ask-passed.ts'
import { isPassed, type SharingContext } from './request-context.ts'
import { serveMatch } from './serve-hit.ts'
import type { Stages } from './stages.ts'

/** Calls that a request follows before it takes the last one's failure for its own. */
const MAX_CALLS = 2

export async function shareCall(context: SharingContext, stages: Stages): Promise<Attempt> {
  const { query, cacheQuery } = context
  let failure: CallFailure | null = null
  for (let attempt = 0; attempt < MAX_CALLS && mayShare(cacheQuery.control); attempt++) {
    const joined = stages.calls.join(cacheQuery.callName, query.stream)
    if (!joined) break
    const lookup = joined.isFirst ? await tryToLead(context, joined, stages) : null
    if (lookup) return lead(context, joined, lookup, stages)
    const followed = await followCall(context, joined, stages)
    if ('response' in followed) return followed
    failure = followed.failure
  }
  if (failure) return { failure: failure instanceof ClientGone ? refuse('upstreamBrokeOff', null, failure) : failure }
  const lookup = cacheQuery.control.lookup ? await stages.cache.find(cacheQuery) : lookupSkipped(context)
  return lead(context, startAlone(query.stream), lookup, stages)
}

/** Returns what the cache found; null when another process leads. The call then carries that leader's events. */
async function tryToLead(
  { cacheQuery }: SharingContext,
  { call }: Joined,
  { cache, leads }: Stages,
): Promise<Lookup | null> {
  // Concurrently, when the lookup is free. An entry that another process stores in between comes with the lead.
  const looking = cache.findsForFree(cacheQuery) ? cache.find(cacheQuery) : null
  const taken = await leads.take(cacheQuery.callName, call, cacheQuery.exactKey)
  if (!taken.isOurs) return null
  const lookup = await (looking ?? cache.find(cacheQuery))
  return { ...lookup, match: lookup.match ?? cache.readExact(taken.entry, cacheQuery) }
}

/** Serves what the lookup found, else asks the provider. Followers may subscribe from the start. */
async function lead(
  context: SharingContext,
  { call, subscriber }: Joined,
  lookup: Lookup,
  stages: Stages,
): Promise<Attempt> {
  const { request, cacheQuery, accounting } = context
  whenAborted(request.signal, subscriber.leave)
  try {
    accounting.noteJudge(lookup.judgeUsd ?? 0)
    const response = lookup.match && serveMatch(context, lookup.match, stages, lookup.judgeUsd)
    if (lookup.match && response) {
      call.settle({ kind: 'cached', match: lookup.match })
      return { response }
    }
    if (lookup.shadow) accounting.noteSemanticMatch(lookup.shadow, cacheQuery, { isShadow: true })
    else if (lookup.nearMiss) accounting.noteSemanticMatch(lookup.nearMiss, cacheQuery)
    if (cacheQuery.control.onlyIfCached) throw refuse('notCached')
    if (call.signal.aborted) throw new ClientGone()
    const leading = { call, subscriber, lookup }
    return isPassed(context)
      ? await askPassed({ ...context, ...leading }, stages)
      : await askUpstream({ ...context, ...leading }, stages)
  } catch (error) {
    const failure = asFailure(error)
    call.settle({ kind: 'notShareable', failure })
    return { failure }
  }
}

function lookupSkipped({ query, account }: SharingContext): Lookup {
  const missReason = mayCache(query.body, account.cache_mode) ? 'no-store' : 'off'
  return { match: null, missReason, vector: null }
}

/** A request that wants a fresh response, may not store one, or would not wait for one, shares no call. */
function mayShare(control: CacheControl): boolean {
  return control.lookup && control.store && !control.onlyIfCached
}

function asFailure(error: unknown): ProxyError | ClientGone {
  if (error instanceof ProxyError || error instanceof ClientGone) return error
  return refuse('unanswered', null, error)
}
