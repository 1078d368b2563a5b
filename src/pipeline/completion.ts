/** Chat and other completions: what a model answers to a whole request. */
import { formatOf } from '../formats/format-of.ts'
import { withLongBody } from '../providers/long-body.ts'
import { readPlain } from '../providers/read-response.ts'
import { isEventStream, type UpstreamAnswer } from '../providers/upstream.ts'
import { failedResponse } from '../providers/upstream-failure.ts'
import { passAnswer } from './checks/pass-answer.ts'
import {
  answeredHeaders,
  entryOf,
  finishMiss,
  passOnError,
  priceOf,
  setStoredId,
  storeResponse,
} from './complete-call.ts'
import { shareBytes } from './own-fields.ts'
import type { CompletionQuery } from './query.ts'
import { readCompletion } from './read-request.ts'
import { relayStream } from './relay-stream.ts'
import type { ProxyResponse } from './request.ts'
import type { Attempt, LeadingContext, SharedOperation, Stages } from './request-context.ts'
import { JSON_TYPE, nameOmitted, SSE_TYPE } from './response-headers.ts'
import { replayOf, replayStream, serveHit } from './serve-hit.ts'
import { describePricedCall } from './spending/estimate-usage.ts'
import { maxPriceOf, sizeOf } from './spending/max-cost.ts'
import { usageOf } from './spending/usage-of-call.ts'

export const completion: SharedOperation = {
  sharesCalls: true,
  read: readCompletion,
  serveHit,
  ask,
  price: priceOf,
}

/** The call is settled before a plain response is returned; behind a streamed one it settles when the stream ends. */
async function ask(context: LeadingContext<CompletionQuery>, stages: Stages): Promise<Attempt> {
  const { request, query, account, provider, call, recorder } = context
  const { endpoint, body, bytes, stream } = query
  const refusesTools = account.unsupported_tools === 'refuse'
  const marksCache = account.anthropic_cache_marks === 'on'
  const size = () => sizeOf(query, { isLenient: true })
  const asked = {
    ...{ endpoint, headers: request.headers, stream, refusesTools, marksCache },
    owner: account.project_id,
    held: request.held,
    signal: call.signal,
    isLeft: call.isLeft,
    maxPrice: recorder.spending?.hasBudgets ? maxPriceOf(size, provider, stages.catalogue) : undefined,
  }
  const answer = await provider.ask(bytes ? withLongBody(asked, body, bytes) : { ...asked, body, bodyText: query.text })
  recorder.recordResponseHead(answer)
  if (answer.status !== 200) return passOnError(context, answer)
  if (answer.stream || (stream && !answer.plain && isEventStream(answer))) return relayStream(context, answer, stages)
  return { response: await answerPlain(context, answer, stages) }
}

async function answerPlain(
  context: LeadingContext<CompletionQuery>,
  answer: UpstreamAnswer,
  stages: Stages,
): Promise<ProxyResponse> {
  const { request, query, account, provider, subscriber } = context
  const { endpoint, body } = query
  const owner = account.project_id
  const wanted = formatOf(endpoint).wantedOf(body)
  const read =
    answer.plain ?? (await readPlain(answer.body, provider.name, { endpoint, wanted, owner, held: request.held }))
  const { completeness, callsTools, failure, usage: reported, omitted } = read
  if (failure) throw failedResponse(failure, completeness, reported)
  const bytes = query.ownFields ? await shareBytes(read.bytes, account) : read.bytes
  const asked = describePricedCall(query, provider, stages.catalogue)
  setStoredId(context, read.id)
  const usage = await usageOf(asked, read, owner)
  const passed = await passAnswer(context, bytes, usage)
  const headers = answeredHeaders(context, answer, usage, stages)
  nameOmitted(headers, omitted)
  const response: ProxyResponse = query.stream
    ? {
        status: 200,
        headers: { ...headers, ...SSE_TYPE },
        body: replayStream(bytes, replayOf(context), { account, held: request.held }),
      }
    : { status: 200, headers: { ...headers, ...JSON_TYPE }, body: bytes }
  const isComplete = completeness === 'whole' && answer.mayStore() && passed?.mayStore !== false
  const kind = { isSemantic: !callsTools, isStreamed: false, policy: passed?.policy ?? null }
  if (isComplete) await storeResponse(context, { bytes, ...kind }, usage, stages)
  context.call.settle(
    isComplete
      ? { kind: 'complete', entry: entryOf(context, bytes, usage, passed) }
      : { kind: 'notShareable', failure: null },
  )
  subscriber.leave()
  finishMiss(context, usage)
  return response
}
