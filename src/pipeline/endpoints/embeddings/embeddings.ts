/** The embeddings operation: responds with the vectors of all inputs in order, cached and fetched, or with an error. */

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
  UncoalescedOperation,
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

export const embeddingsOperation: UncoalescedOperation = {
  sharesCalls: false,
  read: readCompletionRequest,
  serveHit: () => null,
  execute: createResponse,
  price: calculateCost,
}

type EmbeddingsContext = RoutedContext<CompletionQuery>

/**
 * Throws a ProxyError if limits are exceeded or the upstream fails, and ClientDisconnected if the client has disconnected.
 */
async function createResponse(context: EmbeddingsContext, stages: PipelineServices): Promise<AttemptResult> {
  const { request, query, resolvedKey, provider, recorder } = context
  const { embeddings: input } = query
  if (!input) throw new Error('the request has no embeddings input')
  const yieldTurn = createYielder()
  const inputs = await nameInputs(context, input, yieldTurn)
  const counter = createInputTokenCounter(query.model, resolvedKey.project_id, yieldTurn)
  const pendingEstimates = new Set<() => CallUsage>()
  const results = await gatherVectors({ context, inputs, counter, pendingEstimates, yieldTurn, stages })
  if (results.failure) return failRequest(context, results, pendingEstimates, stages)

  const { cached, fetched, batches, usage } = results
  const vectors = inputs.flatMap(({ cacheKey }) => cached.get(cacheKey) ?? fetched.get(cacheKey) ?? [])
  // The vectors replace the upstream responses, which are released.
  request.responseMemory.set(vectors.reduce((sum, { packed }) => sum + packed.length, 0))
  const body =
    findVerbatim(input, results) ??
    writeEmbeddingsResponse({
      packed: vectors.map(({ packed }) => packed),
      form: input.form,
      model: batches[0]?.response.model ?? vectors[0]?.responseModel ?? query.model,
      promptTokens: vectors.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    })
  const savedPromptTokens = inputs.reduce((sum, { cacheKey }) => sum + (cached.get(cacheKey)?.promptTokens ?? 0), 0)
  const isHit = batches.length === 0
  const headers = isHit
    ? createEmbeddingsHitHeaders(provider.name, oldestCreatedAtMs(cached), savedPromptTokens)
    : {
        ...batches[0]?.headers,
        ...createMissHeaders(provider.name, calculateCost(context, usage, stages)),
        'x-proxy-tokens-saved': `${savedPromptTokens}`,
      }
  recorder.recordHeadersSent()
  const usedOrSaved = isHit ? { ...NO_USAGE, promptTokens: savedPromptTokens } : { ...usage, savedPromptTokens }
  recorder.finish({ status: 200, isCounted: true, cacheResult: isHit ? 'HIT' : 'MISS', usage: usedOrSaved })
  return { response: { status: 200, headers: { ...headers, ...JSON_HEADERS }, body } }
}

async function nameInputs(
  { query, provider, control }: EmbeddingsContext,
  { dimensions, otherFields, inputs }: EmbeddingsInput,
  yieldTurn: Yielder,
): Promise<KeyedInput[]> {
  const { model } = query
  const { namespace, version, sharingScope } = control
  const headers = pickCacheKeyHeaders(query.headers, provider.clientHeaders)
  const cacheNameOf = createVectorNamer({
    namespace,
    version,
    route: routeIdOf(provider),
    headers,
    model,
    dimensions,
    otherFields,
  })
  const keyed: KeyedInput[] = []
  for (const input of inputs) {
    await yieldTurn()
    keyed.push({ cacheKey: scopedHash(sharingScope, cacheNameOf(input)), input })
  }
  return keyed
}

/** Fails the request. Fetched batches stay cached and are charged, as is the estimate of others; the request does not count. */
function failRequest(
  context: EmbeddingsContext,
  { failure: fetchFailure, usage }: VectorResults,
  pendingEstimates: ReadonlySet<EstimateCallUsage>,
  stages: PipelineServices,
): AttemptResult {
  const { request, recorder } = context
  const failure =
    fetchFailure && 'upstreamError' in fetchFailure
      ? fetchFailure.upstreamError
      : request.signal.aborted
        ? new ClientDisconnected()
        : fetchFailure?.failure
  const known = usage === NO_USAGE ? usage : { ...usage, reportedCostUsd: calculateCost(context, usage, stages) }
  recorder.finishFailed(failure, {
    usage: [...pendingEstimates].map(estimate => estimate(estimateReasonOf(failure))).reduce(addEstimated, known),
  })
  if (fetchFailure && 'upstreamError' in fetchFailure) return { failure: fetchFailure.upstreamError }
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

/** Returns the upstream's own bytes, if they are the response to exactly this request in the requested encoding; else null. */
function findVerbatim({ form }: EmbeddingsInput, { batches, cached }: VectorResults): Uint8Array | null {
  const [batch] = batches
  if (!batch?.isVerbatim || batches.length > 1 || cached.size > 0) return null
  return batch.response.form === form && batch.response.isInOrder ? batch.bytes : null
}

function oldestCreatedAtMs(known: VectorResults['cached']): number {
  return Array.from(known.values()).reduce((oldest, { createdAtMs }) => Math.min(oldest, createdAtMs), nowMs())
}
