/** Asks the provider for what is passed on, and passes its answer back: whole where it tells what it used, else as it comes. */
import { NO_USAGE, type TokenUsage } from '../../catalogue/cost.ts'
import { ClientGone } from '../../errors.ts'
import { parseJsonObject } from '../../json/json-object.ts'
import type { UpstreamAnswer } from '../../providers/upstream.ts'
import { estimatePromptTokens } from '../../tokens/count-tokens.ts'
import { passedOn } from '../complete-call.ts'
import { CLIENT_GONE_STATUS, type ProxyResponse } from '../exchange.ts'
import { readAll } from '../read-answer.ts'
import { missHeaders, SSE_TYPE } from '../response-headers.ts'
import type { Stages } from '../stages.ts'
import type { PassedContext } from './passed-context.ts'
import { priceOfPassed, readPassedUsage, readUsageOfEvent } from './passed-usage.ts'
import { relayAnswer } from './relay-answer.ts'
import { storePassed } from './store-passed.ts'
import { MAX_SOUND_BYTES } from './stored-sound.ts'

/** Throws a ProxyError where upstream could not be reached, or broke off before anything was sent. */
export async function askPassed(context: PassedContext, stages: Stages): Promise<ProxyResponse> {
  const { request, query, account, provider, accounting } = context
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
    signal: leavingOf(request.signal),
  })
  if (answer.status >= 400) return passOnError(context, answer)
  const type = answer.headers.get('content-type') ?? ''
  if (/^application\/(\S+\+)?json/i.test(type)) return answerWhole(context, answer, stages)
  return answerAsItComes(context, answer, /^text\/event-stream/i.test(type), stages)
}

/** Aborted, with a ClientGone, when the client leaves. */
export function leavingOf(signal: AbortSignal): AbortSignal {
  const leaving = new AbortController()
  const leave = () => leaving.abort(new ClientGone())
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  return leaving.signal
}

async function answerWhole(context: PassedContext, answer: UpstreamAnswer, stages: Stages): Promise<ProxyResponse> {
  const { provider } = context
  const bytes = await readAll(answer.body, provider.name)
  const usage = readPassedUsage(parseJsonObject(new TextDecoder().decode(bytes))?.usage)
  const contentType = answer.headers.get('content-type') ?? ''
  await storePassed(context, { contentType, bytes }, usage, stages.cache)
  const cost = priceOfPassed(context, usage, stages.catalogue)
  finish(context, usage)
  return { status: answer.status, headers: { ...passedOn(answer), ...missOf(context, cost) }, body: bytes }
}

function answerAsItComes(
  context: PassedContext,
  answer: UpstreamAnswer,
  hasEvents: boolean,
  stages: Stages,
): ProxyResponse {
  const { query, accounting } = context
  accounting.noteHeaders()
  const contentType = answer.headers.get('content-type') ?? ''
  // Events tell at their end what was used: until then the estimate stands. Other bytes never tell.
  const promptTokens = estimatePromptTokens(query.body, query.endpoint)
  const cost = priceOfPassed(context, hasEvents ? { ...NO_USAGE, promptTokens } : null, stages.catalogue)
  const body = relayAnswer(context, answer, {
    hasEvents,
    mostHeldBytes: context.cacheQuery?.control.store ? MAX_SOUND_BYTES : 0,
    async onWhole({ event, held }) {
      const usage = event && readUsageOfEvent(event)
      if (held) await storePassed(context, { contentType, bytes: held }, usage, stages.cache)
      finish(context, usage)
    },
  })
  const headers = { ...passedOn(answer), ...(hasEvents && SSE_TYPE), ...missOf(context, cost) }
  return { status: answer.status, headers, body }
}

/** An upstream's own error keeps its status, body and Retry-After, and does not count. */
async function passOnError(context: PassedContext, answer: UpstreamAnswer): Promise<ProxyResponse> {
  const { provider, accounting } = context
  const body = await readAll(answer.body, provider.name)
  accounting.noteHeaders()
  accounting.finish({
    status: answer.status,
    counts: false,
    cacheResult: 'MISS',
    provider: provider.name,
    pricedAs: null,
    usage: NO_USAGE,
  })
  return { status: answer.status, headers: { ...passedOn(answer), ...missOf(context, 0) }, body }
}

function missOf({ provider, cacheQuery }: PassedContext, cost: number | null): Record<string, string> {
  const reason = cacheQuery && (cacheQuery.control.lookup ? 'no-candidate' : 'no-store')
  return missHeaders(provider.name, cost, reason ?? undefined)
}

function finish({ request, provider, accounting }: PassedContext, usage: TokenUsage | null): void {
  accounting.noteHeaders()
  accounting.finish({
    status: request.signal.aborted ? CLIENT_GONE_STATUS : 200,
    counts: true,
    cacheResult: 'MISS',
    provider: provider.name,
    pricedAs: provider.pricedAs,
    usage: usage ?? NO_USAGE,
  })
}
