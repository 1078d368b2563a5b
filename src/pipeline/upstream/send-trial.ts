/** Sends a trial to a model whose circuit is open, beside the request that a fallback answers meanwhile. */
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import type { CompletionQuery } from '../request/query.ts'
import { executeOperation } from './share-call.ts'

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
