/** Pass-through operations: images, audio, moderations, reranking. Responses that report usage are buffered, others relayed. */

import { ClientDisconnected, createError, ProxyError } from '../../../errors/errors.ts'
import { WorkerJob, workerPool } from '../../../event-loop/worker-pool.ts'
import { NO_USAGE } from '../../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../../formats/tokens/count-tokens.ts'
import { PASS_THROUGH_OPERATIONS, type PassThroughTraits } from '../../../providers/pass-through-operations.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readBytes } from '../../../providers/read-bytes.ts'
import type { UpstreamResponse } from '../../../providers/upstream.ts'
import { brokenResponseError, emptyResponseError } from '../../../providers/upstream-failure.ts'
import { NOT_SHAREABLE } from '../../coalescing/shared-call.ts'
import { readPassThroughRequest } from '../../context/read-pass-through.ts'
import type {
  AttemptResult,
  CoalescedOperation,
  LeaderContext,
  PipelineServices,
} from '../../context/request-context.ts'
import { checkResponse } from '../../hook-checks/check-with-hook.ts'
import type { PassThroughQuery } from '../../request/query.ts'
import type { ProxyResponse } from '../../request/request.ts'
import { createResponseHeaders, forwardUpstreamError, recordMiss, settleCall } from '../../response/complete-call.ts'
import { SSE_HEADERS } from '../../response/response-headers.ts'
import type { CallUsage } from '../../spending/call-usage.ts'
import { chargeMaxUsage, describePricedCall } from '../../spending/estimate-usage.ts'
import {
  addAudioSeconds,
  applyCost,
  calculatePassThroughCost,
  isBilledBySecond,
  type PassThroughUsage,
  readEventUsage,
  readPassThroughUsage,
  validateReportedUsage,
} from '../../spending/pass-through-usage.ts'
import { type CacheableResponse, servePassThroughHit, storePassThroughResponse } from './cached-response.ts'
import { type ExpectedPassThroughResponse, type PassThroughResponse, readPassThroughResponse } from './jobs.ts'
import { relayCacheableAudio } from './relay-audio.ts'
import { relayResponse } from './relay-response.ts'
import { readTranscriptFormat, requestVerboseTranscript } from './transcript.ts'

/** Requests are admitted before their bodies are read, because the bodies are usually large. */
export const passThroughOperation: CoalescedOperation = {
  sharesCalls: true,
  read: readPassThroughRequest,
  serveHit: servePassThroughHit,
  execute: callProvider,
  price: calculatePassThroughCost,
}

type PassThroughContext = LeaderContext<PassThroughQuery>

const READ_RESPONSE = new WorkerJob<
  ExpectedPassThroughResponse & { parts: readonly Uint8Array[] },
  PassThroughResponse
>(new URL('./jobs.ts', import.meta.url), 'readPassThroughResponseJob')

async function callProvider(context: PassThroughContext, stages: PipelineServices): Promise<AttemptResult> {
  const { request, query, provider, recorder, call } = context
  if (!provider.passThrough) throw new Error(`provider ${provider.name} has no pass-through endpoints`)
  if (isOpenAiOnly(query) && provider.kind !== 'openai') throw createError('openAiOnly', { path: query.endpoint })
  const format = findTranscriptFormat(context, stages)
  const upstream = await provider.passThrough({
    method: 'POST',
    path: `/${query.endpoint}`,
    body: format === null ? query.passThroughBody : requestVerboseTranscript(query.passThroughBody),
    headers: request.headers,
    hasSideEffects: false,
    isDownload: false,
    recordAttempt: recorder.attempts.record,
    signal: call.signal,
  })
  recorder.recordResponseHead(upstream)
  if (upstream.status >= 400) return forwardUpstreamError(context, upstream)
  if (/^text\/event-stream/i.test(typeOf(upstream))) return { response: relayEvents(context, upstream, stages) }
  if (isJson(upstream) || isTranscript(query))
    return { response: await createBufferedResponse(context, upstream, format, stages) }
  return { response: relayBytes(context, upstream, stages) }
}

/**
 * Returns the format into which the proxy converts the transcript: it requests verbose JSON, which states the length of the audio. Null if
 * the response is forwarded as the provider sends it.
 */
function findTranscriptFormat(context: PassThroughContext, stages: PipelineServices): string | null {
  const { query } = context
  return isBilledBySecond(context, stages) && !query.isLarge ? readTranscriptFormat(query.body) : null
}

async function createBufferedResponse(
  context: PassThroughContext,
  upstream: UpstreamResponse,
  format: string | null,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { provider, query } = context
  const results = countExpectedResults(query.body.input)
  const expected = { expectedResults: results, isTranscript: isTranscript(query), transcriptFormat: format }
  const received = await readBytes(
    upstream.body,
    provider.name,
    MAX_PLAIN_RESPONSE_BYTES,
    context.request.responseMemory,
  )
  const read =
    'whole' in received
      ? readPassThroughResponse(received.whole, expected)
      : await workerPool.run(
          READ_RESPONSE,
          { parts: received.gathered.parts, ...expected },
          { owner: context.resolvedKey.project_id, transfer: received.gathered.buffers },
        )
  const { bytes, hasResults, contentType } = read
  // Invalid JSON is probably truncated.
  if (!read.isJson && contentType === null && isJson(upstream))
    throw emptyResponseError(provider.name, 'returned invalid JSON with the content type of JSON')
  const reported = validateReportedUsage(context, readPassThroughUsage(read.usage), stages)
  const usage = read.hasFailed
    ? chargedUsage(context, reported, stages, false)
    : chargedUsage(context, addAudioSeconds(context, reported, read.transcript, stages), stages)
  await checkResponse(context, bytes, usage)
  await storeAndSettle(context, upstream, { bytes, hasResults }, usage, stages)
  recordMiss(context, usage, !read.hasFailed)
  const headers = createResponseHeaders(context, upstream, usage, stages)
  if (contentType !== null) headers['content-type'] = contentType
  return { status: upstream.status, headers, body: bytes }
}

/** Returns the number of expected results: one for each text, or one for all parts of a multimodal input. */
function countExpectedResults(input: unknown): number {
  return Array.isArray(input) && input.every(each => typeof each === 'string') ? Math.max(1, input.length) : 1
}

/** Relays an event stream. The last event reports the usage; response headers have an estimate. */
function relayEvents(context: PassThroughContext, upstream: UpstreamResponse, stages: PipelineServices): ProxyResponse {
  const { query, recorder, call } = context
  call.settle(NOT_SHAREABLE)
  recorder.recordHeadersSent()
  const prompt = { ...NO_USAGE, promptTokens: estimatePromptTokens(query.body, query.endpoint) }
  const expected = addAudioSeconds(context, prompt, null, stages)
  const body = relayResponse(recorder, upstream, {
    abandonedCalls: stages.sharedCalls.abandoned,
    isEventStream: true,
    onComplete(event) {
      const reported = event ? validateReportedUsage(context, readEventUsage(event), stages) : NO_USAGE
      const usage = addAudioSeconds(context, reported, null, stages)
      recordMiss(context, chargedUsage(context, usage, stages))
    },
  })
  return {
    status: upstream.status,
    headers: { ...createResponseHeaders(context, upstream, expected, stages), ...SSE_HEADERS },
    body,
  }
}

/** Relays a response that reports no usage. */
function relayBytes(context: PassThroughContext, upstream: UpstreamResponse, stages: PipelineServices): ProxyResponse {
  const { recorder, cacheQuery, control } = context
  recorder.recordHeadersSent()
  const usage = chargedUsage(context, NO_USAGE, stages)
  const body =
    cacheQuery && control.store
      ? relayAudio(context, upstream, usage, stages)
      : relayResponse(recorder, upstream, {
          abandonedCalls: stages.sharedCalls.abandoned,
          isEventStream: false,
          onComplete: () => recordMiss(context, usage),
        })
  return { status: upstream.status, headers: createResponseHeaders(context, upstream, usage, stages), body }
}

function relayAudio(
  context: PassThroughContext,
  upstream: UpstreamResponse,
  usage: CallUsage,
  stages: PipelineServices,
): ReadableStream<Uint8Array> {
  const { request, provider, recorder, call, subscriber } = context
  return relayCacheableAudio(upstream, {
    memory: request.responseMemory,
    signal: request.signal,
    onDisconnected: subscriber.leave,
    onTooLong: () => call.settle(NOT_SHAREABLE),
    async onComplete(bytes) {
      if (bytes) await storeAndSettle(context, upstream, { bytes, hasResults: false }, usage, stages)
      recordMiss(context, usage)
    },
    onFailure(error) {
      const isKnown = error instanceof ProxyError || error instanceof ClientDisconnected
      const failure = isKnown ? error : brokenResponseError(provider.name, 'broke off its answer', undefined, error)
      call.settle({ kind: 'notShareable', failure })
      recorder.finishFailed(failure)
    },
  })
}

/** Stores the response in the cache, and settles the call for its followers. */
async function storeAndSettle(
  context: PassThroughContext,
  upstream: UpstreamResponse,
  read: Omit<CacheableResponse, 'contentType'>,
  usage: CallUsage,
  stages: PipelineServices,
): Promise<void> {
  const mayStore = upstream.status === 200 && upstream.isStorable()
  const bytes = mayStore
    ? await storePassThroughResponse(context, { contentType: typeOf(upstream), ...read }, usage, stages)
    : null
  settleCall(context, bytes && { bytes, decision: null }, usage)
}

/**
 * Returns the usage to report, record and charge to budgets. A failure costs nothing. A response that reports no usage is charged its upper
 * bound.
 */
function chargedUsage(
  context: PassThroughContext,
  usage: PassThroughUsage,
  stages: PipelineServices,
  isSuccessful = true,
): CallUsage {
  const { query, provider } = context
  const usd = usage === NO_USAGE && !isSuccessful ? 0 : calculatePassThroughCost(context, usage, stages)
  const maxUsage = usd === null ? chargeMaxUsage(describePricedCall(query, provider, stages.catalogue)) : null
  return maxUsage && !maxUsage.isUnpriced ? maxUsage : applyCost(usage, usd)
}

function isOpenAiOnly({ endpoint }: PassThroughQuery): boolean {
  const traits: PassThroughTraits = PASS_THROUGH_OPERATIONS[endpoint]
  return traits.isOpenAiOnly ?? false
}

function isTranscript({ endpoint }: PassThroughQuery): boolean {
  return PASS_THROUGH_OPERATIONS[endpoint].acceptsAudio
}

function isJson(upstream: UpstreamResponse): boolean {
  return /^application\/(\S+\+)?json/i.test(typeOf(upstream))
}

function typeOf({ headers }: UpstreamResponse): string {
  return headers.get('content-type') ?? ''
}
