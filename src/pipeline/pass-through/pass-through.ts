/** The life of a request that is passed on, top to bottom: admit, parse, plan, hit or call, account. */
import { hashBearerKey } from '../../admission/api-key.ts'
import { ProxyError, refuse } from '../../errors.ts'
import type { Operation } from '../../providers/operations.ts'
import type { ProxyRequest, ProxyResponse } from '../exchange.ts'
import { missHeaders } from '../response-headers.ts'
import type { Stages } from '../stages.ts'
import { askPassed } from './ask-passed.ts'
import { parsePassed } from './parse-passed.ts'
import type { PassedContext } from './passed-context.ts'
import { planPassed } from './plan-passed.ts'
import { serveStored } from './serve-stored.ts'

export type PassThrough = (request: ProxyRequest, operation: Operation) => Promise<ProxyResponse>

/** Whoever may not pass is told that, rather than what is wrong with the body, which is large more often than not. */
export function createPassThrough(stages: Stages): PassThrough {
  const { admission, routes, largeBodies } = stages

  return async (request, operation) => {
    const { account, leave } = await admission.admit(hashBearerKey(request.authorization), request.address, null)
    const accounting = stages.accounting.open(request, account, leave)
    try {
      const query = await parsePassed(request, operation, largeBodies)
      accounting.noteQuery(query)
      const { provider, cacheQuery } = planPassed(query, account, routes)
      accounting.noteProvider(provider)
      return await answer({ request, query, account, provider, cacheQuery, accounting })
    } catch (error) {
      accounting.finishFailed(error)
      throw error
    }
  }

  async function answer(context: PassedContext): Promise<ProxyResponse> {
    try {
      const hit = await findHit(context)
      if (hit) return hit
      if (context.query.control.onlyIfCached) throw refuse('notCached')
      return await askPassed(context, stages)
    } catch (error) {
      if (error instanceof ProxyError) Object.assign(error.headers, missHeaders(context.provider.name, 0))
      throw error
    }
  }

  async function findHit(context: PassedContext): Promise<ProxyResponse | null> {
    const { cacheQuery } = context
    if (!cacheQuery?.control.lookup) return null
    const { cache } = stages
    const exact = cache.readExact(await cache.readEntry(cacheQuery.exactKey), cacheQuery)
    const match = exact ?? (await cache.find(cacheQuery)).match
    return match && serveStored(context, match)
  }
}
