/** The operation for chat completions and other completions. */

import { readCacheControl } from '../../../cache/cache-control.ts'
import { recordedEndUserOf } from '../../../formats/end-user.ts'
import { apiFormatOf } from '../../../formats/endpoint-formats.ts'
import { readPlainResponse } from '../../../providers/analyze-response.ts'
import { replaceLongBody } from '../../../providers/long-body.ts'
import {
  isEventStream,
  type Provider,
  storesResponses,
  type TurnStore,
  type UpstreamResponse,
} from '../../../providers/upstream.ts'
import { failedResponseError } from '../../../providers/upstream-failure.ts'
import { readCompletionRequest } from '../../context/read-request.ts'
import type {
  AttemptResult,
  CoalescedOperation,
  LeaderContext,
  PipelineServices,
} from '../../context/request-context.ts'
import { resolveTimeLimits } from '../../context/time-limits.ts'
import { resetEchoedFields } from '../../conversations/echoed-fields.ts'
import { checkResponse } from '../../hook-checks/check-with-hook.ts'
import type { CompletionQuery } from '../../request/query.ts'
import type { ProxyResponse } from '../../request/request.ts'
import {
  calculateCost,
  createResponseHeaders,
  forwardUpstreamError,
  recordMiss,
  setStoredResponseId,
  settleCall,
  storeResponse,
} from '../../response/complete-call.ts'
import { addOmittedHeader, JSON_HEADERS, SSE_HEADERS } from '../../response/response-headers.ts'
import { createReplayOptions, replayStream, serveHit } from '../../response/serve-hit.ts'
import { describePricedCall } from '../../spending/estimate-usage.ts'
import { maxCost, maxPriceOf, requestSizeOf } from '../../spending/max-cost.ts'
import { resolveCallUsage } from '../../spending/resolve-usage.ts'
import { relayStream } from './relay-stream.ts'

export const completionOperation: CoalescedOperation = {
  sharesCalls: true,
  read: readCompletionRequest,
  serveHit,
  execute: callProvider,
  price: calculateCost,
}

/** Calls the provider. The call settles before a plain response is returned, or when a stream ends. */
async function callProvider(context: LeaderContext<CompletionQuery>, stages: PipelineServices): Promise<AttemptResult> {
  const { request, query, resolvedKey, provider, call, recorder } = context
  const { endpoint, body, bytes, stream } = query
  const rejectsUnsupportedTools = resolvedKey.unsupported_tools === 'refuse'
  const addsCacheBreakpoints = resolvedKey.anthropic_cache_marks === 'on'
  const size = () => requestSizeOf(query, { isLenient: true })
  const isTriedBeside = context.hasFallback && canSendTwice(query, provider)
  const callOptions = {
    ...{ endpoint, headers: request.headers, stream, rejectsUnsupportedTools, addsCacheBreakpoints },
    owner: resolvedKey.project_id,
    responseMemory: request.responseMemory,
    timeLimits: resolveTimeLimits(context),
    recordAttempt: recorder.attempts.record,
    signal: call.signal,
    isClientDisconnected: call.hasNoSubscribers,
    trial: context.isTrial ? ('itself' as const) : isTriedBeside ? ('beside' as const) : undefined,
    turns: openTurnStore(context, stages),
    maxPrice: recorder.spending?.hasBudgets ? maxPriceOf(size, provider, stages.catalogue) : undefined,
  }
  const upstream = await provider.send(
    bytes ? replaceLongBody(callOptions, body, bytes) : { ...callOptions, body, bodyText: query.text },
  )
  recorder.recordResponseHead(upstream)
  if (upstream.status !== 200) return forwardUpstreamError(context, upstream)
  if (upstream.stream || (stream && !upstream.plain && isEventStream(upstream)))
    return relayStream(context, upstream, stages)
  return { response: await createPlainResponse(context, upstream, stages) }
}

/** Whether a second request, as a trial beside the fallback, creates no second object at the provider. */
function canSendTwice({ endpoint, body, facts }: CompletionQuery, provider: Provider): boolean {
  const isStoredByDefault = endpoint === 'responses' && storesResponses(provider)
  const isStored = isStoredByDefault ? body.store !== false : body.store === true
  return !isStored && body.background !== true && facts.references.length === 0
}

async function createPlainResponse(
  context: LeaderContext<CompletionQuery>,
  upstream: UpstreamResponse,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { request, query, resolvedKey, provider, subscriber } = context
  const { endpoint, body } = query
  const owner = resolvedKey.project_id
  const expected = apiFormatOf(endpoint).readExpectedOutput(body)
  const read =
    upstream.plain ??
    (await readPlainResponse(upstream.body, provider.name, {
      endpoint,
      expected,
      owner,
      held: request.responseMemory,
    }))
  const { completeness, callsTools, failure, usage: reported, omitted } = read
  if (failure) throw failedResponseError(failure, completeness, reported)
  const bytes = query.echoedFields ? await resetEchoedFields(read.bytes, resolvedKey) : read.bytes
  const pricedCall = describePricedCall(query, provider, stages.catalogue)
  setStoredResponseId(context, read.id)
  const usage = await resolveCallUsage(pricedCall, read, owner)
  const decision = await checkResponse(context, bytes, usage)
  upstream.storeTurns?.(read.turns)
  const headers = createResponseHeaders(context, upstream, usage, stages)
  addOmittedHeader(headers, omitted)
  const response: ProxyResponse = query.stream
    ? {
        status: 200,
        headers: { ...headers, ...SSE_HEADERS },
        body: replayStream(bytes, createReplayOptions(context), { resolvedKey, held: request.responseMemory }),
      }
    : { status: 200, headers: { ...headers, ...JSON_HEADERS }, body: bytes }
  const isComplete = completeness === 'whole' && upstream.isStorable() && decision?.mayStore !== false
  const kind = { isSemantic: !callsTools, isStreamed: false, policy: decision?.policy ?? null }
  if (isComplete) await storeResponse(context, { bytes, ...kind }, usage, stages)
  settleCall(context, isComplete ? { bytes, decision } : null, usage)
  subscriber.leave()
  recordMiss(context, usage)
  return response
}

/**
 * Opens the stored turns of the request's key, and reserves the cost of what they add to the prompt. `find` looks up once, whatever the number of attempts. It throws like `RequestSpending.reserve`. Nothing is stored of a request that forbids it
 * (`Cache-Control: no-store`).
 */
export function openTurnStore(context: LeaderContext<CompletionQuery>, services: PipelineServices): TurnStore {
  const { query, resolvedKey } = context
  const store = services.storedTurns.open(resolvedKey, recordedEndUserOf(query.body))
  let finding: ReturnType<TurnStore['find']> | null = null
  return {
    store: readCacheControl(query.headers).store ? store.store : turn => void turn.catch(() => {}),
    find(turns) {
      finding ??= store.find(turns).then(async found => {
        const bytes = found.reduce(
          (sum, { extras }) => sum + (extras ? Buffer.byteLength(JSON.stringify(extras)) : 0),
          0,
        )
        if (bytes > 0) await reserveAddedBytes(context, bytes, services)
        return found
      })
      return finding
    },
  }
}

async function reserveAddedBytes(
  { query, provider, recorder: { spending }, call }: LeaderContext<CompletionQuery>,
  bytes: number,
  { catalogue }: PipelineServices,
): Promise<void> {
  if (!spending) return
  const size = requestSizeOf(query, { isLenient: true })
  const before = maxCost(size, provider, catalogue)
  const after = maxCost({ ...size, bytes: size.bytes + bytes }, provider, catalogue)
  if (!before || !after) return
  const added = (one: number | null, other: number | null) => (one === null || other === null ? null : other - one)
  const bound = { usd: added(before.usd, after.usd), tokens: added(before.tokens, after.tokens) }
  if (bound.usd !== 0 || bound.tokens !== 0) await spending.reserveAddition(query.model, bound, call.signal)
}
