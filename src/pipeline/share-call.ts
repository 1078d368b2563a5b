/** A request that no exact entry answered joins the call that is under way for the same request, or leads one of its own. */

import type { CacheControl } from '../cache/cache-control.ts'
import type { Lookup } from '../cache/lookup.ts'
import { mayCache } from '../cache/may-cache.ts'
import type { CallFailure } from '../coalescing/shared-call.ts'
import { type Joined, startAlone } from '../coalescing/shared-calls.ts'
import { ClientGone, ProxyError, refuse } from '../errors.ts'
import { askUpstream } from './ask-upstream.ts'
import type { ProxyResponse } from './exchange.ts'
import { followCall } from './follow-call.ts'
import type { RequestContext } from './request-context.ts'
import { serveHit } from './serve-hit.ts'
import type { Stages } from './stages.ts'

/** The response, or why there is none: then nothing of one was sent, and the request is not accounted for. */
export type Attempt = { response: ProxyResponse } | { failure: CallFailure }

/** Calls of others that a request waits for before it takes the last one's failure for its own. */
const MAX_CALLS = 2

export async function answerByCall(context: RequestContext, stages: Stages): Promise<Attempt> {
  const { query, cacheQuery } = context
  let failure: CallFailure | null = null
  for (let attempt = 0; attempt < MAX_CALLS && mayShare(cacheQuery.control); attempt++) {
    const joined = stages.calls.join(cacheQuery.callName, query.stream)
    if (!joined) break
    if (joined.isFirst) {
      const led = await leadUnlessLed(context, joined, stages)
      if (led) return led
    }
    const followed = await followCall(context, joined)
    if ('response' in followed) return followed
    failure = followed.failure
  }
  if (failure) return { failure: failure instanceof ClientGone ? refuse('upstreamBrokeOff', null, failure) : failure }
  const lookup = cacheQuery.control.lookup ? await stages.cache.find(cacheQuery) : notLookedUp(context)
  return lead(context, startAlone(query.stream), lookup, stages)
}

/** Null where another process leads: the call is then what is heard of it. */
async function leadUnlessLed(context: RequestContext, joined: Joined, stages: Stages): Promise<Attempt | null> {
  const { cacheQuery } = context
  const { cache, leads } = stages
  // Both at once where looking costs no money. What another process stores between the two comes with the lead.
  const looking = cache.findsForFree(cacheQuery) ? cache.find(cacheQuery) : null
  const taken = await leads.take(cacheQuery.callName, joined.call, cacheQuery.exactKey)
  if (!taken.isOurs) return null
  const lookup = await (looking ?? cache.find(cacheQuery))
  const match = lookup.match ?? cache.readExact(taken.entry, cacheQuery)
  return lead(context, joined, { ...lookup, match }, stages)
}

/** Serves what was found, else asks the provider; others may listen from the first moment on. */
async function lead(context: RequestContext, joined: Joined, lookup: Lookup, stages: Stages): Promise<Attempt> {
  const { request, cacheQuery, accounting } = context
  const { call, subscriber } = joined
  // An abort that has happened already is not told again.
  if (request.signal.aborted) subscriber.leave()
  else request.signal.addEventListener('abort', subscriber.leave, { once: true })
  try {
    accounting.noteJudge(lookup.judgeUsd ?? 0)
    if (lookup.match) {
      call.settle({ kind: 'cached', match: lookup.match })
      return { response: serveHit(context, lookup.match, lookup.judgeUsd) }
    }
    if (lookup.shadow) accounting.noteSemanticMatch(lookup.shadow, cacheQuery, { isShadow: true })
    else if (lookup.nearMiss) accounting.noteSemanticMatch(lookup.nearMiss, cacheQuery)
    if (cacheQuery.control.onlyIfCached) throw refuse('notCached')
    if (call.signal.aborted) throw new ClientGone()
    return await askUpstream(context, joined, lookup, stages)
  } catch (error) {
    const failure = asFailure(error)
    call.settle({ kind: 'notShareable', failure })
    return { failure }
  }
}

function notLookedUp({ query, account }: RequestContext): Lookup {
  const missReason = mayCache(query.body, account.cache_mode) ? 'no-store' : 'off'
  return { match: null, missReason, vector: null }
}

/** Who wants a fresh response, or leaves none behind, or would not wait for one, goes alone. */
function mayShare(control: CacheControl): boolean {
  return control.lookup && control.store && !control.onlyIfCached
}

function asFailure(error: unknown): ProxyError | ClientGone {
  if (error instanceof ProxyError || error instanceof ClientGone) return error
  return refuse('unanswered', null, error)
}
