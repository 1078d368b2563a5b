/** Sends a request to fallback models if the requested model failed without sending any part of a response. */
import { ClientDisconnected, ProxyError } from '../../errors/errors.ts'
import { canFallBackAfter } from '../../providers/classify-rejection.ts'
import { withoutModelAllowlist } from '../../providers/model-router.ts'
import { UpstreamFailure } from '../../providers/upstream-failure.ts'
import type { CallFailure } from '../coalescing/shared-call.ts'
import { changeControl, planRequest } from '../context/plan-request.ts'
import type { AttemptResult, PipelineServices, RequestContext } from '../context/request-context.ts'
import { changeModel } from '../request/change-model.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { ProxyResponse } from '../request/request.ts'
import { executeOperation } from './share-call.ts'

/** Returns the response of the requested model or of the first fallback that succeeds. If none does, reports the requested model's failure. */
export async function sendWithFallbacks(context: RequestContext, services: PipelineServices): Promise<ProxyResponse> {
  const fallbacks = hasFallbacks(context) ? fallbacksOf(context) : []
  const primary = await tryCall({ ...context, hasFallback: fallbacks.length > 0 }, services)
  if ('response' in primary) return primary.response
  if (canFallBackAfter(primary.failure) && hasFallbacks(context)) {
    context.recorder.recordFailure(primary.failure)
    for (const [index, model] of fallbacks.entries()) {
      const hasFallback = index + 1 < fallbacks.length
      const fallbackContext = await createFallbackContext(context, model, services)
      const result = fallbackContext && (await tryCall({ ...fallbackContext, hasFallback }, services))
      if (result && 'response' in result) return setModelHeader(result.response, model)
      // The client disconnected during this fallback's call, so the request ends with the fallback's cost.
      if (result?.failure instanceof ClientDisconnected) throw result.failure
      if (result) context.recorder.recordFailure(result.failure)
    }
  }
  return reportFailure(primary.failure, context)
}

/** Not every response body names the model. */
function setModelHeader(response: ProxyResponse, model: string): ProxyResponse {
  response.headers['x-proxy-model'] = model
  return response
}

async function tryCall(context: RequestContext, services: PipelineServices): Promise<AttemptResult> {
  const result = await executeOperation(context, services)
  if (!('failure' in result)) return result
  const { failure } = result
  context.request.trace?.failCall(failure)
  if (hasFallbacks(context) && failure instanceof UpstreamFailure && failure.isTrialDue) {
    // All followers of a call get its failure, and one trial is enough.
    failure.isTrialDue = false
    void sendTrial(context, services)
  }
  return result
}

/** Embeddings have no fallbacks because vectors of another model are useless. Pass-through requests are forwarded unchanged. */
function hasFallbacks(context: RequestContext): context is RequestContext<CompletionQuery> {
  const { query } = context
  return query.kind === 'completion' && query.endpoint !== 'embeddings'
}

/** Returns the fallbacks of the alias, if it has any, else the project's. */
function fallbacksOf({ query, resolvedKey }: RequestContext<CompletionQuery>): string[] {
  const { model, alias } = query
  const fallbacks = alias && alias.fallbacks.length > 0 ? alias.fallbacks : resolvedKey.fallbacks
  return fallbacks.filter(fallback => fallback !== model)
}

/**
 * Returns null if no provider serves the fallback model. The project's model allowlist does not apply, because the project chose the fallback.
 * The route and the cache query are the fallback's, so its response is never stored under the requested model. The cache control is the
 * request's, which the hook or a newer version may have restricted.
 */
async function createFallbackContext(
  context: RequestContext<CompletionQuery>,
  model: string,
  services: PipelineServices,
): Promise<RequestContext | null> {
  const { request, resolvedKey } = context
  const options = { resolvedKey, body: request.body, largeBodies: services.largeBodies }
  const query = await changeModel(context.query, model, options)
  await services.modelRouter.loadModelNames(resolvedKey, model)
  const plan = planRequest(query, context.operation, withoutModelAllowlist(resolvedKey), services.modelRouter)
  if (plan.error) return null
  if (plan.provider) context.recorder.setProvider(plan.provider, model)
  return { ...context, ...changeControl(plan, context.control ?? {}), query }
}

/** Returns an upstream's error with its status, body and Retry-After, and does not count it. Throws any other failure. */
function reportFailure(failure: CallFailure, { recorder, provider }: RequestContext): ProxyResponse {
  if (provider) recorder.setProvider(provider)
  if (failure instanceof ProxyError || failure instanceof ClientDisconnected) throw failure
  recorder.recordHeadersSent()
  recorder.finishFailed(failure)
  const { status, headers, body } = failure
  return { status, headers: { ...headers }, body }
}

/**
 * Sends the request once more, to the model of `context`. The response only shows that the model responds: a stream is cancelled once it has
 * begun, and nothing is stored. A trial that costs something has a usage record of its own; it does not count against the quota. Never throws.
 */
export async function sendTrial(context: RequestContext<CompletionQuery>, services: PipelineServices): Promise<void> {
  const { resolvedKey, query, provider } = context
  const responseMemory = services.sharedCalls.memory.reserve({})
  const request = {
    ...context.request,
    ...{ id: crypto.randomUUID(), arrivedAtMs: performance.now(), signal: new AbortController().signal },
    ...{ trace: undefined, isRecorded: false, isTrial: true, responseMemory },
  }
  const recorder = services.accounting.open(request, resolvedKey, () => {})
  recorder.setQuery(query)
  if (provider) recorder.setProvider(provider)
  const trial = { ...context, request, recorder, cacheQuery: null, check: null, hasFallback: false, isTrial: true }
  try {
    const result = await executeOperation(trial, services)
    if ('failure' in result) return recorder.finishFailed(result.failure)
    const { body } = result.response
    if (body instanceof ReadableStream) await body.cancel()
  } catch (error) {
    recorder.finishFailed(error)
  } finally {
    responseMemory.release()
  }
}
