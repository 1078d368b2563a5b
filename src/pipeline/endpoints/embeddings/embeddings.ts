/** Answers an embeddings request from its inputs' vectors, cached and fetched: all of them in order, or none. */

import { scopedHash } from '../../../cache/cache-scope.ts'
import { createVectorNamer } from '../../../cache/vectors/pack-vector.ts'
import { ClientDisconnected } from '../../../errors/errors.ts'
import { nowMs } from '../../../event-loop/clock.ts'
import { createYielder, type Yielder } from '../../../event-loop/work-scheduler.ts'
import { addUsage, NO_USAGE } from '../../../formats/token-usage.ts'
import { pickCacheKeyHeaders } from '../../../providers/forwarded-headers.ts'
import { routeIdOf } from '../../../providers/model-router.ts'
import { readCompletionRequest } from '../../context/read-request.ts'
import type {
  AttemptResult,
  PipelineServices,
  RoutedContext,
  UnsharedOperation,
} from '../../context/request-context.ts'
import type { EmbeddingsInput } from '../../request/embeddings-query.ts'
import type { CompletionQuery } from '../../request/query.ts'
import { calculateCost } from '../../response/complete-call.ts'
import { createEmbeddingsHitHeaders, createMissHeaders, JSON_HEADERS } from '../../response/response-headers.ts'
import type { CallUsage, EstimateCallUsage } from '../../spending/call-usage.ts'
import { estimateReasonOf } from '../../spending/upstream-calls.ts'
import { createInputTokenCounter } from './count-inputs.ts'
import type { KeyedInput } from './fetch-batches.ts'
import { gatherVectors, type VectorResults } from './gather-vectors.ts'
import { writeEmbeddingsResponse } from './write-response.ts'

export const embeddingsOperation: UnsharedOperation = {
  sharesCalls: false,
  read: readCompletionRequest,
  serveHit: () => null,
  execute: ask,
  price: calculateCost,
}

type EmbeddingsContext = RoutedContext<CompletionQuery>

/**
 * Throws a ProxyError when limits are exceeded or the upstream cannot be reached or understood, and ClientDisconnected when the client has left.
 */
async function ask(context: EmbeddingsContext, stages: PipelineServices): Promise<AttemptResult> {
  const { request, query, resolvedKey, provider, recorder } = context
  const { embeddings: asked } = query
  if (!asked) throw new Error('This request is answered as a whole')
  const yieldTurn = createYielder()
  const inputs = await nameInputs(context, asked, yieldTurn)
  const counter = createInputTokenCounter(query.model, resolvedKey.project_id, yieldTurn)
  const underWay = new Set<() => CallUsage>()
  const gathered = await gatherVectors({ context, inputs, counter, pendingEstimates: underWay, yieldTurn, stages })
  if (gathered.failure) return endEarly(context, gathered, underWay, stages)

  const { cached, fetched, batches, usage } = gathered
  const vectors = inputs.flatMap(({ cacheKey }) => cached.get(cacheKey) ?? fetched.get(cacheKey) ?? [])
  // In place of the responses that they were read from.
  request.responseMemory.set(vectors.reduce((sum, { packed }) => sum + packed.length, 0))
  const body =
    findVerbatim(asked, gathered) ??
    writeEmbeddingsResponse({
      packed: vectors.map(({ packed }) => packed),
      form: asked.form,
      model: batches[0]?.answer.model ?? vectors[0]?.responseModel ?? query.model,
      promptTokens: vectors.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    })
  const savedPromptTokens = inputs.reduce((sum, { cacheKey }) => sum + (cached.get(cacheKey)?.promptTokens ?? 0), 0)
  const isHit = batches.length === 0
  const headers = isHit
    ? createEmbeddingsHitHeaders(provider.name, oldestOf(cached), savedPromptTokens)
    : {
        ...batches[0]?.headers,
        ...createMissHeaders(provider.name, calculateCost(context, usage, stages)),
        'x-proxy-tokens-saved': `${savedPromptTokens}`,
      }
  recorder.recordHeadersSent()
  const spent = isHit ? { ...NO_USAGE, promptTokens: savedPromptTokens } : { ...usage, savedPromptTokens }
  recorder.finish({ status: 200, isCounted: true, cacheResult: isHit ? 'HIT' : 'MISS', usage: spent })
  return { response: { status: 200, headers: { ...headers, ...JSON_HEADERS }, body } }
}

async function nameInputs(
  { query, provider, control }: EmbeddingsContext,
  { dimensions, otherFields, inputs }: EmbeddingsInput,
  yieldTurn: Yielder,
): Promise<KeyedInput[]> {
  const { model } = query
  const { namespace, sharingScope } = control
  const headers = pickCacheKeyHeaders(query.headers, provider.kind)
  const nameOf = createVectorNamer({ namespace, route: routeIdOf(provider), headers, model, dimensions, otherFields })
  const named: KeyedInput[] = []
  for (const input of inputs) {
    await yieldTurn()
    named.push({ cacheKey: scopedHash(sharingScope, nameOf(input)), input })
  }
  return named
}

/** The batches fetched so far are kept and accounted for, and what others may have cost; the request does not count. */
function endEarly(
  context: EmbeddingsContext,
  { failure: end, usage }: VectorResults,
  underWay: ReadonlySet<EstimateCallUsage>,
  stages: PipelineServices,
): AttemptResult {
  const { request, recorder } = context
  const failure =
    end && 'refusal' in end ? end.refusal : request.signal.aborted ? new ClientDisconnected() : end?.failure
  const known = usage === NO_USAGE ? usage : { ...usage, reportedCostUsd: calculateCost(context, usage, stages) }
  recorder.finishFailed(failure, {
    usage: [...underWay].map(estimate => estimate(estimateReasonOf(failure))).reduce(addEstimated, known),
  })
  if (end && 'refusal' in end) return { failure: end.refusal }
  throw failure
}

function addEstimated(sum: CallUsage, { isUnpriced = false, estimate, ...usage }: CallUsage): CallUsage {
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
function findVerbatim({ form }: EmbeddingsInput, { batches, cached }: VectorResults): Uint8Array | null {
  const [batch] = batches
  if (!batch?.isVerbatim || batches.length > 1 || cached.size > 0) return null
  return batch.answer.form === form && batch.answer.isInOrder ? batch.bytes : null
}

function oldestOf(known: VectorResults['cached']): number {
  return Array.from(known.values()).reduce((least, { createdAtMs }) => Math.min(least, createdAtMs), nowMs())
}
