/** Operations that are passed on: images, sound, moderations, rankings. Buffered if they report usage, else relayed as they arrive. */

import { ClientGone, ProxyError } from '../../errors/errors.ts'
import { Job, offLoop } from '../../event-loop/off-loop.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../formats/tokens/count-tokens.ts'
import { MAX_PLAIN_BYTES, readBytes } from '../../providers/read-bytes.ts'
import type { UpstreamAnswer } from '../../providers/upstream.ts'
import { broken } from '../../providers/upstream-failure.ts'
import type { Settlement } from '../coalescing/shared-call.ts'
import { answeredHeaders, entryOf, finishMiss, passOnError } from '../complete-call.ts'
import { askedCall, presumeMost } from '../presumed-usage.ts'
import type { PassedQuery } from '../query.ts'
import type { ProxyResponse } from '../request.ts'
import type { Attempt, LeadingContext, SharedOperation, Stages } from '../request-context.ts'
import { SSE_TYPE } from '../response-headers.ts'
import { assessPassed, type PassedAnswer, type PassedToAssess } from './assess-passed.ts'
import { type PassedUsage, priceOfPassed, readPassedUsage, readUsageOfEvent, withCost } from './passed-usage.ts'
import { readPassed } from './read-passed.ts'
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
  const { request, query, provider, accounting, call } = context
  if (!provider.pass) throw new Error(`${provider.name} passes nothing on`)
  const answer = await provider.pass({
    method: 'POST',
    path: `/${query.endpoint}`,
    body: query.passed,
    headers: request.headers,
    leavesTrace: false,
    isDownload: false,
    signal: call.signal,
  })
  accounting.noteAnswered(answer)
  if (answer.status >= 400) return passOnError(context, answer)
  const type = typeOf(answer)
  if (/^application\/(\S+\+)?json/i.test(type)) return { response: await answerWhole(context, answer, stages) }
  if (/^text\/event-stream/i.test(type)) return { response: answerInEvents(context, answer, stages) }
  return { response: answerAsItComes(context, answer, stages) }
}

async function answerWhole(context: PassedContext, answer: UpstreamAnswer, stages: Stages): Promise<ProxyResponse> {
  const { provider, query } = context
  const wanted = { results: countAskedAbout(query.body.input) }
  const received = await readBytes(answer.body, provider.name, MAX_PLAIN_BYTES)
  const read =
    'whole' in received
      ? assessPassed(received.whole, wanted)
      : await offLoop.run(
          READ,
          { parts: received.gathered.parts, ...wanted },
          { owner: context.account.project_id, transfer: received.gathered.buffers },
        )
  const { bytes, hasResults } = read
  // Invalid JSON was probably cut.
  if (!read.isJson) throw broken(provider.name, 'gave an answer that says it is JSON and is not')
  const usage = readPassedUsage(read.usage)
  await keep(context, answer, { bytes, hasResults }, usage, stages)
  finish(context, usage, stages, !read.hasFailed)
  return { status: answer.status, headers: answeredHeaders(context, answer, usage, stages), body: bytes }
}

/** Each text has a result of its own; texts and pictures in parts have one together. */
function countAskedAbout(input: unknown): number {
  return Array.isArray(input) && input.every(each => typeof each === 'string') ? Math.max(1, input.length) : 1
}

/** Usage comes with the last event; until then the estimate stands. */
function answerInEvents(context: PassedContext, answer: UpstreamAnswer, stages: Stages): ProxyResponse {
  const { query, accounting, call } = context
  call.settle(NOT_SHAREABLE)
  accounting.noteHeaders()
  const expected = { ...NO_USAGE, promptTokens: estimatePromptTokens(query.body, query.endpoint) }
  const body = relayAnswer(accounting, answer, {
    hasEvents: true,
    onWhole: event => finish(context, event ? readUsageOfEvent(event) : NO_USAGE, stages),
  })
  return {
    status: answer.status,
    headers: { ...answeredHeaders(context, answer, expected, stages), ...SSE_TYPE },
    body,
  }
}

/** Relays bytes that never report their usage. */
function answerAsItComes(context: PassedContext, answer: UpstreamAnswer, stages: Stages): ProxyResponse {
  const { accounting, cacheQuery, control } = context
  accounting.noteHeaders()
  const body =
    cacheQuery && control.store
      ? relayKeptSound(context, answer, stages)
      : relayAnswer(accounting, answer, { hasEvents: false, onWhole: () => finish(context, NO_USAGE, stages) })
  return { status: answer.status, headers: answeredHeaders(context, answer, NO_USAGE, stages), body }
}

function relayKeptSound(context: PassedContext, answer: UpstreamAnswer, stages: Stages): ReadableStream<Uint8Array> {
  const { request, provider, accounting, call, subscriber } = context
  return relayKept(answer, {
    signal: request.signal,
    onLeft: subscriber.leave,
    onTooLong: () => call.settle(NOT_SHAREABLE),
    async onWhole(bytes) {
      if (bytes) await keep(context, answer, { bytes, hasResults: false }, NO_USAGE, stages)
      finish(context, NO_USAGE, stages)
    },
    onFailure(error) {
      const isTold = error instanceof ProxyError || error instanceof ClientGone
      const failure = isTold ? error : broken(provider.name, 'broke off its answer', undefined, error)
      call.settle({ kind: 'notShareable', failure })
      accounting.finishFailed(failure)
    },
  })
}

/** Stores the response for later requests, and settles the call for its followers. */
async function keep(
  context: PassedContext,
  answer: UpstreamAnswer,
  read: Omit<AnswerToKeep, 'contentType'>,
  usage: PassedUsage,
  stages: Stages,
): Promise<void> {
  const { call } = context
  const mayStore = answer.status === 200 && answer.mayStore()
  const kept = mayStore ? await storePassed(context, { contentType: typeOf(answer), ...read }, usage, stages) : null
  call.settle(kept === null ? NOT_SHAREABLE : { kind: 'complete', entry: entryOf(context, kept, usage) })
}

/** An error in place of an answer costs nothing; an answer that does not say what it used, the most that it may. */
function finish(context: PassedContext, usage: PassedUsage, stages: Stages, counts = true): void {
  const { query, provider } = context
  const usd = usage === NO_USAGE && !counts ? 0 : priceOfPassed(context, usage, stages)
  const most = usd === null ? presumeMost(askedCall(query, provider, stages.catalogue)) : null
  finishMiss(context, most && !most.isUnpriced ? most : withCost(usage, usd), counts)
}

function typeOf({ headers }: UpstreamAnswer): string {
  return headers.get('content-type') ?? ''
}
