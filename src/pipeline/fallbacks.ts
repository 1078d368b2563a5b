/**
 * Fallbacks: if the wanted model gave no part of a response, the same request goes to another model, as if the client had asked for it.
 */

import { ClientGone, ProxyError } from '../errors/errors.ts'
import { unnarrowed } from '../providers/model-router.ts'
import { isTemporary, isWorthFallback, UpstreamFailure } from '../providers/upstream-failure.ts'
import type { CallFailure } from './coalescing/shared-call.ts'
import { forModel } from './for-model.ts'
import { planRequest } from './plan-request.ts'
import type { CompletionQuery } from './query.ts'
import type { ProxyResponse } from './request.ts'
import type { Attempt, RequestContext, Stages } from './request-context.ts'
import { callUpstream } from './share-call.ts'

/** Returns the response of the wanted model or of the first fallback that gives one. If none does, returns the wanted model's failure. */
export async function answerWithFallbacks(context: RequestContext, stages: Stages): Promise<ProxyResponse> {
  const wanted = await attempt(context, stages)
  if ('response' in wanted) return wanted.response
  if (isTemporaryFailure(wanted.failure) && hasFallbacks(context)) {
    context.recorder.recordFailure(wanted.failure)
    for (const model of fallbacksOf(context)) {
      const substitute = await substituteFor(context, model, stages)
      const given = substitute && (await attempt(substitute, stages))
      if (given && 'response' in given) return nameAnswering(given.response, model)
      // The client left while this fallback was asked, so the request ends with the fallback's cost.
      if (given?.failure instanceof ClientGone) throw given.failure
      if (given) context.recorder.recordFailure(given.failure)
    }
  }
  return reportFailure(wanted.failure, context)
}

/** Not every body names it. */
function nameAnswering(response: ProxyResponse, model: string): ProxyResponse {
  response.headers['x-proxy-model'] = model
  return response
}

async function attempt(context: RequestContext, stages: Stages): Promise<Attempt> {
  const given = await callUpstream(context, stages)
  if ('failure' in given) context.request.trace?.failCall(given.failure)
  return given
}

/** Whether a fallback may help: only failures that may be over a moment later. */
function isTemporaryFailure(failure: CallFailure): boolean {
  if (failure instanceof Error) return failure instanceof UpstreamFailure && isWorthFallback(failure)
  return isTemporary(failure.upstreamStatus ?? failure.status)
}

/** Another model's vectors are useless, and what is passed on is passed on as it is. */
function hasFallbacks(context: RequestContext): context is RequestContext<CompletionQuery> {
  const { query } = context
  return query.kind === 'completion' && query.endpoint !== 'embeddings'
}

/** Those of the alias, if it has some, else the project's. */
function fallbacksOf({ query, account }: RequestContext<CompletionQuery>): string[] {
  const { model, alias } = query
  const fallbacks = alias && alias.fallbacks.length > 0 ? alias.fallbacks : account.fallbacks
  return fallbacks.filter(fallback => fallback !== model)
}

/**
 * The project chose the fallback, so the models its clients may name do not restrict it. Route and cache names are the fallback's own:
 * its response is never stored as the wanted model's.
 */
async function substituteFor(
  context: RequestContext<CompletionQuery>,
  model: string,
  stages: Stages,
): Promise<RequestContext | null> {
  const { request, account: own } = context
  const renaming = { account: own, body: request.body, largeBodies: stages.largeBodies }
  const query = await forModel(context.query, model, renaming)
  await stages.modelRouter.learnNames(own, model)
  const plan = planRequest(query, unnarrowed(own), stages.modelRouter)
  if (plan.refusal) return null
  if (plan.provider) context.recorder.setProvider(plan.provider, model)
  return { ...context, ...plan, query }
}

/** An upstream's error keeps its status, body and Retry-After, and does not count; any other failure is thrown. */
function reportFailure(failure: CallFailure, { recorder, provider }: RequestContext): ProxyResponse {
  if (provider) recorder.setProvider(provider)
  if (failure instanceof ProxyError || failure instanceof ClientGone) throw failure
  recorder.recordHeadersReady()
  recorder.finishFailed(failure)
  const { status, headers, body } = failure
  return { status, headers: { ...headers }, body }
}
