/**
 * Reads a provider's response to its first part before it counts as one: until then, a failure inside a 200 is a failure of the provider, which
 * is retried, counts for its circuit, and is answered by a fallback.
 */

import { NOBODY } from '../event-loop/off-loop.ts'
import { formatOf } from '../formats/format-of.ts'
import { judgePlain, type ResponseInput, type ResponseReading, readPlain } from './read-response.ts'
import { ResponseStream } from './response-stream.ts'
import { isEventStream, type Provider, type UpstreamAnswer, type UpstreamRequest } from './upstream.ts'
import { failedResponse, withUsage } from './upstream-failure.ts'

export function withReading(provider: Provider): Provider {
  return {
    ...provider,
    async ask(request) {
      const answer = await provider.ask(request)
      const isRead = answer.status === 200 && request.endpoint !== 'embeddings' && !request.onlyCounts
      return isRead ? readAnswer(answer, request, provider.name) : answer
    },
  }
}

async function readAnswer(answer: UpstreamAnswer, request: UpstreamRequest, provider: string): Promise<UpstreamAnswer> {
  const input = { endpoint: request.endpoint, wanted: formatOf(request.endpoint).wantedOf(request.body) }
  if (answer.plain) return accept(answer, answer.plain)
  if (!request.stream || !isEventStream(answer)) {
    const plain = await readPlain(answer.body, provider, {
      ...{ ...input, owner: request.owner ?? NOBODY },
      held: request.held,
    })
    return accept({ ...answer, plain }, plain)
  }
  return readStream(answer, input)
}

async function readStream(answer: UpstreamAnswer, input: ResponseInput): Promise<UpstreamAnswer> {
  const stream = new ResponseStream(answer.body, input, answer.source ?? null)
  const goesOn = await stream.readToFirstPart().catch(error => {
    throw withUsage(error, stream.judge().usage)
  })
  if (stream.isPlain) {
    const plain = judgePlain(await stream.readPlain(), input)
    return accept({ ...answer, plain }, plain)
  }
  if (goesOn) return { ...answer, stream }
  const reading = stream.judge()
  if (reading.failure) stream.cancel(reading.failure.message)
  return accept({ ...answer, stream }, reading)
}

/** Throws where the response is a failure. */
function accept(answer: UpstreamAnswer, { failure, completeness, usage }: ResponseReading): UpstreamAnswer {
  if (failure) throw failedResponse(failure, completeness, usage)
  return answer
}
