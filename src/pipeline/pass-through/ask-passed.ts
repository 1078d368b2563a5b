/** Asks the provider for a pass-through operation and relays its response: buffered if it reports usage, else as it arrives. */
import { NO_USAGE, type TokenUsage } from '../../catalogue/cost.ts'
import type { Settlement } from '../../coalescing/shared-call.ts'
import { ClientGone, ProxyError } from '../../errors.ts'
import { Job, offLoop } from '../../event-loop/off-loop.ts'
import { readBytes } from '../../providers/read-bytes.ts'
import type { UpstreamAnswer } from '../../providers/upstream.ts'
import { broken } from '../../providers/upstream-failure.ts'
import { estimatePromptTokens } from '../../tokens/count-tokens.ts'
import { entryOf, passedOn } from '../complete-call.ts'
import { type Attempt, CLIENT_GONE_STATUS, type ProxyResponse } from '../exchange.ts'
import { MAX_PLAIN_BYTES, readAll } from '../read-answer.ts'
import { missHeaders, SSE_TYPE } from '../response-headers.ts'
import type { Stages } from '../stages.ts'
import { judgePassed, type PassedAnswer } from './judge-passed.ts'
import type { AskingContext, PassedContext } from './passed-context.ts'
import { asPriced, type PassedUsage, priceOfPassed, readPassedUsage, readUsageOfEvent } from './passed-usage.ts'
import { relayAnswer } from './relay-answer.ts'
import { relayKept } from './relay-kept.ts'
import { type AnswerToKeep, storePassed } from './store-passed.ts'

const JUDGE = new Job<readonly Uint8Array[], PassedAnswer>(new URL('./judge-passed-job.ts', import.meta.url))

const NOT_SHAREABLE: Settlement = { kind: 'notShareable', failure: null }

/** Throws a ProxyError when the upstream could not be reached, or broke off before anything was sent. */
export async function askPassed(context: AskingContext, stages: Stages): Promise<Attempt> {
  const { request, query, account, provider, accounting, call } = context
  if (!provider.pass) throw new Error(`${provider.name} passes nothing on`)
  await stages.checkReferences(query.references, account, provider)
  accounting.noteAsked()
  const answer = await provider.pass({
    method: 'POST',
    path: `/${query.endpoint}`,
    body: query.passed,
    headers: request.headers,
    leavesTrace: false,
    isDownload: false,
    signal: call.signal,
  })
  if (answer.status >= 400) return passOnError(context, answer)
  const type = answer.headers.get('content-type') ?? ''
  if (/^application\/(\S+\+)?json/i.test(type)) return { response: await answerWhole(context, answer, stages) }
  if (/^text\/event-stream/i.test(type)) return { response: answerInEvents(context, answer, stages) }
  return { response: answerAsItComes(context, answer, stages) }
}

async function answerWhole(context: AskingContext, answer: UpstreamAnswer, stages: Stages): Promise<ProxyResponse> {
  const { provider } = context
  const received = await readBytes(answer.body, provider.name, MAX_PLAIN_BYTES)
  const read =
    'whole' in received
      ? judgePassed(received.whole)
      : await offLoop.run(JUDGE, received.gathered.parts, { transfer: received.gathered.buffers })
  const { bytes, hasResults } = read
  // Invalid JSON was probably cut.
  if (!read.isJson) throw broken(provider.name, 'gave an answer that says it is JSON and is not')
  const usage = readPassedUsage(read.usage)
  await keep(context, { contentType: typeOf(answer), bytes, hasResults }, usage, stages)
  const cost = priceOfPassed(context, usage, stages.catalogue)
  finish(context, usage, cost)
  return { status: answer.status, headers: { ...passedOn(answer), ...missOf(context, cost) }, body: bytes }
}

/** Usage comes with the last event; until then the estimate stands. */
function answerInEvents(context: AskingContext, answer: UpstreamAnswer, { catalogue }: Stages): ProxyResponse {
  const { query, accounting, call } = context
  call.settle(NOT_SHAREABLE)
  accounting.noteHeaders()
  const promptTokens = estimatePromptTokens(query.body, query.endpoint)
  const cost = priceOfPassed(context, { ...NO_USAGE, promptTokens }, catalogue)
  const body = relayAnswer(context, answer, {
    hasEvents: true,
    onWhole(event) {
      const usage = event && readUsageOfEvent(event)
      finish(context, usage, priceOfPassed(context, usage, catalogue))
    },
  })
  return { status: answer.status, headers: { ...passedOn(answer), ...SSE_TYPE, ...missOf(context, cost) }, body }
}

/** Relays bytes that never report their usage. */
function answerAsItComes(context: AskingContext, answer: UpstreamAnswer, stages: Stages): ProxyResponse {
  const { accounting, cacheQuery } = context
  accounting.noteHeaders()
  const cost = priceOfPassed(context, null, stages.catalogue)
  const headers = { ...passedOn(answer), ...missOf(context, cost) }
  const body = cacheQuery?.control.store
    ? relayKeptSound(context, answer, stages)
    : relayAnswer(context, answer, { hasEvents: false, onWhole: () => finish(context, null, cost) })
  return { status: answer.status, headers, body }
}

function relayKeptSound(context: AskingContext, answer: UpstreamAnswer, stages: Stages): ReadableStream<Uint8Array> {
  const { request, provider, accounting, call, subscriber } = context
  return relayKept(answer, {
    signal: request.signal,
    onLeft: subscriber.leave,
    onTooLong: () => call.settle(NOT_SHAREABLE),
    async onWhole(bytes) {
      if (bytes) await keep(context, { contentType: typeOf(answer), bytes, hasResults: false }, null, stages)
      finish(context, null, priceOfPassed(context, null, stages.catalogue))
    },
    onFailure(error) {
      const isTold = error instanceof ProxyError || error instanceof ClientGone
      const failure = isTold ? error : broken(provider.name, 'broke off its answer', undefined, error)
      call.settle({ kind: 'notShareable', failure })
      accounting.finishFailed(error)
    },
  })
}

/** Stores the response for later requests, and settles the call for its followers. */
async function keep(
  context: AskingContext,
  answer: AnswerToKeep,
  usage: TokenUsage | null,
  { cache }: Stages,
): Promise<void> {
  const { call } = context
  const kept = await storePassed(context, answer, usage, cache)
  if (kept === null) return call.settle(NOT_SHAREABLE)
  call.settle({ kind: 'complete', entry: entryOf(context, kept, usage ?? NO_USAGE) })
}

/** An upstream's error keeps its status, body and Retry-After. */
async function passOnError(context: AskingContext, answer: UpstreamAnswer): Promise<Attempt> {
  const body = await readAll(answer.body, context.provider.name)
  const failure = { status: answer.status, headers: { ...passedOn(answer), ...missOf(context, 0) }, body }
  context.call.settle({ kind: 'notShareable', failure })
  return { failure }
}

function typeOf({ headers }: UpstreamAnswer): string {
  return headers.get('content-type') ?? ''
}

function missOf({ provider, cacheQuery }: PassedContext, cost: number | null): Record<string, string> {
  const reason = cacheQuery && (cacheQuery.control.lookup ? 'no-candidate' : 'no-store')
  return missHeaders(provider.name, cost, reason ?? undefined)
}

function finish(
  { request, provider, accounting }: PassedContext,
  reported: PassedUsage | null,
  cost: number | null,
): void {
  accounting.noteHeaders()
  const { priced, usage } = asPriced(reported, cost)
  accounting.finish({
    status: request.signal.aborted ? CLIENT_GONE_STATUS : 200,
    counts: true,
    cacheResult: 'MISS',
    provider: provider.name,
    pricedAs: priced ? provider.pricedAs : null,
    usage,
  })
}
