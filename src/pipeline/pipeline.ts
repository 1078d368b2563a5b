/** The life of a request, top to bottom: parse, plan, admit, hit or shared call, respond, account. */
import { hashBearerKey } from '../admission/api-key.ts'
import { ProxyError } from '../errors.ts'
import { answerEmbeddings } from './embeddings/answer-embeddings.ts'
import type { ProxyRequest, ProxyResponse } from './exchange.ts'
import { answerWithFallbacks } from './fallbacks.ts'
import { planRequest, samePlanInputs } from './plan-request.ts'
import { createRequestReader } from './read-request.ts'
import type { RequestContext } from './request-context.ts'
import { missHeaders } from './response-headers.ts'
import { serveHit } from './serve-hit.ts'
import type { Stages } from './stages.ts'

export type Pipeline = (request: ProxyRequest) => Promise<ProxyResponse>

export function createPipeline(stages: Stages): Pipeline {
  const { admission, modelRouter, cache } = stages
  const reader = createRequestReader(admission, stages.largeBodies)

  return async request => {
    const keyHash = hashBearerKey(request.authorization)
    const early = await reader.readEarly(request, keyHash)

    // A guess at the account, never a verdict. It saves reading the exact entry in a round trip of its own.
    const guess = admission.lastKnown(keyHash)
    const guessed = early?.query && guess && planRequest(early.query, guess, modelRouter)
    const { account, entry, leave } = await admission.admit(keyHash, request.address, guessed?.exactKey ?? null)

    const accounting = stages.accounting.open(request, account, leave)
    try {
      const query = early?.query ?? (await reader.readLate(request, early, account))
      accounting.noteQuery(query)
      const isRight = guessed && samePlanInputs(guess, account)
      const plan = isRight ? guessed : planRequest(query, account, modelRouter)
      const exactEntry = isRight ? entry : await cache.readEntry(plan.exactKey)
      if (plan.refusal) throw plan.refusal
      const { provider, cacheQuery } = plan
      accounting.noteProvider(provider)
      return await answer({ request, query, account, provider, cacheQuery, accounting }, exactEntry)
    } catch (error) {
      accounting.finishFailed(error)
      throw error
    }
  }

  async function answer(context: RequestContext, exactEntry: Uint8Array | null): Promise<ProxyResponse> {
    const { query, cacheQuery, provider } = context
    try {
      if (query.embeddings) return await answerEmbeddings(context, query.embeddings, stages)
      const match = cache.readExact(exactEntry, cacheQuery)
      if (!match) return await answerWithFallbacks(context, stages)
      reader.keep(query)
      return serveHit(context, match)
    } catch (error) {
      if (error instanceof ProxyError) Object.assign(error.headers, missHeaders(provider.name, 0))
      throw error
    }
  }
}
