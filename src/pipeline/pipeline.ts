/** The life of a request, top to bottom: parse, plan, admit, hit or shared call, respond, account. */
import { hashBearerKey } from '../admission/api-key.ts'
import { formatUsd } from '../catalogue/catalogue.ts'
import { ProxyError, refuse } from '../errors/errors.ts'
import type { Account } from '../postgres/admit.ts'
import { isUnavailable } from '../postgres/database.ts'
import { answerWithFallbacks } from './fallbacks.ts'
import { resolveEarly } from './for-model.ts'
import { bindMade } from './kept-objects/bind-made.ts'
import { largestCost, sizeOf } from './largest-cost.ts'
import { withOwnFields } from './own-fields.ts'
import { planRequest, type RequestPlan, readerOf, samePlanInputs } from './plan-request.ts'
import type { CompletionQuery, Query } from './query.ts'
import { type EarlyBody, readEarly } from './read-request.ts'
import type { ProxyRequest, ProxyResponse } from './request.ts'
import type { RequestAccounting } from './request-accounting.ts'
import type { RequestContext, Stages } from './request-context.ts'
import { missHeaders } from './response-headers.ts'
import type { Spending } from './spending.ts'
import { readTags } from './tags.ts'

export type Pipeline = (request: ProxyRequest) => Promise<ProxyResponse>

export function createPipeline(stages: Stages): Pipeline {
  const { admission, modelRouter, cache } = stages

  return async request => {
    const keyHash = hashBearerKey(request.authorization)
    let early: EarlyBody | null = null
    let admitted: Awaited<ReturnType<typeof admit>> | null = null
    try {
      early = await readEarly(request, keyHash, stages)
      // A guess at the account, never a verdict. It saves reading the exact entry in a round trip of its own.
      const guess = admission.lastKnown(keyHash)
      const guessed = early?.query && guess && planRequest(named(early.query, guess), guess, modelRouter)
      admitted = await admit(request, keyHash, guessed || null, stages)
      const { account, entry, accounting } = admitted
      const query = early?.query
        ? named(early.query, account)
        : await readerOf(request.target).read(request, account, stages, early?.bytes)
      accounting.noteQuery(query, isTagged(request, query) ? readTags(request.headers, query) : null)
      const isRight = guessed && samePlanInputs(guess, account)
      const plan = isRight ? guessed : planRequest(query, account, modelRouter)
      const exactEntry = isRight ? entry : await cache.readEntry(plan.exactKey)
      if (plan.refusal) throw plan.refusal
      if (plan.provider) accounting.noteProvider(plan.provider)
      const response = await answer({ request, query, account, accounting, ...plan }, exactEntry)
      tellLimit(admitted, response)
      if (query.alias) response.headers['x-proxy-model'] ??= query.model
      if (accounting.spending?.isTold) await tellRemaining(accounting.spending, response)
      if (query.kind !== 'completion' || !(query.mayBeKept || query.ownFields)) return response
      return await finishAnswer({ query, account, provider: plan.provider }, response, stages)
    } catch (raised) {
      const error = isUnavailable(raised) ? refuse('databaseUnavailable', null, raised) : raised
      if (admitted) admitted.accounting.finishFailed(error)
      else noteRefused(request, keyHash, early, error)
      if (admitted && error instanceof ProxyError) await tellLimits(admitted, error)
      throw error
    }
  }

  /** What is refused of a known key is recorded, if it would count. */
  function noteRefused(request: ProxyRequest, keyHash: string, early: EarlyBody | null, error: unknown): void {
    const account = admission.lastKnown(keyHash)
    if (account && isCounted(request))
      stages.accounting.noteRefused(request, account, early?.query ? named(early.query, account) : null, error)
  }

  async function answer(context: RequestContext, exactEntry: Uint8Array | null): Promise<ProxyResponse> {
    const { request, operation, account, cacheQuery, provider } = context
    try {
      if (account.when_exhausted === 'refuse') await reserveAhead(context, stages)
      const match = cacheQuery && cache.readExact(exactEntry, cacheQuery)
      return (match && operation.serveHit(context, match, stages)) ?? (await answerWithFallbacks(context, stages))
    } catch (error) {
      const isMiss = error instanceof ProxyError && provider && isCounted(request)
      if (isMiss) Object.assign(error.headers, missHeaders(provider.name, 0))
      throw error
    }
  }
}

/** Only what counts against the month is accounted for. A lookup may begin before that has been counted. */
async function admit(request: ProxyRequest, keyHash: string, guessed: RequestPlan | null, stages: Stages) {
  const { admission, accounting, cache, explainer } = stages
  if (!isCounted(request) && !(explainer.costs && isExplained(request))) {
    const account = await admission.authenticate(keyHash, request)
    return { account, entry: null, remaining: null, accounting: NOT_ACCOUNTED }
  }
  const { address } = request
  const { exactKey, cacheQuery } = guessed ?? NO_PLAN
  const onNone = () => cacheQuery && cache.beginFinding(cacheQuery)
  const { account, entry, remaining, leave } = await admission.admit({ keyHash, address, exactKey, onNone })
  return { account, entry, remaining, accounting: accounting.open(request, account, leave) }
}

const NO_PLAN = { exactKey: null, cacheQuery: null }

/** What is kept of a response is the project's before the client learns of it; the ids in the client's own fields are none of that. */
async function finishAnswer(
  { query, account, provider }: Pick<RequestContext<CompletionQuery>, 'query' | 'account' | 'provider'>,
  response: ProxyResponse,
  { database, conversations }: Stages,
): Promise<ProxyResponse> {
  const { mayBeKept, ownFields } = query
  const bound = mayBeKept ? await bindMade({ query, account, provider }, response, database) : response
  const own = ownFields ? await withOwnFields(ownFields, bound, account) : bound
  return mayBeKept ? conversations.keep({ query, account }, own) : own
}

/** A project may want that nothing is answered any more when its money is spent, not even from the cache. */
async function reserveAhead({ query, provider, accounting }: RequestContext, { catalogue }: Stages): Promise<void> {
  if (!provider || (query.kind !== 'completion' && query.kind !== 'passed')) return
  await accounting.spending?.reserveAhead(query.model, largestCost(sizeOf(query), provider, catalogue))
}

/** A request that is counted in its key's window. */
interface Passed {
  account: Account
  /** Requests that the key may still make in it; null where that was not told. */
  remaining: number | null
}

/** In OpenAI's form. A provider's own limits of requests, which are those of another key, are replaced. */
function tellLimit({ account, remaining }: Passed, { headers }: Pick<ProxyResponse, 'headers'>): void {
  if (remaining === null) return
  headers['x-ratelimit-limit-requests'] = `${account.requests_per_minute}`
  headers['x-ratelimit-remaining-requests'] = `${remaining}`
  // This request, at least, counts for a minute.
  headers['x-ratelimit-reset-requests'] = '60s'
}

async function tellLimits(admitted: Passed & { accounting: RequestAccounting }, error: ProxyError): Promise<void> {
  tellLimit(admitted, error)
  if (admitted.accounting.spending) await tellRemaining(admitted.accounting.spending, error)
}

async function tellRemaining(spending: Spending, { headers }: Pick<ProxyResponse, 'headers'>): Promise<void> {
  const { remainingUsd } = spending
  if (remainingUsd !== null) headers['x-proxy-budget-remaining-usd'] ??= formatUsd(remainingUsd)
  const tokens = await spending.tellTokens()
  if (tokens === null) return
  headers['x-ratelimit-limit-tokens'] = `${tokens.limit}`
  headers['x-ratelimit-remaining-tokens'] = `${tokens.remaining}`
  headers['x-ratelimit-reset-tokens'] = '60s'
}

function named(query: CompletionQuery, account: Account): CompletionQuery {
  return account.aliases ? resolveEarly(query, account) : query
}

/** Asked first, so that a request without tags reads none. */
function isTagged({ headers }: ProxyRequest, { body }: Query): boolean {
  return body.metadata !== undefined || headers.has('x-proxy-tags')
}

/** Whether the request counts against the month, and is recorded. Reading what a provider keeps, and questions, are free. */
function isCounted({ target, method }: Pick<ProxyRequest, 'target' | 'method'>): boolean {
  if (target.kind === 'kept') return target.id === null && method === 'POST'
  return target.kind === 'endpoint' || target.kind === 'operation'
}

function isExplained({ target }: ProxyRequest): boolean {
  return target.kind === 'cache' && target.question === 'explain'
}

/** For requests that are free: nothing about them is recorded. */
export const NOT_ACCOUNTED: RequestAccounting = {
  noteQuery() {},
  noteProvider() {},
  noteMatch() {},
  noteLookup() {},
  noteFailure() {},
  spending: null,
  isReadToEnd: false,
  noteAsked() {},
  noteAnswered() {},
  noteReason() {},
  followed: 'process',
  noteChunk() {},
  noteHeaders() {},
  noteJudge() {},
  noteSemanticMatch() {},
  noteBody() {},
  noteKept() {},
  finish() {},
  finishFailed() {},
}
