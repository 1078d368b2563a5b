/**
 * Reads a provider's response to its first part before it counts as one: until then, a failure inside a 200 is a failure of the provider, which
 * is retried, counts for its circuit, and is answered by a fallback.
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
      const answer = await provider.send(request)
      const isRead = answer.status === 200 && request.endpoint !== 'embeddings' && !request.isCountOnly
      return isRead ? readAnswer(answer, request, provider.name) : answer
    },
  }
}

async function readAnswer(
  answer: UpstreamResponse,
  request: UpstreamRequest,
  provider: string,
): Promise<UpstreamResponse> {
  const input = { endpoint: request.endpoint, expected: apiFormatOf(request.endpoint).readExpectedOutput(request.body) }
  if (answer.plain) return accept(answer, answer.plain)
  if (!request.stream || !isEventStream(answer)) {
    const plain = await readPlainResponse(answer.body, provider, {
      ...{ ...input, owner: request.owner ?? NO_OWNER },
      held: request.responseMemory,
    })
    return accept({ ...answer, plain }, plain)
  }
  return readStream(answer, input)
}

async function readStream(answer: UpstreamResponse, input: AnalysisInput): Promise<UpstreamResponse> {
  const stream = new ResponseStream(answer.body, input, answer.source ?? null)
  const goesOn = await stream.readToFirstPart().catch(error => {
    throw attachUsage(error, stream.analyze().usage)
  })
  if (stream.isPlain) {
    const plain = analyzePlainResponse(await stream.readPlain(), input)
    return accept({ ...answer, plain }, plain)
  }
  if (goesOn) return { ...answer, stream }
  const reading = stream.analyze()
  if (reading.failure) stream.cancel(reading.failure.message)
  return accept({ ...answer, stream }, reading)
}

/** Throws where the response is a failure. */
function accept(answer: UpstreamResponse, { failure, completeness, usage }: ResponseAnalysis): UpstreamResponse {
  if (failure) throw failedResponseError(failure, completeness, usage)
  return answer
}
