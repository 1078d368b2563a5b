/** After an exact miss, a request follows the call in flight for the same request, or leads one of its own. */
import type { CacheControl } from '../cache/cache-control.ts'
import { type CacheQuery, isAskersOwn } from '../cache/cache-query.ts'
import type { Match } from '../cache/entry.ts'
import type { Lookup } from '../cache/lookup.ts'
import { ClientGone, ProxyError, refuse } from '../errors/errors.ts'
import { whenAborted } from '../event-loop/time-limit.ts'
import { takeAskTurn } from '../event-loop/turns.ts'
import { referencesOf } from '../formats/kept-references.ts'
import { OPERATIONS, type OperationTraits } from '../providers/operations.ts'
import { UpstreamFailure } from '../providers/upstream-failure.ts'
import { passFound } from './checks/pass-answer.ts'
import type { CallFailure, Joined, Settlement, SharedCalls } from './coalescing/shared-call.ts'
import { followCall } from './follow-call.ts'
import { checkReferences } from './kept-objects/check-references.ts'
import { knownAhead } from './pass-through/passed-usage.ts'
import { allowsCaching, isFollowedLive } from './plan-request.ts'
import type { Attempt, RequestContext, RoutedContext, SharedOperation, Stages } from './request-context.ts'
import { describePricedCall, estimateUsage } from './spending/estimate-usage.ts'
import { maxCost, sizeOf } from './spending/max-cost.ts'
import { isSentAsWritten } from './spending/unseen-output.ts'
import { asReported } from './spending/usage-of-call.ts'

/** Codes of refusals that concern the leader's key alone. */
const OF_ONE_KEY: ReadonlySet<string> = new Set(['insufficient_quota', 'budget_reserved', 'rate_limit_exceeded'])
/** Calls that a request follows; where each of them failed, it takes the last one's failure for its own. */
const MAX_CALLS = 2

/** A request that may share its call with identical ones. */
interface SharingContext extends RoutedContext {
  operation: SharedOperation
}

export function callUpstream(context: RequestContext, stages: Stages): Promise<Attempt> {
  const { operation } = context
  if (!operation.sharesCalls) return operation.ask(context, stages)
  // Only what a provider answers is shared.
  return shareCall(context as SharingContext, stages)
}

async function shareCall(context: SharingContext, stages: Stages): Promise<Attempt> {
  const { cacheQuery, control } = context
  const isLive = isFollowedLive(context)
  if (cacheQuery) cacheQuery.trace = context.request.trace
  const failures: CallFailure[] = []
  for (let attempt = 0; attempt < MAX_CALLS && cacheQuery && mayShare(control); attempt++) {
    const joined = stages.calls.join(cacheQuery.callName, isLive)
    if (!joined) break
    const lookup = joined.isFirst ? await tryToLead(cacheQuery, joined, stages) : null
    if (lookup) return lead(context, joined, lookup, stages)
    context.recorder.followed = joined.isFirst ? 'installation' : 'process'
    const followed = await followCall(context, joined, stages)
    if ('response' in followed) return followed
    if (followed.failure && !(followed.failure instanceof ClientGone)) failures.push(followed.failure)
  }
  // Whoever finds nothing to follow, or followed calls that ended for their clients or before they began, asks unshared: too little is known
  // of an answer to this request.
  const failure = failures[MAX_CALLS - 1]
  if (failure) return { failure }
  const lookup = cacheQuery && (control.lookup ? await stages.cache.find(cacheQuery) : lookupSkipped(context))
  return lead(context, stages.calls.startUnshared(isLive), lookup, stages)
}

/** Returns what the cache found; null when another process leads. The call then carries that leader's events. */
async function tryToLead(cacheQuery: CacheQuery, { call }: Joined, { cache, leads }: Stages): Promise<Lookup | null> {
  // Concurrently, when the lookup is free. An entry that another process stores in between comes with the lead.
  const looking = cache.findsForFree(cacheQuery) ? cache.find(cacheQuery) : null
  const taken = await leads.take(cacheQuery.callName, call, cacheQuery.exactKey)
  if (!taken.isOurs) return null
  const lookup = await (looking ?? cache.find(cacheQuery))
  if (lookup.match) return lookup
  const entry = taken.entry ?? (await cache.readLateEntry(cacheQuery.exactKey))
  return { ...lookup, match: cache.readExact(entry, cacheQuery) }
}

function hasLargeAnswers(query: SharingContext['query']): boolean {
  const traits: OperationTraits | null = query.kind === 'passed' ? OPERATIONS[query.endpoint] : null
  return traits?.hasLargeAnswers ?? false
}

/** Throws a 503 when there is no memory for another stream, or large response. */
async function findRoom(room: SharedCalls['room']): Promise<void> {
  await takeAskTurn()
  if (room.isFull) throw refuse('tooManyUnreadStreams')
}

/** Serves what the lookup found, else asks the provider. Followers may subscribe from the start. */
async function lead(
  context: SharingContext,
  { call, subscriber }: Joined,
  found: Lookup | null,
  stages: Stages,
): Promise<Attempt> {
  const { request, query, account, provider, control, operation, recorder } = context
  whenAborted(request.signal, subscriber.leave)
  try {
    const lookup = found && context.check ? await passFound(context, found, stages) : found
    const response = lookup && serveFound(context, lookup, stages)
    if (lookup?.match && response) {
      call.settle(asShared(lookup.match, context))
      return { response }
    }
    if (control.onlyIfCached) throw refuse('notCached')
    if (isFollowedLive(context) || hasLargeAnswers(query)) await findRoom(stages.calls.room)
    const references = referencesOf(query)
    const keeper =
      references.length > 0 ? await checkReferences(stages.database, references, account, provider) : provider
    const { spending } = recorder
    const most = spending && maxCost(sizeOf(query), provider, stages.catalogue)
    await spending?.reserve(query.model, most, call.signal)
    if (call.signal.aborted) throw new ClientGone()
    const asked = describePricedCall(query, provider, stages.catalogue)
    recorder.beginCall(reason => knownAhead(context, stages) ?? estimateUsage(asked, { reason }))
    // What is made in the background is made to its end.
    const isAside = query.endpoint === 'responses' && query.body.background === true
    const isLearned = query.kind === 'completion' || spending?.hasBudgets === true
    call.readsOn = hasBegun => isAside || (isLearned && recorder.isReadToEnd && !(hasBegun && isSentAsWritten(asked)))
    return await operation.ask({ ...context, provider: keeper, call, subscriber, lookup }, stages).catch(error => {
      if (error instanceof UpstreamFailure && error.usage) error.usage = asReported(asked, error.usage)
      throw error
    })
  } catch (error) {
    const failure = asFailure(error)
    // Another key may have money or tokens left.
    const isOwn = failure instanceof ProxyError && OF_ONE_KEY.has(failure.code)
    call.settle({ kind: 'notShareable', failure: isOwn ? null : failure })
    return { failure }
  }
}

/** Those who asked it word for word share what was stored word for word, and not always what only its asker may be given in other words. */
function asShared(match: Match, { cacheQuery }: SharingContext): Settlement {
  const isOwn = match.result === 'HIT-SEMANTIC' && cacheQuery !== null && isAskersOwn(cacheQuery)
  return isOwn ? { kind: 'notShareable', failure: null } : { kind: 'cached', match }
}

/** Serves the lookup's match; without one, notes what nearly was. */
function serveFound(context: SharingContext, lookup: Lookup, stages: Stages) {
  const { operation, cacheQuery, recorder } = context
  const { match, shadow, nearMiss, judgeUsd } = lookup
  recorder.addJudgeCost(judgeUsd ?? 0)
  recorder.recordLookup(lookup)
  const response = match && operation.serveHit(context, match, stages, judgeUsd)
  if (response || !cacheQuery) return response
  if (shadow) recorder.recordSemanticMatch(shadow, cacheQuery, { isShadow: true })
  else if (nearMiss) recorder.recordSemanticMatch(nearMiss, cacheQuery)
  return null
}

function lookupSkipped({ query, account }: SharingContext): Lookup {
  return { match: null, missReason: allowsCaching(query, account) ? 'no-store' : 'off', vector: null }
}

/** A request that wants a fresh response, may not store one, or would not wait for one, shares no call. */
function mayShare(control: CacheControl): boolean {
  return control.lookup && control.store && !control.onlyIfCached
}

function asFailure(error: unknown): ProxyError | ClientGone {
  if (error instanceof ProxyError || error instanceof ClientGone) return error
  return refuse('unanswered', null, error)
}
