/**
 * Fallbacks: if the wanted model gave no part of a response, the same request goes to another model, as if the client had asked for it.
 */

import { ClientDisconnected, ProxyError } from '../../errors/errors.ts'
import { withoutModelAllowlist } from '../../providers/model-router.ts'
import { canFallBack, isTemporaryStatus, UpstreamFailure } from '../../providers/upstream-failure.ts'
import type { CallFailure } from '../coalescing/shared-call.ts'
import { planRequest } from '../context/plan-request.ts'
import type { AttemptResult, PipelineServices, RequestContext } from '../context/request-context.ts'
import { changeModel } from '../request/change-model.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { ProxyResponse } from '../request/request.ts'
import { executeOperation } from './share-call.ts'

/** Returns the response of the wanted model or of the first fallback that gives one. If none does, returns the wanted model's failure. */
export async function sendWithFallbacks(context: RequestContext, stages: PipelineServices): Promise<ProxyResponse> {
  const wanted = await attempt(context, stages)
  if ('response' in wanted) return wanted.response
  if (isTemporaryFailure(wanted.failure) && hasFallbacks(context)) {
    context.recorder.recordFailure(wanted.failure)
    for (const model of fallbacksOf(context)) {
      const substitute = await substituteFor(context, model, stages)
      const given = substitute && (await attempt(substitute, stages))
      if (given && 'response' in given) return nameAnswering(given.response, model)
      // The client left while this fallback was asked, so the request ends with the fallback's cost.
      if (given?.failure instanceof ClientDisconnected) throw given.failure
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

async function attempt(context: RequestContext, stages: PipelineServices): Promise<AttemptResult> {
  const given = await executeOperation(context, stages)
  if ('failure' in given) context.request.trace?.failCall(given.failure)
  return given
}

/** Whether a fallback may help: only failures that may be over a moment later. */
function isTemporaryFailure(failure: CallFailure): boolean {
  if (failure instanceof Error) return failure instanceof UpstreamFailure && canFallBack(failure)
  return isTemporaryStatus(failure.upstreamStatus ?? failure.status)
}

/** Another model's vectors are useless, and what is passed on is passed on as it is. */
function hasFallbacks(context: RequestContext): context is RequestContext<CompletionQuery> {
  const { query } = context
  return query.kind === 'completion' && query.endpoint !== 'embeddings'
}

/** Those of the alias, if it has some, else the project's. */
function fallbacksOf({ query, resolvedKey }: RequestContext<CompletionQuery>): string[] {
  const { model, alias } = query
  const fallbacks = alias && alias.fallbacks.length > 0 ? alias.fallbacks : resolvedKey.fallbacks
  return fallbacks.filter(fallback => fallback !== model)
}

/**
 * The project chose the fallback, so the models its clients may name do not restrict it. Route and cache names are the fallback's own:
 * its response is never stored as the wanted model's.
 */
async function substituteFor(
  context: RequestContext<CompletionQuery>,
  model: string,
  stages: PipelineServices,
): Promise<RequestContext | null> {
  const { request, resolvedKey: own } = context
  const renaming = { resolvedKey: own, body: request.body, largeBodies: stages.largeBodies }
  const query = await changeModel(context.query, model, renaming)
  await stages.modelRouter.loadModelNames(own, model)
  const plan = planRequest(query, context.operation, withoutModelAllowlist(own), stages.modelRouter)
  if (plan.error) return null
  if (plan.provider) context.recorder.setProvider(plan.provider, model)
  return { ...context, ...plan, query }
}

/** An upstream's error keeps its status, body and Retry-After, and does not count; any other failure is thrown. */
function reportFailure(failure: CallFailure, { recorder, provider }: RequestContext): ProxyResponse {
  if (provider) recorder.setProvider(provider)
  if (failure instanceof ProxyError || failure instanceof ClientDisconnected) throw failure
  recorder.recordHeadersSent()
  recorder.finishFailed(failure)
  const { status, headers, body } = failure
  return { status, headers: { ...headers }, body }
}
