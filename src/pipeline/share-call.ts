/** After an exact miss, a request joins the call in flight for the same request, or leads one of its own. */

import type { CacheControl } from '../cache/cache-control.ts'
import type { Lookup } from '../cache/lookup.ts'
import type { Match } from '../cache/match.ts'
import { mayCache } from '../cache/may-cache.ts'
import type { CallFailure } from '../coalescing/shared-call.ts'
import { type Joined, startAlone } from '../coalescing/shared-calls.ts'
import { ClientGone, ProxyError, refuse } from '../errors.ts'
import type { ProxyResponse } from './exchange.ts'
import type { RequestContext } from './request-context.ts'
import type { Stages } from './stages.ts'

/** The response, or why there is none. Without one, nothing was sent and the request is not accounted for. */
export type Attempt = { response: ProxyResponse } | { failure: CallFailure }

/** The parts of a request that sharing its call depends on. */
export interface Shared extends Pick<RequestContext, 'request' | 'account' | 'cacheQuery' | 'accounting'> {
  query: Pick<RequestContext['query'], 'body' | 'stream'>
}

/** The steps for a request of one kind, as its leader or as a follower. */
export interface CallSteps<Context extends Shared> {
  /** Returns null when the match cannot be served after all. */
  serveHit(context: Context, match: Match, judgeUsd?: number): ProxyResponse | null
  /** Throws ClientGone. */
  follow(context: Context, joined: Joined): Promise<{ response: ProxyResponse } | { failure: CallFailure | null }>
  /** Settles the call. If it throws, the caller settles it. */
  ask(context: Context, joined: Joined, lookup: Lookup, stages: Stages): Promise<Attempt>
}

/** Calls that a request follows before it takes the last one's failure for its own. */
const MAX_CALLS = 2

export async function shareCall<Context extends Shared>(
  context: Context,
  steps: CallSteps<Context>,
  stages: Stages,
): Promise<Attempt> {
  const { query, cacheQuery } = context
  let failure: CallFailure | null = null
  for (let attempt = 0; attempt < MAX_CALLS && mayShare(cacheQuery.control); attempt++) {
    const joined = stages.calls.join(cacheQuery.callName, query.stream)
    if (!joined) break
    if (joined.isFirst) {
      const led = await tryToLead(context, steps, joined, stages)
      if (led) return led
    }
    const followed = await steps.follow(context, joined)
    if ('response' in followed) return followed
    failure = followed.failure
  }
  if (failure) return { failure: failure instanceof ClientGone ? refuse('upstreamBrokeOff', null, failure) : failure }
  const lookup = cacheQuery.control.lookup ? await stages.cache.find(cacheQuery) : lookupSkipped(context)
  return lead(context, steps, { joined: startAlone(query.stream), lookup }, stages)
}

/** Returns null when another process leads. The call then carries that leader's events. */
async function tryToLead<Context extends Shared>(
  context: Context,
  steps: CallSteps<Context>,
  joined: Joined,
  stages: Stages,
): Promise<Attempt | null> {
  const { cacheQuery } = context
  const { cache, leads } = stages
  // Concurrently, when the lookup is free. An entry that another process stores in between comes with the lead.
  const looking = cache.findsForFree(cacheQuery) ? cache.find(cacheQuery) : null
  const taken = await leads.take(cacheQuery.callName, joined.call, cacheQuery.exactKey)
  if (!taken.isOurs) return null
  const lookup = await (looking ?? cache.find(cacheQuery))
  const match = lookup.match ?? cache.readExact(taken.entry, cacheQuery)
  return lead(context, steps, { joined, lookup: { ...lookup, match } }, stages)
}

/** Serves what the lookup found, else asks the provider. Followers may subscribe from the start. */
async function lead<Context extends Shared>(
  context: Context,
  steps: CallSteps<Context>,
  { joined, lookup }: { joined: Joined; lookup: Lookup },
  stages: Stages,
): Promise<Attempt> {
  const { request, cacheQuery, accounting } = context
  const { call, subscriber } = joined
  // A signal that is already aborted fires no event.
  if (request.signal.aborted) subscriber.leave()
  else request.signal.addEventListener('abort', subscriber.leave, { once: true })
  try {
    accounting.noteJudge(lookup.judgeUsd ?? 0)
    const response = lookup.match && steps.serveHit(context, lookup.match, lookup.judgeUsd)
    if (lookup.match && response) {
      call.settle({ kind: 'cached', match: lookup.match })
      return { response }
    }
    if (lookup.shadow) accounting.noteSemanticMatch(lookup.shadow, cacheQuery, { isShadow: true })
    else if (lookup.nearMiss) accounting.noteSemanticMatch(lookup.nearMiss, cacheQuery)
    if (cacheQuery.control.onlyIfCached) throw refuse('notCached')
    if (call.signal.aborted) throw new ClientGone()
    return await steps.ask(context, joined, lookup, stages)
  } catch (error) {
    const failure = asFailure(error)
    call.settle({ kind: 'notShareable', failure })
    return { failure }
  }
}

function lookupSkipped({ query, account }: Shared): Lookup {
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
