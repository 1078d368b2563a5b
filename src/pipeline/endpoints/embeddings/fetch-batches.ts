/** Fetches vectors that are neither cached nor in flight from a provider, in concurrent batches of a size that it accepts. */
import type { EmbeddingInput } from '../../../cache/vectors/pack-vector.ts'
import { omitImplausibleCost } from '../../../catalogue/reported-cost.ts'
import type { Yielder } from '../../../event-loop/work-scheduler.ts'
import { WorkerJob, workerPool } from '../../../event-loop/worker-pool.ts'
import { NO_USAGE, type TokenUsage } from '../../../formats/token-usage.ts'
import { readInputUsage } from '../../../formats/usage/read-usage.ts'
import { type ResponseBytes, readAllBytes, readBytes } from '../../../providers/read-bytes.ts'
import { brokenResponseError } from '../../../providers/upstream-failure.ts'
import type { UpstreamErrorResponse } from '../../coalescing/shared-call.ts'
import type { FetchedVector } from '../../coalescing/vector-calls.ts'
import type { PipelineServices, RoutedContext } from '../../context/request-context.ts'
import { resolveTimeLimits } from '../../context/time-limits.ts'
import type { CompletionQuery } from '../../request/query.ts'
import { createMissHeaders } from '../../response/response-headers.ts'
import type { EstimateCallUsage } from '../../spending/call-usage.ts'
import { estimateUsage } from '../../spending/estimate-usage.ts'
import { maxCost, maxPriceOf, requestSizeOfBody } from '../../spending/max-cost.ts'
import { canHaveCost } from '../../spending/upstream-calls.ts'
import { distributeTokens, type InputTokenCounter } from './count-inputs.ts'
import {
  type EmbeddingsReadInput,
  type EmbeddingsReadResult,
  type EmbeddingsResponse,
  readEmbeddingsResponse,
} from './jobs.ts'

/** One input with the cache key of its vector. */
export interface KeyedInput {
  cacheKey: string
  input: EmbeddingInput
}

export interface EmbeddingsFetch {
  context: RoutedContext<CompletionQuery>
  /** All inputs in the request's order, including repeated ones. */
  inputs: readonly KeyedInput[]
  counter: InputTokenCounter
  /** Estimates for batches whose usage is unknown. */
  pendingEstimates: Set<EstimateCallUsage>
  yieldTurn: Yielder
  stages: PipelineServices
}

export interface InputBatch {
  inputs: readonly KeyedInput[]
  /** Whether the batch has all of the request's inputs, in order. The body can then be forwarded unchanged. */
  isVerbatim: boolean
}

export interface FetchedBatch {
  /** Vectors by the input's cache key. */
  vectors: ReadonlyMap<string, FetchedVector>
  usage: TokenUsage
  /** The upstream's headers, as they are forwarded. */
  headers: Record<string, string>
  response: EmbeddingsResponse
  /** The unchanged response. If `isVerbatim`, it is the response to the whole request. */
  bytes: Uint8Array
  isVerbatim: boolean
  /** Whether the vectors may be stored, and shared with other requests. */
  mayStore: boolean
}

const READ_RESPONSE = new WorkerJob<EmbeddingsReadInput, EmbeddingsReadResult>(
  new URL('./jobs.ts', import.meta.url),
  'readEmbeddingsJob',
)

/** Limits of a response: up to 8,192 dimensions of up to 24 characters per input, and 1 MiB for the rest. */
const MAX_BYTES_PER_INPUT = 196_608
const MAX_OTHER_BYTES = 1_048_576

/** Fetches a batch. Returns the upstream's own error as it is forwarded. Throws a ProxyError if the upstream fails in another way. */
export async function fetchBatch(
  { context, counter, pendingEstimates, stages }: EmbeddingsFetch,
  { inputs, isVerbatim }: InputBatch,
  signal: AbortSignal,
): Promise<FetchedBatch | { upstreamError: UpstreamErrorResponse }> {
  const { request, query, resolvedKey, provider, recorder } = context
  const { catalogue } = stages
  const countEach = () => counter.count(inputs.map(({ input }) => input))
  const body = createBody(context, { inputs, isVerbatim })
  const { endpoint, model } = query
  const size = () => requestSizeOfBody(endpoint, body.body, Buffer.byteLength(body.bodyText), { isLenient: true })
  const { spending } = recorder
  if (spending) await spending.reserve(model, maxCost(size(), provider, catalogue), signal)
  signal.throwIfAborted()
  const pricedCall = { endpoint, model, body: body.body, size, provider, catalogue }
  const estimate: EstimateCallUsage = reason => estimateUsage(pricedCall, { reason })
  pendingEstimates.add(estimate)
  recorder.beginCall(estimate)
  // Tokens are counted while the upstream responds.
  const pendingCounts = inputs.length > 1 ? countEach() : null
  // A rejection is handled where the count is awaited. This handler only prevents an unhandled rejection.
  pendingCounts?.catch(() => {})
  const maxPrice = spending?.hasBudgets ? maxPriceOf(size, provider, catalogue) : undefined
  const { headers: requestHeaders, responseMemory } = request
  const callOptions = {
    endpoint,
    headers: requestHeaders,
    stream: false,
    owner: resolvedKey.project_id,
    responseMemory,
    maxPrice,
    timeLimits: resolveTimeLimits(context),
    recordAttempt: recorder.attempts.record,
    signal,
  }
  const upstream = await provider.send({ ...callOptions, ...body }).catch(failure => {
    if (!canHaveCost(failure, null)) pendingEstimates.delete(estimate)
    throw failure
  })
  recorder.recordResponseHead(upstream)
  const maxBytes = MAX_OTHER_BYTES + inputs.length * MAX_BYTES_PER_INPUT
  const headers = Object.fromEntries(upstream.headers)
  if (upstream.status !== 200) {
    pendingEstimates.delete(estimate)
    const bytes = await readAllBytes(upstream.body, provider.name, maxBytes, responseMemory)
    return {
      upstreamError: {
        status: upstream.status,
        headers: { ...headers, ...createMissHeaders(provider.name, 0) },
        body: bytes,
      },
    }
  }
  const { bytes, response } = await parseResponse(
    await readBytes(upstream.body, provider.name, maxBytes, responseMemory),
    inputs.length,
    resolvedKey.project_id,
  )
  if (!response) throw brokenResponseError(provider.name, 'returned a response without one vector per input')
  pendingEstimates.delete(estimate)
  const storable = { response, bytes, headers, isVerbatim, mayStore: upstream.isStorable() }
  return createFetchedBatch(context, inputs, storable, { pendingCounts, countEach, catalogue })
}

interface TokenCounts {
  /** The counts of an ongoing count; null if none was started. */
  pendingCounts: Promise<number[]> | null
  countEach(): Promise<number[]>
  catalogue: PipelineServices['catalogue']
}

/** Resolves the batch's usage, and distributes its tokens over the vectors. Tokens are counted if the upstream reports none. */
async function createFetchedBatch(
  { query, provider }: RoutedContext<CompletionQuery>,
  inputs: readonly KeyedInput[],
  storable: Omit<FetchedBatch, 'vectors' | 'usage'>,
  { pendingCounts, countEach, catalogue }: TokenCounts,
): Promise<FetchedBatch> {
  const { response } = storable
  const listed = catalogue.find(provider.pricedAs, query.model)
  const usage = omitImplausibleCost(readInputUsage(response.usage) ?? NO_USAGE, provider, listed)
  const isCounted = usage.promptTokens > 0
  const counts = pendingCounts ? await pendingCounts : isCounted ? [usage.promptTokens] : await countEach()
  const promptTokens = isCounted ? usage.promptTokens : counts.reduce((sum, count) => sum + count, 0)
  const shares = distributeTokens(promptTokens, counts)
  const responseModel = response.model ?? query.model
  const vectors = new Map<string, FetchedVector>()
  for (const [index, { cacheKey }] of inputs.entries()) {
    const packed = response.packed[index]
    if (packed) vectors.set(cacheKey, { packed, promptTokens: shares[index] ?? 0, responseModel })
  }
  return { ...storable, vectors, usage: { ...usage, promptTokens } }
}

async function parseResponse(received: ResponseBytes, inputs: number, owner: number): Promise<EmbeddingsReadResult> {
  if ('gathered' in received) {
    const { parts, buffers } = received.gathered
    return workerPool.run(READ_RESPONSE, { parts, inputs }, { owner, transfer: buffers })
  }
  const bytes = received.whole
  return { bytes, response: readEmbeddingsResponse(new TextDecoder().decode(bytes), inputs) }
}

/** Creates the body. The client's body is sent unchanged if possible, so that numbers keep all digits. */
function createBody({ query, provider }: RoutedContext<CompletionQuery>, { inputs, isVerbatim }: InputBatch) {
  const usesBase64 = provider.hasFloatVectors === true && query.embeddings?.form === 'float'
  if (isVerbatim && !usesBase64) return { body: query.body, bodyText: query.text }
  const body = {
    ...query.body,
    input: inputs.map(({ input }) => input),
    ...(usesBase64 && { encoding_format: 'base64' }),
  }
  return { body, bodyText: JSON.stringify(body) }
}

/** Why some vectors are missing: an error that was thrown, or the upstream's own error as it is forwarded. */
export type FetchFailure = { failure: unknown } | { upstreamError: UpstreamErrorResponse }

const MAX_CONCURRENT_BATCHES = 8

/** Fetches at least one input, without duplicates. The first failure aborts the other batches and is yielded last. Never throws. */
export async function* fetchBatches(
  job: EmbeddingsFetch,
  missing: readonly KeyedInput[],
): AsyncGenerator<FetchedBatch | FetchFailure, void> {
  const { request, query } = job.context
  const abort = new AbortController()
  const signal = AbortSignal.any([request.signal, abort.signal])
  const plan = planBatches(missing, query.model)
  const isVerbatim = missing.length === job.inputs.length && plan.length === 1
  const waiting = plan.map(inputs => ({ inputs, isVerbatim }))
  const running = new Map<InputBatch, Promise<{ batch: InputBatch; outcome: FetchedBatch | FetchFailure }>>()

  while (waiting.length > 0 || running.size > 0) {
    for (
      let batch = waiting.shift();
      batch;
      batch = running.size < MAX_CONCURRENT_BATCHES ? waiting.shift() : undefined
    ) {
      const started = batch
      const pending = fetchBatch(job, started, signal).catch(failure => ({ failure }))
      running.set(
        started,
        pending.then(outcome => ({ batch: started, outcome })),
      )
    }
    const { batch, outcome } = await Promise.race(running.values())
    running.delete(batch)
    yield outcome
    if ('vectors' in outcome) continue
    abort.abort()
    return
  }
}

/** Maximum inputs per request for vendors that accept fewer than OpenAI's 2,048: the limits of the Gemini API and of Cohere. */
const MAX_INPUTS: readonly { models: RegExp; inputs: number }[] = [
  { models: /^(?:google|~google)\/|^gemini-embedding/i, inputs: 100 },
  { models: /^cohere\/|^embed-(?:v\d|english|multilingual)/i, inputs: 96 },
]
const DEFAULT_MAX_INPUTS = 2_048

/** Splits a request's inputs in order into as few batches as possible, of sizes as even as possible. */
export function planBatches<T>(inputs: readonly T[], model: string): T[][] {
  const max = MAX_INPUTS.find(({ models }) => models.test(model))?.inputs ?? DEFAULT_MAX_INPUTS
  const count = Math.ceil(inputs.length / max)
  const size = Math.ceil(inputs.length / Math.max(1, count))
  return Array.from({ length: count }, (_, index) => inputs.slice(index * size, (index + 1) * size))
}
