/** The life of a request, top to bottom: parse, plan, admit, hit or shared call, respond, account. */
import { hashBearerKey } from '../admission/key-validator.ts'
import { createError, ProxyError } from '../errors/errors.ts'
import { apiFormatOf } from '../formats/endpoint-formats.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { isDatabaseUnavailable } from '../postgres/database.ts'
import {
  type AdmittedRequest,
  admitRequest,
  isCountedAgainstQuota,
  setRateLimitHeaders,
} from './context/admit-request.ts'
import { isPlanReusable, operationForTarget, planRequest } from './context/plan-request.ts'
import { type EarlyBody, readBodyEarly } from './context/read-request.ts'
import type { PipelineServices, RequestContext } from './context/request-context.ts'
import { applyHookDecision, checkRequest } from './hook-checks/check-request.ts'
import { checkCachedResponse } from './hook-checks/check-response.ts'
import { resolveAliasSync } from './request/change-model.ts'
import type { CompletionQuery } from './request/query.ts'
import type { ProxyRequest, ProxyResponse } from './request/request.ts'
import { readTags } from './request/tags.ts'
import { EARLY_HEADERS_AFTER_MS, type EarlyHeadersOptions, sendHeadersEarly } from './response/early-headers.ts'
import { finishResponse } from './response/finish-response.ts'
import { createMissHeaders, SSE_HEADERS } from './response/response-headers.ts'
import { setCacheScopeHeader } from './response/serve-hit.ts'
import { maxCost, requestSizeOf } from './spending/max-cost.ts'
import { sendWithFallbacks } from './upstream/fallbacks.ts'

export type Pipeline = (request: ProxyRequest) => Promise<ProxyResponse>

/** `keepAliveAfterMs`: silence before the head of a streamed response goes out. */
export function createPipeline(stages: PipelineServices, keepAliveAfterMs = EARLY_HEADERS_AFTER_MS): Pipeline {
  const { admission, modelRouter, cache } = stages

  return async request => {
    const keyHash = hashBearerKey(request.authorization)
    let early: EarlyBody | null = null
    let admitted: AdmittedRequest | null = null
    try {
      early = await readBodyEarly(request, keyHash, stages)
      // A guess at the account, never a verdict. It saves reading the exact entry in a round trip of its own.
      const guess = admission.findCachedKey(keyHash)
      const guessed = early?.query && guess && planRequest(named(early.query, guess), guess, modelRouter)
      admitted = await admitRequest(request, keyHash, guessed || null, stages)
      const { resolvedKey, exactEntry: entry, recorder } = admitted
      const query = early?.query
        ? named(early.query, resolvedKey)
        : await operationForTarget(request.target).read(request, resolvedKey, stages, early?.bytes)
      // Asked first, so that a request without tags reads none.
      const isTagged = query.body.metadata !== undefined || request.headers.has('x-proxy-tags')
      recorder.setQuery(query, isTagged ? readTags(request.headers, query) : null)
      const learning = modelRouter.loadModelNames(resolvedKey, query.model)
      if (learning) await learning
      const isRight = guessed && !learning && isPlanReusable(guess, resolvedKey)
      const plan = isRight ? guessed : planRequest(query, resolvedKey, modelRouter)
      const exactEntry = isRight ? entry : await cache.readEntry(plan.exactKey)
      if (plan.error) throw plan.error
      const check = stages.hook && (await checkRequest({ request, query, resolvedKey }, stages.hook))
      if (plan.provider) recorder.setProvider(plan.provider)
      if (plan.cacheQuery) recorder.setDetails({ asked_id: plan.cacheQuery.askedId })
      const checked = {
        request,
        query,
        resolvedKey,
        recorder,
        check,
        ...(check ? applyHookDecision(plan, check) : plan),
      }
      const responding = complete(checked, admitted, exactEntry, stages)
      // An exact hit comes at once.
      const mayBeSilent = exactEntry === null && isStreamed(checked)
      return await (mayBeSilent
        ? sendHeadersEarly(responding, describeHead(checked, admitted, keepAliveAfterMs))
        : responding)
    } catch (raised) {
      if (admitted) throw await accountFailure(admitted, raised)
      const error = describeRaised(raised)
      noteRefused(request, keyHash, early, error)
      throw error
    }
  }

  /** What is refused of a known key is recorded, if it would count. */
  function noteRefused(request: ProxyRequest, keyHash: string, early: EarlyBody | null, error: unknown): void {
    const account = admission.findCachedKey(keyHash)
    if (account && isCountedAgainstQuota(request))
      stages.accounting.recordRejection(request, account, early?.query ? named(early.query, account) : null, error)
  }
}

/** Answers an admitted request. A failure is accounted for, whether or not its client still waits for the head of its response. */
async function complete(
  context: RequestContext,
  admitted: AdmittedRequest,
  exactEntry: Uint8Array | null,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { query, resolvedKey, provider } = context
  try {
    const response = await answer(context, exactEntry, stages)
    await setRateLimitHeaders(admitted, response)
    if (response.headers['x-proxy-cache']?.startsWith('HIT')) setCacheScopeHeader(response.headers, context)
    if (query.alias) response.headers['x-proxy-model'] ??= query.model
    if (query.kind !== 'completion' || !(query.canBeStored || query.echoedFields)) return response
    return await finishResponse({ query, resolvedKey, provider }, response, stages)
  } catch (raised) {
    throw await accountFailure(admitted, raised)
  }
}

function describeHead(
  context: RequestContext<CompletionQuery>,
  admitted: AdmittedRequest,
  afterMs: number,
): EarlyHeadersOptions {
  const { request, query, provider, recorder } = context
  const { writeFailure } = apiFormatOf(query.endpoint)
  return {
    afterMs,
    async writeHeaders() {
      recorder.recordHeadersSent()
      const headers = { ...createMissHeaders(provider?.name ?? '', 0), ...SSE_HEADERS }
      await setRateLimitHeaders(admitted, { headers })
      return headers
    },
    writeFailure: error => writeFailure(error, request.id, null),
  }
}

async function answer(
  context: RequestContext,
  exactEntry: Uint8Array | null,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { cache } = stages
  const { request, operation, resolvedKey, cacheQuery, provider } = context
  try {
    if (resolvedKey.when_exhausted === 'refuse') await reserveAhead(context, stages)
    const stored = cacheQuery && cache.readExact(exactEntry, cacheQuery)
    const match = stored && context.check ? await checkCachedResponse(context, stored, stages) : stored
    return (match && operation.serveHit(context, match, stages)) ?? (await sendWithFallbacks(context, stages))
  } catch (error) {
    const isMiss = error instanceof ProxyError && provider && isCountedAgainstQuota(request)
    if (isMiss) Object.assign(error.headers, createMissHeaders(provider.name, 0))
    throw error
  }
}

/**
 * A project may want that nothing is answered any more when its money is spent, not even from the cache. Money that other requests have
 * reserved is not spent: it is waited for when there is no cached response.
 */
async function reserveAhead(
  { query, provider, recorder }: RequestContext,
  { catalogue }: PipelineServices,
): Promise<void> {
  if (!provider || (query.kind !== 'completion' && query.kind !== 'passed')) return
  const reserving = recorder.spending?.reserveAhead(query.model, maxCost(requestSizeOf(query), provider, catalogue))
  await reserving?.catch(error => {
    if (!(error instanceof ProxyError && error.code === 'budget_reserved')) throw error
  })
}

function isStreamed(context: RequestContext): context is RequestContext<CompletionQuery> {
  const { query, provider } = context
  return query.kind === 'completion' && query.stream && provider !== null
}

/** Returns the error that the client gets. */
async function accountFailure(admitted: AdmittedRequest, raised: unknown): Promise<unknown> {
  const error = describeRaised(raised)
  admitted.recorder.finishFailed(error)
  if (error instanceof ProxyError) await setRateLimitHeaders(admitted, error)
  return error
}

function describeRaised(raised: unknown): unknown {
  return isDatabaseUnavailable(raised) ? createError('databaseUnavailable', null, raised) : raised
}

function named(query: CompletionQuery, resolvedKey: ResolvedKey): CompletionQuery {
  return resolvedKey.aliases.length > 0 ? resolveAliasSync(query, resolvedKey) : query
}
