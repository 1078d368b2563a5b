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
import { isEventStream, type Provider, type UpstreamRequest, type UpstreamResponse } from './upstream.ts'
import { attachUsage, failedResponseError } from './upstream-failure.ts'

export function withResponseCheck(provider: Provider): Provider {
  return {
    ...provider,
    async send(request) {
      const response = await provider.send(request)
      const isChecked = response.status === 200 && request.endpoint !== 'embeddings' && !request.isCountOnly
      return isChecked ? checkResponse(response, request, provider.name) : response
    },
  }
}

async function checkResponse(
  response: UpstreamResponse,
  request: UpstreamRequest,
  provider: string,
): Promise<UpstreamResponse> {
  const input = { endpoint: request.endpoint, expected: apiFormatOf(request.endpoint).readExpectedOutput(request.body) }
  if (response.plain) return throwIfFailed(response, response.plain)
  if (!request.stream || !isEventStream(response)) {
    const plain = await readPlainResponse(response.body, provider, {
      ...{ ...input, owner: request.owner ?? NO_OWNER },
      held: request.responseMemory,
    })
    return throwIfFailed({ ...response, plain }, plain)
  }
  return checkStream(response, input)
}

async function checkStream(response: UpstreamResponse, input: AnalysisInput): Promise<UpstreamResponse> {
  const stream = new ResponseStream(response.body, input, response.source ?? null)
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
