/** The life of a request, top to bottom: parse, plan, admit, hit or shared call, respond, account. */
import { hashBearerKey } from '../admission/api-key.ts'
import { ProxyError, refuse } from '../errors/errors.ts'
import { formatOf } from '../formats/format-of.ts'
import type { Account } from '../postgres/admit.ts'
import { isUnavailable } from '../postgres/database.ts'
import { type AdmittedRequest, admitRequest, isCounted, tellLeft } from './admit-request.ts'
import { checkRequest, withinCheck } from './checks/check.ts'
import { passStored } from './checks/pass-answer.ts'
import { type EarlyHead, KEEP_ALIVE_AFTER_MS, withEarlyHead } from './early-head.ts'
import { answerWithFallbacks } from './fallbacks.ts'
import { finishAnswer } from './finish-answer.ts'
import { resolveEarly } from './for-model.ts'
import { planRequest, readerOf, samePlanInputs } from './plan-request.ts'
import type { CompletionQuery } from './query.ts'
import { type EarlyBody, readEarly } from './read-request.ts'
import type { ProxyRequest, ProxyResponse } from './request.ts'
import type { RequestContext, Stages } from './request-context.ts'
import { missHeaders, SSE_TYPE } from './response-headers.ts'
import { tellScope } from './serve-hit.ts'
import { maxCost, sizeOf } from './spending/max-cost.ts'
import { readTags } from './tags.ts'

export type Pipeline = (request: ProxyRequest) => Promise<ProxyResponse>

/** `keepAliveAfterMs`: silence before the head of a streamed response goes out. */
export function createPipeline(stages: Stages, keepAliveAfterMs = KEEP_ALIVE_AFTER_MS): Pipeline {
  const { admission, modelRouter, cache } = stages

  return async request => {
    const keyHash = hashBearerKey(request.authorization)
    let early: EarlyBody | null = null
    let admitted: AdmittedRequest | null = null
    try {
      early = await readEarly(request, keyHash, stages)
      // A guess at the account, never a verdict. It saves reading the exact entry in a round trip of its own.
      const guess = admission.lastKnown(keyHash)
      const guessed = early?.query && guess && planRequest(named(early.query, guess), guess, modelRouter)
      admitted = await admitRequest(request, keyHash, guessed || null, stages)
      const { account, entry, recorder } = admitted
      const query = early?.query
        ? named(early.query, account)
        : await readerOf(request.target).read(request, account, stages, early?.bytes)
      // Asked first, so that a request without tags reads none.
      const isTagged = query.body.metadata !== undefined || request.headers.has('x-proxy-tags')
      recorder.setQuery(query, isTagged ? readTags(request.headers, query) : null)
      const learning = modelRouter.learnNames(account, query.model)
      if (learning) await learning
      const isRight = guessed && !learning && samePlanInputs(guess, account)
      const plan = isRight ? guessed : planRequest(query, account, modelRouter)
      const exactEntry = isRight ? entry : await cache.readEntry(plan.exactKey)
      if (plan.refusal) throw plan.refusal
      const check = stages.hook && (await checkRequest({ request, query, account }, stages.hook))
      if (plan.provider) recorder.setProvider(plan.provider)
      if (plan.cacheQuery) recorder.set({ asked_id: plan.cacheQuery.askedId })
      const checked = { request, query, account, recorder, check, ...(check ? withinCheck(plan, check) : plan) }
      const responding = complete(checked, admitted, exactEntry, stages)
      // An exact hit comes at once.
      const mayBeSilent = exactEntry === null && isStreamed(checked)
      return await (mayBeSilent
        ? withEarlyHead(responding, describeHead(checked, admitted, keepAliveAfterMs))
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
    const account = admission.lastKnown(keyHash)
    if (account && isCounted(request))
      stages.accounting.recordRejection(request, account, early?.query ? named(early.query, account) : null, error)
  }
}

/** Answers an admitted request. A failure is accounted for, whether or not its client still waits for the head of its response. */
async function complete(
  context: RequestContext,
  admitted: AdmittedRequest,
  exactEntry: Uint8Array | null,
  stages: Stages,
): Promise<ProxyResponse> {
  const { query, account, provider } = context
  try {
    const response = await answer(context, exactEntry, stages)
    await tellLeft(admitted, response)
    if (response.headers['x-proxy-cache']?.startsWith('HIT')) tellScope(response.headers, context)
    if (query.alias) response.headers['x-proxy-model'] ??= query.model
    if (query.kind !== 'completion' || !(query.mayBeKept || query.ownFields)) return response
    return await finishAnswer({ query, account, provider }, response, stages)
  } catch (raised) {
    throw await accountFailure(admitted, raised)
  }
}

function describeHead(context: RequestContext<CompletionQuery>, admitted: AdmittedRequest, afterMs: number): EarlyHead {
  const { request, query, provider, recorder } = context
  const { writeFailure } = formatOf(query.endpoint)
  return {
    afterMs,
    async writeHeaders() {
      recorder.recordHeadersReady()
      const headers = { ...missHeaders(provider?.name ?? '', 0), ...SSE_TYPE }
      await tellLeft(admitted, { headers })
      return headers
    },
    writeFailure: error => writeFailure(error, request.id, null),
  }
}

async function answer(context: RequestContext, exactEntry: Uint8Array | null, stages: Stages): Promise<ProxyResponse> {
  const { cache } = stages
  const { request, operation, account, cacheQuery, provider } = context
  try {
    if (account.when_exhausted === 'refuse') await reserveAhead(context, stages)
    const stored = cacheQuery && cache.readExact(exactEntry, cacheQuery)
    const match = stored && context.check ? await passStored(context, stored, stages) : stored
    return (match && operation.serveHit(context, match, stages)) ?? (await answerWithFallbacks(context, stages))
  } catch (error) {
    const isMiss = error instanceof ProxyError && provider && isCounted(request)
    if (isMiss) Object.assign(error.headers, missHeaders(provider.name, 0))
    throw error
  }
}

/**
 * A project may want that nothing is answered any more when its money is spent, not even from the cache. Money that other requests have
 * reserved is not spent: it is waited for when there is no cached response.
 */
async function reserveAhead({ query, provider, recorder }: RequestContext, { catalogue }: Stages): Promise<void> {
  if (!provider || (query.kind !== 'completion' && query.kind !== 'passed')) return
  const reserving = recorder.spending?.reserveAhead(query.model, maxCost(sizeOf(query), provider, catalogue))
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
  if (error instanceof ProxyError) await tellLeft(admitted, error)
  return error
}

function describeRaised(raised: unknown): unknown {
  return isUnavailable(raised) ? refuse('databaseUnavailable', null, raised) : raised
}

function named(query: CompletionQuery, account: Account): CompletionQuery {
  return account.aliases.length > 0 ? resolveEarly(query, account) : query
}
