/** The life of a request, top to bottom: parse, plan, admit, hit or shared call, respond, account. */
import { hashBearerKey } from '../admission/api-key.ts'
import { irrelevantTo } from '../cache/exact-key.ts'
import { ProxyError } from '../errors.ts'
import { decodeUtf8 } from '../json/decode-utf8.ts'
import { isLargeBody } from '../large-bodies/read-large-body.ts'
import type { Account } from '../postgres/admit.ts'
import type { RequestAccounting } from './accounting.ts'
import { answerEmbeddings } from './embeddings/answer-embeddings.ts'
import type { ProxyRequest, ProxyResponse } from './exchange.ts'
import { answerWithFallbacks } from './fallbacks.ts'
import { parseBody, parseLargeRequest, parseRequest, type RequestQuery, withHeaders } from './parse-request.ts'
import { createParsedBodies } from './parsed-bodies.ts'
import { planRequest, type RequestPlan, samePlanInputs } from './plan-request.ts'
import type { RequestContext } from './request-context.ts'
import { missHeaders } from './response-headers.ts'
import { serveHit } from './serve-hit.ts'
import type { Stages } from './stages.ts'

export type Pipeline = (request: ProxyRequest) => Promise<ProxyResponse>

export function createPipeline(stages: Stages): Pipeline {
  const { admission, modelRouter, cache, largeBodies } = stages
  const parsedBodies = createParsedBodies()

  return async request => {
    const keyHash = hashBearerKey(request.authorization)
    const small = request.body.isSmall ? await readEarly(request, keyHash) : null
    const early = small?.query ?? null

    // A guess at the account, never a verdict. It saves reading the exact entry in a round trip of its own.
    const guess = admission.lastKnown(keyHash)
    const guessed = early && guess && planRequest(early, guess, modelRouter)
    const { account, entry, leave } = await admission.admit(keyHash, request.address, guessed?.exactKey ?? null)

    const accounting = stages.accounting.open(request, account, leave)
    try {
      const query = early ?? (await readLate(request, small?.bytes ?? (await request.body.readBytes()), account))
      accounting.noteQuery(query)
      const isRight = guessed && samePlanInputs(guess, account)
      const plan = isRight ? guessed : planRequest(query, account, modelRouter)
      const exactEntry = isRight ? entry : await cache.readEntry(plan.exactKey)
      return await answer({ request, query, account, plan, accounting }, exactEntry)
    } catch (error) {
      accounting.finishFailed(error)
      throw error
    }
  }

  /** An unauthorized client gets its 401 or 403 before any complaint about the body. */
  async function readEarly(request: ProxyRequest, keyHash: string): Promise<EarlyBody> {
    try {
      const bytes = await request.body.readBytes()
      return { bytes, query: isLargeBody(bytes) ? null : parseSmall(request, decodeUtf8(bytes)) }
    } catch (error) {
      await admission.authenticate(keyHash, request)
      throw error
    }
  }

  function parseSmall({ endpoint, headers }: ProxyRequest, text: string): RequestQuery {
    return withHeaders(parsedBodies.find(endpoint, text) ?? parseBody(endpoint, text), headers)
  }

  /** A body that was not announced as small, or takes too long to parse, is read only after the request is admitted. */
  async function readLate(request: ProxyRequest, bytes: Uint8Array, account: Account): Promise<RequestQuery> {
    if (!isLargeBody(bytes)) return parseRequest(request, decodeUtf8(bytes))
    const options = { irrelevant: irrelevantTo(request.endpoint), owner: account.project_id }
    return parseLargeRequest(request, await largeBodies.read(bytes, options))
  }

  async function answer(planned: Planned, exactEntry: Uint8Array | null): Promise<ProxyResponse> {
    const { route, cacheQuery } = planned.plan
    if (route instanceof ProxyError) throw route
    if (!cacheQuery) throw new Error('A request with a route has a cache query')
    planned.accounting.noteProvider(route)
    const context: RequestContext = { ...planned, provider: route, cacheQuery }
    try {
      const { embeddings } = planned.query
      if (embeddings) return await answerEmbeddings(context, embeddings, stages)
      const match = cache.readExact(exactEntry, cacheQuery)
      if (!match) return await answerWithFallbacks(context, stages)
      parsedBodies.keep(planned.query)
      return serveHit(context, match)
    } catch (error) {
      if (error instanceof ProxyError) Object.assign(error.headers, missHeaders(route.name, 0))
      throw error
    }
  }
}

interface EarlyBody {
  bytes: Uint8Array
  /** Null when a worker has to parse the body, after the request is admitted. */
  query: RequestQuery | null
}

interface Planned {
  request: ProxyRequest
  query: RequestQuery
  account: Account
  plan: RequestPlan
  accounting: RequestAccounting
}
