/** The life of a pass-through request, top to bottom: admit, parse, plan, hit or shared call, account. */
import { hashBearerKey } from '../../admission/api-key.ts'
import { startAlone } from '../../coalescing/shared-calls.ts'
import { ProxyError } from '../../errors.ts'
import { whenAborted } from '../../event-loop/when-aborted.ts'
import type { Operation } from '../../providers/operations.ts'
import type { Attempt, ProxyRequest, ProxyResponse } from '../exchange.ts'
import { reportFailure } from '../fallbacks.ts'
import type { RequestContext } from '../request-context.ts'
import { missHeaders } from '../response-headers.ts'
import { shareCall } from '../share-call.ts'
import type { Stages } from '../stages.ts'
import { askPassed } from './ask-passed.ts'
import { type PassedQuery, parsePassed } from './parse-passed.ts'
import type { PassedContext } from './passed-context.ts'
import { planPassed } from './plan-passed.ts'
import { serveStored } from './serve-stored.ts'

export type PassThrough = (request: ProxyRequest, operation: Operation) => Promise<ProxyResponse>

/**
 * Admits before it reads the body, which is usually large: an unauthorized client gets its 401 or 403 before any complaint about the
 * body.
 */
export function createPassThrough(stages: Stages): PassThrough {
  const { admission, modelRouter, largeBodies, cache, catalogue } = stages

  return async (request, operation) => {
    const { account, leave } = await admission.admit(hashBearerKey(request.authorization), request.address, null)
    const accounting = stages.accounting.open(request, account, leave)
    try {
      const query = await parsePassed(request, operation, largeBodies)
      accounting.noteQuery(query)
      const { provider, cacheQuery } = planPassed(query, account, modelRouter)
      accounting.noteProvider(provider)
      return await answer({ request, query, account, provider, cacheQuery, accounting })
    } catch (error) {
      accounting.finishFailed(error)
      throw error
    }
  }

  async function answer(context: PassedContext): Promise<ProxyResponse> {
    const { cacheQuery } = context
    try {
      const sharing = cacheQuery && { ...context, cacheQuery }
      const hit = sharing && (await findExact(sharing))
      if (hit) return hit
      const attempt = await (sharing ? shareCall(sharing, stages) : askAlone(context))
      return 'response' in attempt ? attempt.response : reportFailure(attempt.failure, context)
    } catch (error) {
      if (error instanceof ProxyError) Object.assign(error.headers, missHeaders(context.provider.name, 0))
      throw error
    }
  }

  async function findExact(context: RequestContext<PassedQuery>): Promise<ProxyResponse | null> {
    const { cacheQuery } = context
    if (!cacheQuery.control.lookup) return null
    const exact = cache.readExact(await cache.readEntry(cacheQuery.exactKey), cacheQuery)
    return exact && serveStored(context, exact, catalogue)
  }

  /** A response that is not stored is not shared either: each request asks the provider. */
  function askAlone(context: PassedContext): Promise<Attempt> {
    const { call, subscriber } = startAlone(false)
    whenAborted(context.request.signal, subscriber.leave)
    return askPassed({ ...context, call, subscriber }, stages)
  }
}
