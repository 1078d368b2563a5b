/** Answers an embeddings request from its inputs' vectors, cached and fetched: all of them in order, or none. */

import { scopedHash } from '../../cache/cache-scope.ts'
import { createVectorNames } from '../../cache/vectors/pack-vector.ts'
import { ClientGone } from '../../errors/errors.ts'
import { nowMs } from '../../event-loop/clock.ts'
import { createYieldTurn, type YieldTurn } from '../../event-loop/turns.ts'
import { addUsage, NO_USAGE } from '../../formats/token-usage.ts'
import { answerHeaders } from '../../providers/forwarded-headers.ts'
import { nameRoute } from '../../providers/model-router.ts'
import { priceOf } from '../complete-call.ts'
import type { CompletionQuery } from '../query.ts'
import { readCompletion } from '../read-request.ts'
import type { Attempt, LoneOperation, RoutedContext, Stages } from '../request-context.ts'
import { JSON_TYPE, missHeaders, partsHitHeaders } from '../response-headers.ts'
import type { EstimateCall, SpentUsage } from '../spending/spent-usage.ts'
import { reasonOf } from '../spending/upstream-calls.ts'
import { createInputCounter } from './count-inputs.ts'
import type { NamedInput } from './fetch-batches.ts'
import { type Gathered, gatherVectors } from './gather-vectors.ts'
import type { EmbeddingsQuery } from './read-query.ts'
import { writeEmbeddingsAnswer } from './write-answer.ts'

export const embeddings: LoneOperation = {
  sharesCalls: false,
  read: readCompletion,
  serveHit: () => null,
  ask,
  price: priceOf,
}

type EmbeddingsContext = RoutedContext<CompletionQuery>

/**
 * Throws a ProxyError when limits are exceeded or the upstream cannot be reached or understood, and ClientGone when the client has left.
 */
async function ask(context: EmbeddingsContext, stages: Stages): Promise<Attempt> {
  const { request, query, account, provider, recorder } = context
  const { embeddings: asked } = query
  if (!asked) throw new Error('This request is answered as a whole')
  const yieldTurn = createYieldTurn()
  const inputs = await nameInputs(context, asked, yieldTurn)
  const counter = createInputCounter(query.model, account.project_id, yieldTurn)
  const underWay = new Set<() => SpentUsage>()
  const gathered = await gatherVectors({ context, inputs, counter, underWay, yieldTurn, stages })
  if (gathered.end) return endEarly(context, gathered, underWay, stages)

  const { known, fetched, batches, usage } = gathered
  const vectors = inputs.flatMap(({ name }) => known.get(name) ?? fetched.get(name) ?? [])
  // In place of the responses that they were read from.
  request.held.set(vectors.reduce((sum, { packed }) => sum + packed.length, 0))
  const body =
    findVerbatim(asked, gathered) ??
    writeEmbeddingsAnswer({
      packed: vectors.map(({ packed }) => packed),
      form: asked.form,
      model: batches[0]?.answer.model ?? vectors[0]?.answeredAs ?? query.model,
      promptTokens: vectors.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    })
  const savedPromptTokens = inputs.reduce((sum, { name }) => sum + (known.get(name)?.promptTokens ?? 0), 0)
  const isHit = batches.length === 0
  const headers = isHit
    ? partsHitHeaders(provider.name, oldestOf(known), savedPromptTokens)
    : {
        ...batches[0]?.headers,
        ...missHeaders(provider.name, priceOf(context, usage, stages)),
        'x-proxy-tokens-saved': `${savedPromptTokens}`,
      }
  recorder.recordHeadersReady()
  const spent = isHit ? { ...NO_USAGE, promptTokens: savedPromptTokens } : { ...usage, savedPromptTokens }
  recorder.finish({ status: 200, counts: true, cacheResult: isHit ? 'HIT' : 'MISS', usage: spent })
  return { response: { status: 200, headers: { ...headers, ...JSON_TYPE }, body } }
}

async function nameInputs(
  { query, provider, control }: EmbeddingsContext,
  { dimensions, otherFields, inputs }: EmbeddingsQuery,
  yieldTurn: YieldTurn,
): Promise<NamedInput[]> {
  const { model } = query
  const { namespace, sharingScope } = control
  const headers = answerHeaders(query.headers, provider.kind)
  const nameOf = createVectorNames({ namespace, route: nameRoute(provider), headers, model, dimensions, otherFields })
  const named: NamedInput[] = []
  for (const input of inputs) {
    await yieldTurn()
    named.push({ name: scopedHash(sharingScope, nameOf(input)), input })
  }
  return named
}

/** The batches fetched so far are kept and accounted for, and what others may have cost; the request does not count. */
function endEarly(
  context: EmbeddingsContext,
  { end, usage }: Gathered,
  underWay: ReadonlySet<EstimateCall>,
  stages: Stages,
): Attempt {
  const { request, recorder } = context
  const failure = end && 'refusal' in end ? end.refusal : request.signal.aborted ? new ClientGone() : end?.failure
  const known = usage === NO_USAGE ? usage : { ...usage, reportedCostUsd: priceOf(context, usage, stages) }
  recorder.finishFailed(failure, {
    usage: [...underWay].map(estimate => estimate(reasonOf(failure))).reduce(addEstimated, known),
  })
  if (end && 'refusal' in end) return { failure: end.refusal }
  throw failure
}

function addEstimated(sum: SpentUsage, { isUnpriced = false, estimate, ...usage }: SpentUsage): SpentUsage {
  return {
    ...addUsage(sum, usage),
    isUnpriced: isUnpriced || sum.isUnpriced === true,
    ...(estimate && {
      estimate: {
        reason: estimate.reason,
        doubtfulUsd: estimate.doubtfulUsd + (sum.estimate?.doubtfulUsd ?? 0),
        doubtfulTokens: estimate.doubtfulTokens + (sum.estimate?.doubtfulTokens ?? 0),
      },
    }),
  }
}

/** The upstream's own bytes, if they answer exactly this request in the encoding it asks for; else null. */
function findVerbatim({ form }: EmbeddingsQuery, { batches, known }: Gathered): Uint8Array | null {
  const [batch] = batches
  if (!batch?.isVerbatim || batches.length > 1 || known.size > 0) return null
  return batch.answer.form === form && batch.answer.isInOrder ? batch.bytes : null
}

function oldestOf(known: Gathered['known']): number {
  return Array.from(known.values()).reduce((least, { createdAtMs }) => Math.min(least, createdAtMs), nowMs())
}
