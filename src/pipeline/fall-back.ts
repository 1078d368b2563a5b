/** Fallbacks: when nothing of the wanted model's answer could be had, the same request with another model, as if that had been asked for. */

import { canonicalizeBody } from '../cache/canonical.ts'
import { ProxyError } from '../errors.ts'
import { hasInexactNumber } from '../json/inexact-number.ts'
import type { Routes } from '../providers/routes.ts'
import { isPassing, UpstreamFailure } from '../providers/upstream-failure.ts'
import { type Arrived, toQuestion } from './arrived.ts'
import type { ProxyResponse } from './exchange.ts'
import type { FailedAnswer } from './flight.ts'

/** Thrown in place of a failed answer that is left to a fallback: nothing of it was sent, and nobody has accounted for it. */
export class GaveWay extends Error {
  readonly failed: FailedAnswer

  constructor(failed: FailedAnswer) {
    super('The answer is left to a fallback')
    this.name = 'GaveWay'
    this.failed = failed
  }
}

/** Whether the wanted model's failure is a fallback's business: one that may be gone a moment later. */
function isPassingFailure(failed: FailedAnswer): boolean {
  return failed instanceof Error ? failed instanceof UpstreamFailure : isPassing(failed.status)
}

/** Under its own route and its own names in the cache: a fallback's answer is never kept as the wanted model's. */
function standIn(arrived: Arrived, model: string, routes: Routes): Arrived | null {
  const { request, wanted, admitted } = arrived
  const provider = routes.resolve(model, admitted.account)
  if (provider instanceof ProxyError) return null
  const body = { ...wanted.parsed.body, model }
  const parsed = { ...wanted.parsed, body, model, text: JSON.stringify(body) }
  const substitute = { ...wanted, parsed, canonicalBody: canonicalizeBody(body) }
  return {
    ...arrived,
    wanted: substitute,
    // The entry that came with admission answers another request.
    admitted: { ...admitted, entry: null },
    asked: toQuestion(request, substitute, admitted.account, provider),
    boarded: null,
    provider,
    givesWay: () => true,
  }
}

export interface FallBackOptions {
  routes: Routes
  /** Throws GaveWay in place of an answer that `arrived` gives way to. */
  answer(arrived: Arrived): Promise<ProxyResponse>
  /** The response to a failure, accounted for; or throws it. */
  tellFailure(failed: FailedAnswer, arrived: Arrived): ProxyResponse
}

/** The answer of the wanted model or of the first fallback that gives one; where none does, the wanted model's own failure. */
export function answerInTurn(arrived: Arrived, options: FallBackOptions): Promise<ProxyResponse> {
  const fallbacks = fallbacksOf(arrived)
  return fallbacks.length === 0 ? options.answer(arrived) : answerOrFallBack(arrived, fallbacks, options)
}

async function answerOrFallBack(
  arrived: Arrived,
  fallbacks: readonly string[],
  options: FallBackOptions,
): Promise<ProxyResponse> {
  const wanted = await attempt({ ...arrived, givesWay: isPassingFailure }, options)
  if ('response' in wanted) return wanted.response
  for (const model of fallbacks) {
    const substitute = standIn(arrived, model, options.routes)
    const outcome = substitute && (await attempt(substitute, options))
    if (outcome && 'response' in outcome) return outcome.response
  }
  return options.tellFailure(wanted.failed, arrived)
}

/** Embeddings of another model would be of no use. Writing a body anew would round a number that JavaScript cannot hold. */
function fallbacksOf({ request, wanted, admitted }: Arrived): string[] {
  const { fallbacks } = admitted.account
  if (fallbacks.length === 0 || request.endpoint === 'embeddings' || hasInexactNumber(wanted.parsed.text)) return []
  return fallbacks.filter(model => model !== wanted.parsed.model)
}

async function attempt(
  arrived: Arrived,
  { answer }: FallBackOptions,
): Promise<{ response: ProxyResponse } | { failed: FailedAnswer }> {
  try {
    return { response: await answer(arrived) }
  } catch (error) {
    if (error instanceof GaveWay) return { failed: error.failed }
    if (error instanceof ProxyError && arrived.givesWay(error)) return { failed: error }
    throw error
  }
}
