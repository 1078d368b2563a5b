/** Asks a provider for vectors that are neither cached nor in flight: in batches of a size that it accepts, several at once. */

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
import type { CompletionQuery } from '../../request/query.ts'
import { createMissHeaders } from '../../response/response-headers.ts'
import type { EstimateCallUsage } from '../../spending/call-usage.ts'
import { estimateUsage } from '../../spending/estimate-usage.ts'
import { maxCost, maxPriceOf, requestSizeOfBody } from '../../spending/max-cost.ts'
import { canHaveCost } from '../../spending/upstream-calls.ts'
import type { InputTokenCounter } from './count-inputs.ts'
import { type EmbeddingsResponse, readEmbeddingsResponse } from './read-response.ts'

/** One input, and the name its vector is cached under. */
export interface KeyedInput {
  cacheKey: string
  input: EmbeddingInput
}

export interface EmbeddingsFetch {
  context: RoutedContext<CompletionQuery>
  /** In the request's order; repeated inputs repeat here. */
  inputs: readonly KeyedInput[]
  counter: InputTokenCounter
  /** What each batch may have cost that was asked for, and whose usage is not known. */
  pendingEstimates: Set<EstimateCallUsage>
  yieldTurn: Yielder
  stages: PipelineServices
}

/** Most inputs per request for vendors that take fewer than OpenAI's 2,048: the limits of the Gemini API and of Cohere. */
const MOST_INPUTS: readonly { models: RegExp; inputs: number }[] = [
  { models: /^(?:google|~google)\/|^gemini-embedding/i, inputs: 100 },
  { models: /^cohere\/|^embed-(?:v\d|english|multilingual)/i, inputs: 96 },
]
const MOST_INPUTS_ELSEWHERE = 2_048

/** Keeps the order; makes as few batches as possible, of sizes as even as possible. */
export function planBatches<T>(inputs: readonly T[], model: string): T[][] {
  const most = MOST_INPUTS.find(({ models }) => models.test(model))?.inputs ?? MOST_INPUTS_ELSEWHERE
  const count = Math.ceil(inputs.length / most)
  const size = Math.ceil(inputs.length / Math.max(1, count))
  return Array.from({ length: count }, (_, at) => inputs.slice(at * size, (at + 1) * size))
}

/**
 * Returns whole numbers in proportion to `counts` that add up to `total`. If our own counts add up to it, they are returned unchanged.
 * Tokens left over from rounding down go to the largest remainders.
 */
export function distributeTokens(total: number, counts: readonly number[]): number[] {
  const sum = counts.reduce((all, count) => all + count, 0)
  if (sum === total) return [...counts]
  const exact = counts.map(count => (sum === 0 ? total / counts.length : (count * total) / sum))
  const shares = exact.map(Math.floor)
  const left = total - shares.reduce((all, share) => all + share, 0)
  const byRemainder = exact.map((share, at) => ({ at, remainder: share - Math.floor(share) }))
  byRemainder.sort((a, b) => b.remainder - a.remainder)
  for (const { at } of byRemainder.slice(0, left)) shares[at] = (shares[at] ?? 0) + 1
  return shares
}

export interface InputBatch {
  inputs: readonly KeyedInput[]
  /** True when the batch is all of the request's inputs, in order: the body can be forwarded as it came. */
  isVerbatim: boolean
}

export interface FetchedBatch {
  /** By the input's name. */
  vectors: ReadonlyMap<string, FetchedVector>
  usage: TokenUsage
  /** The upstream's headers, ready to be passed on. */
  headers: Record<string, string>
  answer: EmbeddingsResponse
  /** The response as it came. It answers the whole request when `isVerbatim`. */
  bytes: Uint8Array
  isVerbatim: boolean
  /** Whether its vectors may be stored, and given to others that wait for them. */
  mayStore: boolean
}

export interface EmbeddingsReadInput {
  parts: readonly Uint8Array[]
  inputs: number
}

export interface EmbeddingsReadResult {
  bytes: Uint8Array
  answer: EmbeddingsResponse | null
}

const READ = new WorkerJob<EmbeddingsReadInput, EmbeddingsReadResult>(
  new URL('../../jobs.ts', import.meta.url),
  'readEmbeddingsJob',
)

/** Numbers of up to 8,192 dimensions in up to 24 characters; more is not held in memory. */
const MOST_BYTES_AN_INPUT = 196_608
const MOST_BYTES_BESIDE = 1_048_576

/** Returns the upstream's own error, ready to be passed on. Throws a ProxyError when the upstream cannot be reached or understood. */
export async function fetchBatch(
  { context, counter, pendingEstimates, stages }: EmbeddingsFetch,
  { inputs, isVerbatim }: InputBatch,
  signal: AbortSignal,
): Promise<FetchedBatch | { refusal: UpstreamErrorResponse }> {
  const { request, query, resolvedKey, provider, recorder } = context
  const { catalogue } = stages
  const countEach = () => counter.count(inputs.map(({ input }) => input))
  const body = writeBody(context, { inputs, isVerbatim })
  const { endpoint, model } = query
  const size = () => requestSizeOfBody(endpoint, body.body, Buffer.byteLength(body.bodyText), { isLenient: true })
  const { spending } = recorder
  if (spending) await spending.reserve(model, maxCost(size(), provider, catalogue), signal)
  signal.throwIfAborted()
  const called = { endpoint, model, body: body.body, size, provider, catalogue }
  const estimate: EstimateCallUsage = reason => estimateUsage(called, { reason })
  pendingEstimates.add(estimate)
  recorder.beginCall(estimate)
  // Tokens are counted while the upstream answers.
  const counting = inputs.length > 1 ? countEach() : null
  // The rejection is handled where the count is awaited; this only prevents an unhandled one.
  counting?.catch(() => {})
  const maxPrice = spending?.hasBudgets ? maxPriceOf(size, provider, catalogue) : undefined
  const { headers: given, responseMemory } = request
  const sent = {
    endpoint,
    headers: given,
    stream: false,
    owner: resolvedKey.project_id,
    responseMemory,
    maxPrice,
    signal,
  }
  const upstream = await provider.send({ ...sent, ...body }).catch(failure => {
    if (!canHaveCost(failure, null)) pendingEstimates.delete(estimate)
    throw failure
  })
  recorder.recordResponseHead(upstream)
  const mostBytes = MOST_BYTES_BESIDE + inputs.length * MOST_BYTES_AN_INPUT
  const headers = Object.fromEntries(upstream.headers)
  if (upstream.status !== 200) {
    pendingEstimates.delete(estimate)
    const bytes = await readAllBytes(upstream.body, provider.name, mostBytes, responseMemory)
    return {
      refusal: {
        status: upstream.status,
        headers: { ...headers, ...createMissHeaders(provider.name, 0) },
        body: bytes,
      },
    }
  }
  const { bytes, answer } = await readLong(
    await readBytes(upstream.body, provider.name, mostBytes, responseMemory),
    inputs.length,
    resolvedKey.project_id,
  )
  if (!answer) throw brokenResponseError(provider.name, 'gave an answer that does not hold one vector for each input')
  pendingEstimates.delete(estimate)

  const listed = provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, model)
  const usage = omitImplausibleCost(readInputUsage(answer.usage) ?? NO_USAGE, provider, listed)
  const isCounted = usage.promptTokens > 0
  const counts = counting ? await counting : isCounted ? [usage.promptTokens] : await countEach()
  const promptTokens = isCounted ? usage.promptTokens : counts.reduce((sum, count) => sum + count, 0)
  const shares = distributeTokens(promptTokens, counts)
  const responseModel = answer.model ?? query.model
  const vectors = new Map<string, FetchedVector>()
  for (const [at, { cacheKey }] of inputs.entries()) {
    const packed = answer.packed[at]
    if (packed) vectors.set(cacheKey, { packed, promptTokens: shares[at] ?? 0, responseModel })
  }
  return {
    vectors,
    usage: { ...usage, promptTokens },
    headers,
    answer,
    bytes,
    isVerbatim,
    mayStore: upstream.isStorable(),
  }
}

async function readLong(answer: ResponseBytes, inputs: number, owner: number): Promise<EmbeddingsReadResult> {
  if ('gathered' in answer) {
    const { parts, buffers } = answer.gathered
    return workerPool.run(READ, { parts, inputs }, { owner, transfer: buffers })
  }
  const bytes = answer.whole
  return { bytes, answer: readEmbeddingsResponse(new TextDecoder().decode(bytes), inputs) }
}

/** Sends the client's own body where possible: numbers keep their last digit. */
function writeBody({ query, provider }: RoutedContext<CompletionQuery>, { inputs, isVerbatim }: InputBatch) {
  const isPacked = provider.hasFloatVectors === true && query.embeddings?.form === 'float'
  if (isVerbatim && !isPacked) return { body: query.body, bodyText: query.text }
  const body = {
    ...query.body,
    input: inputs.map(({ input }) => input),
    ...(isPacked && { encoding_format: 'base64' }),
  }
  return { body, bodyText: JSON.stringify(body) }
}

/** Why some vectors are missing: an error that was thrown, or the upstream's own error, ready to be passed on. */
export type FetchFailure = { failure: unknown } | { refusal: UpstreamErrorResponse }

const BATCHES_AT_ONCE = 8

/** `unknown` holds at least one input and no duplicates. The first batch to fail aborts the others and is yielded last. Never throws. */
export async function* fetchBatches(
  job: EmbeddingsFetch,
  unknown: readonly KeyedInput[],
): AsyncGenerator<FetchedBatch | FetchFailure, void> {
  const { request, query } = job.context
  const abort = new AbortController()
  const signal = AbortSignal.any([request.signal, abort.signal])
  const plan = planBatches(unknown, query.model)
  const isVerbatim = unknown.length === job.inputs.length && plan.length === 1
  const waiting = plan.map(inputs => ({ inputs, isVerbatim }))
  const running = new Map<InputBatch, Promise<{ batch: InputBatch; outcome: FetchedBatch | FetchFailure }>>()

  while (waiting.length > 0 || running.size > 0) {
    for (let batch = waiting.shift(); batch; batch = running.size < BATCHES_AT_ONCE ? waiting.shift() : undefined) {
      const started = batch
      const fetching = fetchBatch(job, started, signal).catch(failure => ({ failure }))
      running.set(
        started,
        fetching.then(outcome => ({ batch: started, outcome })),
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
