/**
 * Fallbacks: if the wanted model gave no part of a response, the same request goes to another model, as if the client had asked for it.
 */

import type { CallFailure } from '../coalescing/shared-call.ts'
import { ClientGone, ProxyError } from '../errors.ts'
import { renameInLong } from '../providers/rename-model.ts'
import { isPassing, UpstreamFailure } from '../providers/upstream-failure.ts'
import { parseBytes, withModel } from './parse-request.ts'
import { planRequest } from './plan-request.ts'
import type { CompletionQuery } from './query.ts'
import type { ProxyResponse } from './request.ts'
import type { Attempt, RequestContext, Stages } from './request-context.ts'
import { callUpstream } from './share-call.ts'

/** Returns the response of the wanted model or of the first fallback that gives one. If none does, returns the wanted model's failure. */
export async function answerWithFallbacks(context: RequestContext, stages: Stages): Promise<ProxyResponse> {
  const wanted = await attempt(context, stages)
  if ('response' in wanted) return wanted.response
  if (isPassingFailure(wanted.failure) && hasFallbacks(context)) {
    context.accounting.noteFailure(wanted.failure)
    for (const model of fallbacksOf(context)) {
      const substitute = await substituteFor(context, model, stages)
      const given = substitute && (await attempt(substitute, stages))
      if (given && 'response' in given) return given.response
      // The client left while this fallback was asked, so the request ends with the fallback's cost.
      if (given?.failure instanceof ClientGone) throw given.failure
      if (given) context.accounting.noteFailure(given.failure)
    }
  }
  return reportFailure(wanted.failure, context)
}

async function attempt(context: RequestContext, stages: Stages): Promise<Attempt> {
  const given = await callUpstream(context, stages)
  if ('failure' in given) context.request.trace?.failCall(given.failure)
  return given
}

/** Whether a fallback may help: only failures that may have passed a moment later. */
function isPassingFailure(failure: CallFailure): boolean {
  return failure instanceof Error ? failure instanceof UpstreamFailure : isPassing(failure.status)
}

/** Another model's vectors are useless, and what is passed on is passed on as it is. */
function hasFallbacks(context: RequestContext): context is RequestContext<CompletionQuery> {
  const { query } = context
  return query.kind === 'completion' && query.endpoint !== 'embeddings'
}

/** Returns none for numbers that JavaScript would round when it writes the body anew. */
function fallbacksOf({ query, account }: RequestContext<CompletionQuery>): string[] {
  return query.hasInexactNumber ? [] : account.fallbacks.filter(model => model !== query.model)
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
  const query = await queryFor(context, model, stages)
  const account = { ...context.account, allowed_models: null }
  const plan = planRequest(query, account, stages.modelRouter)
  if (plan.refusal) return null
  if (plan.provider) context.accounting.noteProvider(plan.provider, model)
  return { ...context, ...plan, query }
}

/** Returns the same request for another model. A large body is rewritten and read by a worker. */
async function queryFor(
  { request, query, account }: RequestContext<CompletionQuery>,
  model: string,
  { largeBodies }: Stages,
): Promise<CompletionQuery> {
  if (!query.bytes) return withModel(query, model)
  const bytes = await renameInLong({ bodyBytes: query.bytes }, model, String(account.project_id))
  const { endpoint, headers } = query
  return parseBytes({ endpoint, headers, body: request.body }, bytes, largeBodies, account.project_id)
}

/** An upstream's error keeps its status, body and Retry-After, and does not count; any other failure is thrown. */
function reportFailure(failure: CallFailure, { accounting, provider }: RequestContext): ProxyResponse {
  if (provider) accounting.noteProvider(provider)
  if (failure instanceof ProxyError || failure instanceof ClientGone) throw failure
  accounting.noteHeaders()
  accounting.finishFailed(failure)
  return { ...failure, headers: { ...failure.headers } }
}
