/** After an exact miss, a request follows an identical request's call that is in flight, or leads a call of its own. */
import type { CacheControl } from '../../cache/cache-control.ts'
import { type CacheQuery, isUserScoped } from '../../cache/cache-query.ts'
import type { CachedResponseMatch } from '../../cache/entry.ts'
import type { LookupResult } from '../../cache/lookup.ts'
import { ClientDisconnected, createError, ProxyError } from '../../errors/errors.ts'
import { onAbort } from '../../event-loop/timeouts.ts'
import { yieldBeforeCall } from '../../event-loop/work-scheduler.ts'
import { canFallBackAfter } from '../../providers/classify-rejection.ts'
import { PASS_THROUGH_OPERATIONS, type PassThroughTraits } from '../../providers/pass-through-operations.ts'
import {
  isTemporary,
  isTemporaryStatus,
  UpstreamFailure,
  type UpstreamFailureKind,
} from '../../providers/upstream-failure.ts'
import type { CallFailure, JoinedCall, SharedCallResult, SharedCalls } from '../coalescing/shared-call.ts'
import { isCachingAllowed, isStreamed } from '../context/plan-request.ts'
import type {
  AttemptResult,
  CoalescedOperation,
  PipelineServices,
  RequestContext,
  RoutedContext,
} from '../context/request-context.ts'
import { checkLookupResult } from '../hook-checks/check-with-hook.ts'
import { checkReferences } from '../ownership/check-references.ts'
import { describePricedCall, estimateUsage } from '../spending/estimate-usage.ts'
import { isAllOutputVisible } from '../spending/hidden-output.ts'
import { maxCost, requestSizeOf } from '../spending/max-cost.ts'
import { resolveUpfrontUsage } from '../spending/pass-through-usage.ts'
import { normalizeReportedUsage } from '../spending/resolve-usage.ts'
import { followCall, isTooSlow } from './follow-call.ts'

/** Error codes that concern only the leader's key. */
const LEADER_ONLY_CODES: ReadonlySet<string> = new Set(['insufficient_quota', 'budget_reserved', 'rate_limit_exceeded'])
/** Calls that a request follows before it gives up. If all of them fail, the request fails with the last failure. */
const MAX_FOLLOWED_CALLS = 2

/** A request that may share its call with identical ones. */
interface SharingContext extends RoutedContext {
  operation: CoalescedOperation
}

export function executeOperation(context: RequestContext, services: PipelineServices): Promise<AttemptResult> {
  const { operation } = context
  if (!operation.sharesCalls) return operation.execute(context, services)
  // Shared operations always have a provider and a cache control.
  return shareCall(context as SharingContext, services)
}

async function shareCall(context: SharingContext, services: PipelineServices): Promise<AttemptResult> {
  const { cacheQuery, control } = context
  const isLive = isStreamed(context)
  if (cacheQuery) cacheQuery.trace = context.request.trace
  const failures: CallFailure[] = []
  for (let attempt = 0; attempt < MAX_FOLLOWED_CALLS && cacheQuery && canShareCall(control); attempt++) {
    const joined = services.sharedCalls.join(cacheQuery.sharedCallName, isLive)
    if (!joined) break
    const lookup = joined.isFirst ? await tryToAcquireLead(cacheQuery, joined, services) : null
    if (lookup) return lead(context, joined, lookup, services)
    context.recorder.followedCallScope = joined.isFirst ? 'installation' : 'process'
    const followed = await followCall(context, joined, services)
    if ('response' in followed) return followed
    if (followed.failure && isFinal(followed.failure, context)) return { failure: followed.failure }
    if (followed.failure && !(followed.failure instanceof ClientDisconnected)) failures.push(followed.failure)
  }
  // A request calls the provider unshared if it finds no call to follow, or if the followed calls had no result that it can use.
  const failure = failures[MAX_FOLLOWED_CALLS - 1]
  if (failure) return { failure }
  const lookup = cacheQuery && (control.lookup ? await services.cache.lookUp(cacheQuery) : lookupSkipped(context))
  return lead(context, services.sharedCalls.startUnshared(isLive), lookup, services)
}

/** Failures that may be gone at the next call. A provider that is silent or not reachable is not called again for followers. */
const MAY_BE_GONE: ReadonlySet<UpstreamFailureKind> = new Set(['cut', 'broken', 'empty', 'reported'])

/** Whether a follower fails with the leader's failure: the provider failed, and a fallback is called, or another call would fail as well. */
function isFinal(failure: CallFailure, context: SharingContext): boolean {
  const { hasFallback = false } = context
  if (failure instanceof UpstreamFailure && failure.timeoutMs !== null) return isTooSlow(failure, context)
  if (failure instanceof UpstreamFailure) return hasFallback || !(MAY_BE_GONE.has(failure.kind) && isTemporary(failure))
  if (failure instanceof Error) return false
  const status = failure.upstreamStatus ?? failure.status
  return hasFallback || status === 429 || !isTemporaryStatus(status)
}

/** Returns the lookup result; null if another process leads. The call then receives that leader's events. */
async function tryToAcquireLead(
  cacheQuery: CacheQuery,
  { call }: JoinedCall,
  { cache, callLeases }: PipelineServices,
): Promise<LookupResult | null> {
  // A lookup without an embedding call runs concurrently. An entry that another process stores meanwhile comes with the lease.
  const pendingLookup = cache.isLookupFree(cacheQuery) ? cache.lookUp(cacheQuery) : null
  const lease = await callLeases.acquire(cacheQuery.sharedCallName, call, cacheQuery.exactKey)
  if (!lease.isAcquired) return null
  const lookup = await (pendingLookup ?? cache.lookUp(cacheQuery))
  if (lookup.match) return lookup
  const entry = lease.entry ?? (await cache.readRecentEntry(cacheQuery.exactKey))
  return { ...lookup, match: cache.readExact(entry, cacheQuery) }
}

function hasLargeResponses(query: SharingContext['query']): boolean {
  const traits: PassThroughTraits | null =
    query.kind === 'pass_through' ? PASS_THROUGH_OPERATIONS[query.endpoint] : null
  return traits?.hasLargeResponses ?? false
}

/** Throws a 503 if there is no memory for another stream or large response. */
async function requireStreamMemory(memory: SharedCalls['memory']): Promise<void> {
  await yieldBeforeCall()
  if (memory.isFull) throw createError('tooManyUnreadStreams')
}

/** Serves the lookup's match, else calls the provider. Followers may subscribe from the start. */
async function lead(
  context: SharingContext,
  { call, subscriber }: JoinedCall,
  found: LookupResult | null,
  services: PipelineServices,
): Promise<AttemptResult> {
  const { request, query, resolvedKey, provider, control, operation, recorder } = context
  onAbort(request.signal, subscriber.leave)
  try {
    const lookup = found && context.check ? await checkLookupResult(context, found, services) : found
    const response = lookup && serveLookupResult(context, lookup, services)
    if (lookup?.match && response) {
      call.settle(toSharedResult(lookup.match, context))
      return { response }
    }
    if (control.onlyIfCached) throw createError('notCached')
    if (isStreamed(context) || hasLargeResponses(query)) await requireStreamMemory(services.sharedCalls.memory)
    const { references } = query.facts
    const storageProvider =
      references.length > 0 ? await checkReferences(services.database, references, resolvedKey, provider) : provider
    const { spending } = recorder
    const costBound = spending && maxCost(requestSizeOf(query), provider, services.catalogue)
    await spending?.reserve(query.model, costBound, call.signal)
    if (call.signal.aborted) throw new ClientDisconnected()
    const pricedCall = describePricedCall(query, provider, services.catalogue)
    recorder.beginCall(reason => resolveUpfrontUsage(context, services) ?? estimateUsage(pricedCall, { reason }))
    // A background response is completed even if its client disconnects.
    const isBackground = query.endpoint === 'responses' && query.body.background === true
    const isUsageNeeded = query.kind === 'completion' || spending?.hasBudgets === true
    call.canContinueUnsubscribed = hasOutput =>
      isBackground || (isUsageNeeded && recorder.isWorthReadingToEnd && !(hasOutput && isAllOutputVisible(pricedCall)))
    return await operation
      .execute({ ...context, provider: storageProvider, call, subscriber, lookup }, services)
      .catch(error => {
        if (error instanceof UpstreamFailure && error.usage)
          error.usage = normalizeReportedUsage(pricedCall, error.usage)
        throw error
      })
  } catch (error) {
    const failure = toFailure(error)
    // Another key may have budget or quota left.
    const isOurs = failure instanceof ProxyError && !(failure instanceof UpstreamFailure)
    const isLeaderOnly = isOurs && LEADER_ONLY_CODES.has(failure.code)
    const canFallBack = canFallBackAfter(failure)
    call.settle({ kind: 'notShareable', failure: isLeaderOnly ? null : failure, canFallBack })
    return { failure }
  }
}

/** Returns the result for followers. A semantic match of a user-scoped query is for the leader only. */
function toSharedResult(match: CachedResponseMatch, { cacheQuery }: SharingContext): SharedCallResult {
  const isLeaderOnly = match.result === 'HIT-SEMANTIC' && cacheQuery !== null && isUserScoped(cacheQuery)
  return isLeaderOnly ? { kind: 'notShareable', failure: null } : { kind: 'cached', match }
}

/** Serves the lookup's match; without one, records the shadow match or the near miss. */
function serveLookupResult(context: SharingContext, lookup: LookupResult, services: PipelineServices) {
  const { operation, cacheQuery, recorder } = context
  const { match, shadow, nearMiss, judgeUsd } = lookup
  recorder.addJudgeCost(judgeUsd ?? 0)
  recorder.recordLookup(lookup)
  const response = match && operation.serveHit(context, match, services, judgeUsd)
  if (response || !cacheQuery) return response
  if (shadow) recorder.recordSemanticMatch(shadow, cacheQuery, { isShadow: true })
  else if (nearMiss) recorder.recordSemanticMatch(nearMiss, cacheQuery)
  return null
}

function lookupSkipped({ query, resolvedKey, control }: SharingContext): LookupResult {
  const missReason = control.isOldVersion ? 'old-version' : isCachingAllowed(query, resolvedKey) ? 'no-store' : 'off'
  return { match: null, missReason, vector: null }
}

/** Whether the request may share a call: it may look up and store responses, and does not accept only cached ones. */
function canShareCall(control: CacheControl): boolean {
  return control.lookup && control.store && !control.onlyIfCached
}

function toFailure(error: unknown): ProxyError | ClientDisconnected {
  if (error instanceof ProxyError || error instanceof ClientDisconnected) return error
  return createError('upstreamCallFailed', null, error)
}
