/** Fallbacks: when nothing of the wanted model's response could be had, the same request with another model, as if that had been asked for. */

import { NO_USAGE } from '../catalogue/cost.ts'
import type { CallFailure } from '../coalescing/shared-call.ts'
import { ClientGone, ProxyError } from '../errors.ts'
import { isPassing, UpstreamFailure } from '../providers/upstream-failure.ts'
import { askUpstream } from './ask-upstream.ts'
import type { ProxyResponse } from './exchange.ts'
import { followCall } from './follow-call.ts'
import { withModel } from './parse-request.ts'
import { planRequest } from './plan-request.ts'
import type { RequestContext } from './request-context.ts'
import { serveHit } from './serve-hit.ts'
import { shareCall } from './share-call.ts'
import type { Stages } from './stages.ts'

const STEPS = { serveHit, follow: followCall, ask: askUpstream }

/** The response of the wanted model or of the first fallback that gives one; where none does, the wanted model's own failure. */
export async function answerWithFallbacks(context: RequestContext, stages: Stages): Promise<ProxyResponse> {
  const wanted = await shareCall(context, STEPS, stages)
  if ('response' in wanted) return wanted.response
  if (isPassingFailure(wanted.failure)) {
    for (const model of fallbacksOf(context)) {
      const substitute = standIn(context, model, stages)
      const attempt = substitute && (await shareCall(substitute, STEPS, stages))
      if (attempt && 'response' in attempt) return attempt.response
      // Whoever left while a fallback was asked has cost what that one costs.
      if (attempt?.failure instanceof ClientGone) throw attempt.failure
    }
  }
  return tellFailure(wanted.failure, context)
}

/** Whether the failure is a fallback's business: one that may be gone a moment later. */
function isPassingFailure(failure: CallFailure): boolean {
  return failure instanceof Error ? failure instanceof UpstreamFailure : isPassing(failure.status)
}

/** Embeddings of another model would be of no use. Writing a body anew would round a number that JavaScript cannot hold. */
function fallbacksOf({ query, account }: RequestContext): string[] {
  if (account.fallbacks.length === 0 || query.endpoint === 'embeddings' || query.hasInexactNumber) return []
  return account.fallbacks.filter(model => model !== query.model)
}

/** As the project has chosen it, whatever its clients may ask for. Under its own route and its own names in the cache: a fallback's response is never kept as the wanted model's. */
function standIn(context: RequestContext, model: string, { modelRouter }: Stages): RequestContext | null {
  const query = withModel(context.query, model)
  const { route: provider, cacheQuery } = planRequest(query, { ...context.account, allowed_models: null }, modelRouter)
  if (provider instanceof ProxyError || !cacheQuery) return null
  context.accounting.noteProvider(provider)
  return { ...context, query, provider, cacheQuery }
}

/** An upstream's own error keeps its status, body and Retry-After, and does not count; all else is thrown. */
export function tellFailure(
  failure: CallFailure,
  { accounting, provider }: Pick<RequestContext, 'accounting' | 'provider'>,
): ProxyResponse {
  accounting.noteProvider(provider)
  if (failure instanceof ProxyError || failure instanceof ClientGone) throw failure
  accounting.noteHeaders()
  accounting.finish({
    status: failure.status,
    counts: false,
    cacheResult: 'MISS',
    provider: provider.name,
    pricedAs: null,
    usage: NO_USAGE,
  })
  return { ...failure, headers: { ...failure.headers } }
}
