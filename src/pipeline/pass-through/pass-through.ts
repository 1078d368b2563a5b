/** Operations that are passed on: images, sound, moderations, rankings. Buffered if they report usage, else relayed as they arrive. */

import { ClientGone, ProxyError, refuse } from '../../errors/errors.ts'
import { Job, offLoop } from '../../event-loop/off-loop.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../formats/tokens/count-tokens.ts'
import { OPERATIONS, type OperationTraits } from '../../providers/operations.ts'
import { MAX_PLAIN_BYTES, readBytes } from '../../providers/read-bytes.ts'
import type { UpstreamAnswer } from '../../providers/upstream.ts'
import { broken, noResponse } from '../../providers/upstream-failure.ts'
import { passAnswer } from '../checks/pass-answer.ts'
import type { Settlement } from '../coalescing/shared-call.ts'
import { answeredHeaders, entryOf, finishMiss, passOnError } from '../complete-call.ts'
import type { PassedQuery } from '../query.ts'
import type { ProxyResponse } from '../request.ts'
import type { Attempt, LeadingContext, SharedOperation, Stages } from '../request-context.ts'
import { SSE_TYPE } from '../response-headers.ts'
import { chargeMost, describePricedCall } from '../spending/estimate-usage.ts'
import type { SpentUsage } from '../spending/spent-usage.ts'
import { assessPassed, type PassedAnswer, type PassedToAssess } from './assess-passed.ts'
import {
  believedUsage,
  isPricedBySecond,
  type PassedUsage,
  priceOfPassed,
  readPassedUsage,
  readUsageOfEvent,
  withCost,
  withSeconds,
} from './passed-usage.ts'
import { readPassed } from './read-passed.ts'
import { askVerbose, writtenFormat } from './read-transcript.ts'
import { relayAnswer } from './relay-answer.ts'
import { relayKept } from './relay-kept.ts'
import { type AnswerToKeep, serveStored, storePassed } from './stored-passed.ts'

/** Requests are admitted before their bodies are read, because those are usually large. */
export const passed: SharedOperation = {
  sharesCalls: true,
  read: readPassed,
  serveHit: serveStored,
  ask,
  price: priceOfPassed,
}

type PassedContext = LeadingContext<PassedQuery>

const READ = new Job<PassedToAssess & { parts: readonly Uint8Array[] }, PassedAnswer>(
  new URL('../jobs.ts', import.meta.url),
  'readPassed',
)

const NOT_SHAREABLE: Settlement = { kind: 'notShareable', failure: null }

async function ask(context: PassedContext, stages: Stages): Promise<Attempt> {
  const { request, query, provider, recorder, call } = context
  if (!provider.pass) throw new Error(`${provider.name} passes nothing on`)
  if (isOpenAis(query) && provider.kind !== 'openai') throw refuse('openAisAlone', { path: query.endpoint })
  const format = formatToWrite(context, stages)
  const answer = await provider.pass({
    method: 'POST',
    path: `/${query.endpoint}`,
    body: format === null ? query.passed : askVerbose(query.passed),
    headers: request.headers,
    leavesTrace: false,
    isDownload: false,
    signal: call.signal,
  })
  recorder.recordResponseHead(answer)
  if (answer.status >= 400) return passOnError(context, answer)
  if (/^text\/event-stream/i.test(typeOf(answer))) return { response: answerInEvents(context, answer, stages) }
  if (isJson(answer) || isTranscript(query)) return { response: await answerWhole(context, answer, format, stages) }
  return { response: answerAsItComes(context, answer, stages) }
}

/** In which the client gets a transcript that is asked for as verbose JSON, to learn its length; null: as its provider sends it. */
function formatToWrite(context: PassedContext, stages: Stages): string | null {
  const { query } = context
  return isPricedBySecond(context, stages) && !query.isLarge ? writtenFormat(query.body) : null
}

async function answerWhole(
  context: PassedContext,
  answer: UpstreamAnswer,
  format: string | null,
  stages: Stages,
): Promise<ProxyResponse> {
  const { provider, query } = context
  const results = countAskedAbout(query.body.input)
  const wanted = { results, isTranscript: isTranscript(query), writtenFormat: format }
  const received = await readBytes(answer.body, provider.name, MAX_PLAIN_BYTES, context.request.held)
  const read =
    'whole' in received
      ? assessPassed(received.whole, wanted)
      : await offLoop.run(
          READ,
          { parts: received.gathered.parts, ...wanted },
          { owner: context.account.project_id, transfer: received.gathered.buffers },
        )
  const { bytes, hasResults, contentType } = read
  // Invalid JSON was probably cut.
  if (!read.isJson && contentType === null && isJson(answer))
    throw noResponse(provider.name, 'gave an answer that says it is JSON and is not')
  const reported = believedUsage(context, readPassedUsage(read.usage), stages)
  const usage = read.hasFailed
    ? spentBy(context, reported, stages, false)
    : spentBy(context, withSeconds(context, reported, read.transcript, stages), stages)
  await passAnswer(context, bytes, usage)
  await keep(context, answer, { bytes, hasResults }, usage, stages)
  finishMiss(context, usage, !read.hasFailed)
  const headers = answeredHeaders(context, answer, usage, stages)
  if (contentType !== null) headers['content-type'] = contentType
  return { status: answer.status, headers, body: bytes }
}

/** Each text has a result of its own; texts and pictures in parts have one together. */
function countAskedAbout(input: unknown): number {
  return Array.isArray(input) && input.every(each => typeof each === 'string') ? Math.max(1, input.length) : 1
}

/** Usage comes with the last event; until then the estimate stands. */
function answerInEvents(context: PassedContext, answer: UpstreamAnswer, stages: Stages): ProxyResponse {
  const { query, recorder, call } = context
  call.settle(NOT_SHAREABLE)
  recorder.recordHeadersReady()
  const prompt = { ...NO_USAGE, promptTokens: estimatePromptTokens(query.body, query.endpoint) }
  const expected = withSeconds(context, prompt, null, stages)
  const body = relayAnswer(recorder, answer, {
    abandoned: stages.calls.abandoned,
    hasEvents: true,
    onWhole(event) {
      const reported = event ? believedUsage(context, readUsageOfEvent(event), stages) : NO_USAGE
      const usage = withSeconds(context, reported, null, stages)
      finishMiss(context, spentBy(context, usage, stages))
    },
  })
  return {
    status: answer.status,
    headers: { ...answeredHeaders(context, answer, expected, stages), ...SSE_TYPE },
    body,
  }
}

/** Relays bytes that never report their usage. */
function answerAsItComes(context: PassedContext, answer: UpstreamAnswer, stages: Stages): ProxyResponse {
  const { recorder, cacheQuery, control } = context
  recorder.recordHeadersReady()
  const usage = spentBy(context, NO_USAGE, stages)
  const body =
    cacheQuery && control.store
      ? relayKeptSound(context, answer, usage, stages)
      : relayAnswer(recorder, answer, {
          abandoned: stages.calls.abandoned,
          hasEvents: false,
          onWhole: () => finishMiss(context, usage),
        })
  return { status: answer.status, headers: answeredHeaders(context, answer, usage, stages), body }
}

function relayKeptSound(
  context: PassedContext,
  answer: UpstreamAnswer,
  usage: SpentUsage,
  stages: Stages,
): ReadableStream<Uint8Array> {
  const { request, provider, recorder, call, subscriber } = context
  return relayKept(answer, {
    held: request.held,
    signal: request.signal,
    onLeft: subscriber.leave,
    onTooLong: () => call.settle(NOT_SHAREABLE),
    async onWhole(bytes) {
      if (bytes) await keep(context, answer, { bytes, hasResults: false }, usage, stages)
      finishMiss(context, usage)
    },
    onFailure(error) {
      const isTold = error instanceof ProxyError || error instanceof ClientGone
      const failure = isTold ? error : broken(provider.name, 'broke off its answer', undefined, error)
      call.settle({ kind: 'notShareable', failure })
      recorder.finishFailed(failure)
    },
  })
}

/** Stores the response for later requests, and settles the call for its followers. */
async function keep(
  context: PassedContext,
  answer: UpstreamAnswer,
  read: Omit<AnswerToKeep, 'contentType'>,
  usage: SpentUsage,
  stages: Stages,
): Promise<void> {
  const { call } = context
  const mayStore = answer.status === 200 && answer.mayStore()
  const kept = mayStore ? await storePassed(context, { contentType: typeOf(answer), ...read }, usage, stages) : null
  call.settle(kept === null ? NOT_SHAREABLE : { kind: 'complete', entry: entryOf(context, kept, usage, null) })
}

/**
 * What is told, recorded and taken from budgets. An error in place of an answer costs nothing; an answer that does not say what it used, the
 * most that it may.
 */
function spentBy(context: PassedContext, usage: PassedUsage, stages: Stages, isAnswer = true): SpentUsage {
  const { query, provider } = context
  const usd = usage === NO_USAGE && !isAnswer ? 0 : priceOfPassed(context, usage, stages)
  const most = usd === null ? chargeMost(describePricedCall(query, provider, stages.catalogue)) : null
  return most && !most.isUnpriced ? most : withCost(usage, usd)
}

function isOpenAis({ endpoint }: PassedQuery): boolean {
  const traits: OperationTraits = OPERATIONS[endpoint]
  return traits.isOpenAis ?? false
}

function isTranscript({ endpoint }: PassedQuery): boolean {
  return OPERATIONS[endpoint].hearsSound
}

function isJson(answer: UpstreamAnswer): boolean {
  return /^application\/(\S+\+)?json/i.test(typeOf(answer))
}

function typeOf({ headers }: UpstreamAnswer): string {
  return headers.get('content-type') ?? ''
}
