/** After an exact miss, a request follows the call in flight for the same request, or leads one of its own. */
import type { CacheControl } from '../../cache/cache-control.ts'
import { type CacheQuery, isUserScoped } from '../../cache/cache-query.ts'
import type { CachedResponseMatch } from '../../cache/entry.ts'
import type { LookupResult } from '../../cache/lookup.ts'
import { ClientDisconnected, createError, ProxyError } from '../../errors/errors.ts'
import { onAbort } from '../../event-loop/timeouts.ts'
import { yieldBeforeCall } from '../../event-loop/work-scheduler.ts'
import { storedObjectReferencesOf } from '../../formats/stored-object-references.ts'
import { PASS_THROUGH_OPERATIONS, type PassThroughTraits } from '../../providers/pass-through-operations.ts'
import { UpstreamFailure } from '../../providers/upstream-failure.ts'
import type { CallFailure, JoinedCall, SharedCallResult, SharedCalls } from '../coalescing/shared-call.ts'
import { isCachingAllowed, isStreamedLive } from '../context/plan-request.ts'
import type {
  AttemptResult,
  PipelineServices,
  RequestContext,
  RoutedContext,
  SharedOperation,
} from '../context/request-context.ts'
import { checkLookupResult } from '../hook-checks/check-response.ts'
import { checkReferences } from '../ownership/check-references.ts'
import { describePricedCall, estimateUsage } from '../spending/estimate-usage.ts'
import { isAllOutputVisible } from '../spending/hidden-output.ts'
import { maxCost, requestSizeOf } from '../spending/max-cost.ts'
import { resolveUpfrontUsage } from '../spending/pass-through-usage.ts'
import { normalizeReportedUsage } from '../spending/resolve-usage.ts'
import { followCall } from './follow-call.ts'

/** Codes of refusals that concern the leader's key alone. */
const OF_ONE_KEY: ReadonlySet<string> = new Set(['insufficient_quota', 'budget_reserved', 'rate_limit_exceeded'])
/** Calls that a request follows; where each of them failed, it takes the last one's failure for its own. */
const MAX_CALLS = 2

/** A request that may share its call with identical ones. */
interface SharingContext extends RoutedContext {
  operation: SharedOperation
}

export function executeOperation(context: RequestContext, stages: PipelineServices): Promise<AttemptResult> {
  const { operation } = context
  if (!operation.sharesCalls) return operation.execute(context, stages)
  // Only what a provider answers is shared.
  return shareCall(context as SharingContext, stages)
}

async function shareCall(context: SharingContext, stages: PipelineServices): Promise<AttemptResult> {
  const { cacheQuery, control } = context
  const isLive = isStreamedLive(context)
  if (cacheQuery) cacheQuery.trace = context.request.trace
  const failures: CallFailure[] = []
  for (let attempt = 0; attempt < MAX_CALLS && cacheQuery && mayShare(control); attempt++) {
    const joined = stages.sharedCalls.join(cacheQuery.sharedCallName, isLive)
    if (!joined) break
    const lookup = joined.isFirst ? await tryToLead(cacheQuery, joined, stages) : null
    if (lookup) return lead(context, joined, lookup, stages)
    context.recorder.followedCallScope = joined.isFirst ? 'installation' : 'process'
    const followed = await followCall(context, joined, stages)
    if ('response' in followed) return followed
    if (followed.failure && !(followed.failure instanceof ClientDisconnected)) failures.push(followed.failure)
  }
  // Whoever finds nothing to follow, or followed calls that ended for their clients or before they began, asks unshared: too little is known
  // of an answer to this request.
  const failure = failures[MAX_CALLS - 1]
  if (failure) return { failure }
  const lookup = cacheQuery && (control.lookup ? await stages.cache.lookUp(cacheQuery) : lookupSkipped(context))
  return lead(context, stages.sharedCalls.startUnshared(isLive), lookup, stages)
}

/** Returns what the cache found; null when another process leads. The call then carries that leader's events. */
async function tryToLead(
  cacheQuery: CacheQuery,
  { call }: JoinedCall,
  { cache, callLeases }: PipelineServices,
): Promise<LookupResult | null> {
  // Concurrently, when the lookup is free. An entry that another process stores in between comes with the lead.
  const looking = cache.isLookupFree(cacheQuery) ? cache.lookUp(cacheQuery) : null
  const taken = await callLeases.acquire(cacheQuery.sharedCallName, call, cacheQuery.exactKey)
  if (!taken.isAcquired) return null
  const lookup = await (looking ?? cache.lookUp(cacheQuery))
  if (lookup.match) return lookup
  const entry = taken.entry ?? (await cache.readRecentEntry(cacheQuery.exactKey))
  return { ...lookup, match: cache.readExact(entry, cacheQuery) }
}

function hasLargeAnswers(query: SharingContext['query']): boolean {
  const traits: PassThroughTraits | null = query.kind === 'passed' ? PASS_THROUGH_OPERATIONS[query.endpoint] : null
  return traits?.hasLargeResponses ?? false
}

/** Throws a 503 when there is no memory for another stream, or large response. */
async function findRoom(room: SharedCalls['memory']): Promise<void> {
  await yieldBeforeCall()
  if (room.isFull) throw createError('tooManyUnreadStreams')
}

/** Serves what the lookup found, else asks the provider. Followers may subscribe from the start. */
async function lead(
  context: SharingContext,
  { call, subscriber }: JoinedCall,
  found: LookupResult | null,
  stages: PipelineServices,
): Promise<AttemptResult> {
  const { request, query, resolvedKey, provider, control, operation, recorder } = context
  onAbort(request.signal, subscriber.leave)
  try {
    const lookup = found && context.check ? await checkLookupResult(context, found, stages) : found
    const response = lookup && serveFound(context, lookup, stages)
    if (lookup?.match && response) {
      call.settle(asShared(lookup.match, context))
      return { response }
    }
    if (control.onlyIfCached) throw createError('notCached')
    if (isStreamedLive(context) || hasLargeAnswers(query)) await findRoom(stages.sharedCalls.memory)
    const references = storedObjectReferencesOf(query)
    const keeper =
      references.length > 0 ? await checkReferences(stages.database, references, resolvedKey, provider) : provider
    const { spending } = recorder
    const most = spending && maxCost(requestSizeOf(query), provider, stages.catalogue)
    await spending?.reserve(query.model, most, call.signal)
    if (call.signal.aborted) throw new ClientDisconnected()
    const asked = describePricedCall(query, provider, stages.catalogue)
    recorder.beginCall(reason => resolveUpfrontUsage(context, stages) ?? estimateUsage(asked, { reason }))
    // What is made in the background is made to its end.
    const isAside = query.endpoint === 'responses' && query.body.background === true
    const isLearned = query.kind === 'completion' || spending?.hasBudgets === true
    call.canContinueUnsubscribed = hasBegun =>
      isAside || (isLearned && recorder.isWorthReadingToEnd && !(hasBegun && isAllOutputVisible(asked)))
    return await operation.execute({ ...context, provider: keeper, call, subscriber, lookup }, stages).catch(error => {
      if (error instanceof UpstreamFailure && error.usage) error.usage = normalizeReportedUsage(asked, error.usage)
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
function asShared(match: CachedResponseMatch, { cacheQuery }: SharingContext): SharedCallResult {
  const isOwn = match.result === 'HIT-SEMANTIC' && cacheQuery !== null && isUserScoped(cacheQuery)
  return isOwn ? { kind: 'notShareable', failure: null } : { kind: 'cached', match }
}

/** Serves the lookup's match; without one, notes what nearly was. */
function serveFound(context: SharingContext, lookup: LookupResult, stages: PipelineServices) {
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

function lookupSkipped({ query, resolvedKey }: SharingContext): LookupResult {
  return { match: null, missReason: isCachingAllowed(query, resolvedKey) ? 'no-store' : 'off', vector: null }
}

/** A request that wants a fresh response, may not store one, or would not wait for one, shares no call. */
function mayShare(control: CacheControl): boolean {
  return control.lookup && control.store && !control.onlyIfCached
}

function asFailure(error: unknown): ProxyError | ClientDisconnected {
  if (error instanceof ProxyError || error instanceof ClientDisconnected) return error
  return createError('upstreamCallFailed', null, error)
}
