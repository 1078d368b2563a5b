/** Operations that are passed on: images, sound, moderations, rankings. Buffered if they report usage, else relayed as they arrive. */

import { ClientDisconnected, createError, ProxyError } from '../../../errors/errors.ts'
import { WorkerJob, workerPool } from '../../../event-loop/worker-pool.ts'
import { NO_USAGE } from '../../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../../formats/tokens/count-tokens.ts'
import { PASS_THROUGH_OPERATIONS, type PassThroughTraits } from '../../../providers/pass-through-operations.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readBytes } from '../../../providers/read-bytes.ts'
import type { UpstreamResponse } from '../../../providers/upstream.ts'
import { brokenResponseError, emptyResponseError } from '../../../providers/upstream-failure.ts'
import type { SharedCallResult } from '../../coalescing/shared-call.ts'
import { readPassThroughRequest } from '../../context/read-pass-through.ts'
import type { AttemptResult, LeaderContext, PipelineServices, SharedOperation } from '../../context/request-context.ts'
import { checkResponse } from '../../hook-checks/check-response.ts'
import type { PassThroughQuery } from '../../request/query.ts'
import type { ProxyResponse } from '../../request/request.ts'
import {
  createResponseHeaders,
  createSharedEntry,
  forwardUpstreamError,
  recordMiss,
} from '../../response/complete-call.ts'
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
import { type ExpectedPassThroughResponse, type PassThroughResponse, readPassThroughResponse } from './read-response.ts'
import { relayCacheableAudio } from './relay-audio.ts'
import { relayResponse } from './relay-response.ts'
import { readTranscriptFormat, requestVerboseTranscript } from './transcript.ts'

/** Requests are admitted before their bodies are read, because those are usually large. */
export const passThroughOperation: SharedOperation = {
  sharesCalls: true,
  read: readPassThroughRequest,
  serveHit: servePassThroughHit,
  execute: ask,
  price: calculatePassThroughCost,
}

type PassedContext = LeaderContext<PassThroughQuery>

const READ = new WorkerJob<ExpectedPassThroughResponse & { parts: readonly Uint8Array[] }, PassThroughResponse>(
  new URL('../../jobs.ts', import.meta.url),
  'readPassThroughResponseJob',
)

const NOT_SHAREABLE: SharedCallResult = { kind: 'notShareable', failure: null }

async function ask(context: PassedContext, stages: PipelineServices): Promise<AttemptResult> {
  const { request, query, provider, recorder, call } = context
  if (!provider.passThrough) throw new Error(`${provider.name} passes nothing on`)
  if (isOpenAis(query) && provider.kind !== 'openai') throw createError('openAiOnly', { path: query.endpoint })
  const format = formatToWrite(context, stages)
  const answer = await provider.passThrough({
    method: 'POST',
    path: `/${query.endpoint}`,
    body: format === null ? query.passThroughBody : requestVerboseTranscript(query.passThroughBody),
    headers: request.headers,
    hasSideEffects: false,
    isDownload: false,
    signal: call.signal,
  })
  recorder.recordResponseHead(answer)
  if (answer.status >= 400) return forwardUpstreamError(context, answer)
  if (/^text\/event-stream/i.test(typeOf(answer))) return { response: answerInEvents(context, answer, stages) }
  if (isJson(answer) || isTranscript(query)) return { response: await answerWhole(context, answer, format, stages) }
  return { response: answerAsItComes(context, answer, stages) }
}

/** In which the client gets a transcript that is asked for as verbose JSON, to learn its length; null: as its provider sends it. */
function formatToWrite(context: PassedContext, stages: PipelineServices): string | null {
  const { query } = context
  return isBilledBySecond(context, stages) && !query.isLarge ? readTranscriptFormat(query.body) : null
}

async function answerWhole(
  context: PassedContext,
  answer: UpstreamResponse,
  format: string | null,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { provider, query } = context
  const results = countAskedAbout(query.body.input)
  const wanted = { expectedResults: results, isTranscript: isTranscript(query), transcriptFormat: format }
  const received = await readBytes(answer.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, context.request.responseMemory)
  const read =
    'whole' in received
      ? readPassThroughResponse(received.whole, wanted)
      : await workerPool.run(
          READ,
          { parts: received.gathered.parts, ...wanted },
          { owner: context.resolvedKey.project_id, transfer: received.gathered.buffers },
        )
  const { bytes, hasResults, contentType } = read
  // Invalid JSON was probably cut.
  if (!read.isJson && contentType === null && isJson(answer))
    throw emptyResponseError(provider.name, 'gave an answer that says it is JSON and is not')
  const reported = validateReportedUsage(context, readPassThroughUsage(read.usage), stages)
  const usage = read.hasFailed
    ? spentBy(context, reported, stages, false)
    : spentBy(context, addAudioSeconds(context, reported, read.transcript, stages), stages)
  await checkResponse(context, bytes, usage)
  await keep(context, answer, { bytes, hasResults }, usage, stages)
  recordMiss(context, usage, !read.hasFailed)
  const headers = createResponseHeaders(context, answer, usage, stages)
  if (contentType !== null) headers['content-type'] = contentType
  return { status: answer.status, headers, body: bytes }
}

/** Each text has a result of its own; texts and pictures in parts have one together. */
function countAskedAbout(input: unknown): number {
  return Array.isArray(input) && input.every(each => typeof each === 'string') ? Math.max(1, input.length) : 1
}

/** Usage comes with the last event; until then the estimate stands. */
function answerInEvents(context: PassedContext, answer: UpstreamResponse, stages: PipelineServices): ProxyResponse {
  const { query, recorder, call } = context
  call.settle(NOT_SHAREABLE)
  recorder.recordHeadersSent()
  const prompt = { ...NO_USAGE, promptTokens: estimatePromptTokens(query.body, query.endpoint) }
  const expected = addAudioSeconds(context, prompt, null, stages)
  const body = relayResponse(recorder, answer, {
    abandonedCalls: stages.sharedCalls.abandoned,
    isEventStream: true,
    onComplete(event) {
      const reported = event ? validateReportedUsage(context, readEventUsage(event), stages) : NO_USAGE
      const usage = addAudioSeconds(context, reported, null, stages)
      recordMiss(context, spentBy(context, usage, stages))
    },
  })
  return {
    status: answer.status,
    headers: { ...createResponseHeaders(context, answer, expected, stages), ...SSE_HEADERS },
    body,
  }
}

/** Relays bytes that never report their usage. */
function answerAsItComes(context: PassedContext, answer: UpstreamResponse, stages: PipelineServices): ProxyResponse {
  const { recorder, cacheQuery, control } = context
  recorder.recordHeadersSent()
  const usage = spentBy(context, NO_USAGE, stages)
  const body =
    cacheQuery && control.store
      ? relayKeptSound(context, answer, usage, stages)
      : relayResponse(recorder, answer, {
          abandonedCalls: stages.sharedCalls.abandoned,
          isEventStream: false,
          onComplete: () => recordMiss(context, usage),
        })
  return { status: answer.status, headers: createResponseHeaders(context, answer, usage, stages), body }
}

function relayKeptSound(
  context: PassedContext,
  answer: UpstreamResponse,
  usage: CallUsage,
  stages: PipelineServices,
): ReadableStream<Uint8Array> {
  const { request, provider, recorder, call, subscriber } = context
  return relayCacheableAudio(answer, {
    memory: request.responseMemory,
    signal: request.signal,
    onDisconnected: subscriber.leave,
    onTooLong: () => call.settle(NOT_SHAREABLE),
    async onComplete(bytes) {
      if (bytes) await keep(context, answer, { bytes, hasResults: false }, usage, stages)
      recordMiss(context, usage)
    },
    onFailure(error) {
      const isTold = error instanceof ProxyError || error instanceof ClientDisconnected
      const failure = isTold ? error : brokenResponseError(provider.name, 'broke off its answer', undefined, error)
      call.settle({ kind: 'notShareable', failure })
      recorder.finishFailed(failure)
    },
  })
}

/** Stores the response for later requests, and settles the call for its followers. */
async function keep(
  context: PassedContext,
  answer: UpstreamResponse,
  read: Omit<CacheableResponse, 'contentType'>,
  usage: CallUsage,
  stages: PipelineServices,
): Promise<void> {
  const { call } = context
  const mayStore = answer.status === 200 && answer.isStorable()
  const kept = mayStore
    ? await storePassThroughResponse(context, { contentType: typeOf(answer), ...read }, usage, stages)
    : null
  call.settle(
    kept === null ? NOT_SHAREABLE : { kind: 'complete', entry: createSharedEntry(context, kept, usage, null) },
  )
}

/**
 * What is told, recorded and taken from budgets. An error in place of an answer costs nothing; an answer that does not say what it used, the
 * most that it may.
 */
function spentBy(
  context: PassedContext,
  usage: PassThroughUsage,
  stages: PipelineServices,
  isAnswer = true,
): CallUsage {
  const { query, provider } = context
  const usd = usage === NO_USAGE && !isAnswer ? 0 : calculatePassThroughCost(context, usage, stages)
  const most = usd === null ? chargeMaxUsage(describePricedCall(query, provider, stages.catalogue)) : null
  return most && !most.isUnpriced ? most : applyCost(usage, usd)
}

function isOpenAis({ endpoint }: PassThroughQuery): boolean {
  const traits: PassThroughTraits = PASS_THROUGH_OPERATIONS[endpoint]
  return traits.isOpenAiOnly ?? false
}

function isTranscript({ endpoint }: PassThroughQuery): boolean {
  return PASS_THROUGH_OPERATIONS[endpoint].acceptsAudio
}

function isJson(answer: UpstreamResponse): boolean {
  return /^application\/(\S+\+)?json/i.test(typeOf(answer))
}

function typeOf({ headers }: UpstreamResponse): string {
  return headers.get('content-type') ?? ''
}
