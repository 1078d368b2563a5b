/**
 * Reads a provider's response to its first part before returning it. A failure inside a 200 before that part is a failure of the provider: it is
 * retried, counts for the circuit, and leads to a fallback.
 */

import { NO_OWNER } from '../event-loop/worker-pool.ts'
import { apiFormatOf } from '../formats/endpoint-formats.ts'
import {
  type AnalysisInput,
  analyzePlainResponse,
  type ResponseAnalysis,
  readPlainResponse,
} from './analyze-response.ts'
import { ResponseStream } from './response-stream.ts'
import type { StreamTimeouts } from './time-limits.ts'
import { TokenTimer } from './token-timer.ts'
import { isEventStream, type Provider, type UpstreamRequest, type UpstreamResponse } from './upstream.ts'
import { attachUsage, failedResponseError } from './upstream-failure.ts'

/** `limits` are the time limits of the process. A request may lower them. */
export function withResponseCheck(provider: Provider, limits: StreamTimeouts = NO_TIMEOUTS): Provider {
  return {
    ...provider,
    async send(request) {
      const timer = request.stream ? new TokenTimer(provider.name, request, limits) : null
      const sending = provider.send(timer ? { ...request, signal: timer.signal } : request)
      const response = await (timer?.wait(sending) ?? sending)
      const isChecked = response.status === 200 && request.endpoint !== 'embeddings' && !request.isCountOnly
      if (isChecked && timer && !response.plain && isEventStream(response)) return checkStream(response, request, timer)
      timer?.close()
      return isChecked ? checkPlainResponse(response, request, provider.name) : response
    },
  }
}

const NO_TIMEOUTS: StreamTimeouts = {
  firstByteTimeoutMs: Number.POSITIVE_INFINITY,
  idleTimeoutMs: Number.POSITIVE_INFINITY,
}

function analysisInputOf({ endpoint, body }: UpstreamRequest): AnalysisInput {
  return { endpoint, expected: apiFormatOf(endpoint).readExpectedOutput(body) }
}

async function checkPlainResponse(
  response: UpstreamResponse,
  request: UpstreamRequest,
  provider: string,
): Promise<UpstreamResponse> {
  if (response.plain) return throwIfFailed(response, response.plain)
  const plain = await readPlainResponse(response.body, provider, {
    ...analysisInputOf(request),
    owner: request.owner ?? NO_OWNER,
    held: request.responseMemory,
  })
  return throwIfFailed({ ...response, plain }, plain)
}

async function checkStream(
  response: UpstreamResponse,
  request: UpstreamRequest,
  timer: TokenTimer,
): Promise<UpstreamResponse> {
  const input = analysisInputOf(request)
  const stream = new ResponseStream(response.body, input, response.source ?? null, timer)
  const hasOutput = await stream.readToFirstPart().catch(error => {
    throw attachUsage(error, stream.analyze().usage)
  })
  if (stream.isPlain) {
    const plain = analyzePlainResponse(await stream.readPlain(), input)
    return throwIfFailed({ ...response, plain }, plain)
  }
  if (hasOutput) return { ...response, stream }
  const analysis = stream.analyze()
  if (analysis.failure) stream.cancel(analysis.failure.message)
  return throwIfFailed({ ...response, stream }, analysis)
}

/** Returns the response. Throws when it is a failure. */
function throwIfFailed(
  response: UpstreamResponse,
  { failure, completeness, usage }: ResponseAnalysis,
): UpstreamResponse {
  if (failure) throw failedResponseError(failure, completeness, usage)
  return response
}
