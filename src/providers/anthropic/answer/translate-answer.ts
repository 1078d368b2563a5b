/** Translates Anthropic's responses into OpenAI's format: plain, streamed, and errors. */
import type { Message } from '@anthropic-ai/sdk/resources/messages'
import { ProxyError } from '../../../errors/errors.ts'
import { writeOpenAiError } from '../../../formats/errors/client-error.ts'
import { readProviderError } from '../../../formats/errors/provider-error.ts'
import { isJsonObject } from '../../../formats/json/canonical.ts'
import { parseExactlyIfValid } from '../../../formats/json/exact-json.ts'
import { readAll } from '../../read-bytes.ts'
import { translateEvents } from '../../translate-events.ts'
import type { UpstreamAnswer } from '../../upstream.ts'
import { noResponse, UpstreamFailure } from '../../upstream-failure.ts'
import { type AnswerContext, answererOf } from './answer-context.ts'
import { StreamTranslator } from './stream-translator.ts'
import { translateResponse } from './translate-response.ts'

/** Keeps status and headers, including `Retry-After` and rate limits. `keepsOrder`: a plain answer has its chunks as well. */
export async function translateAnswer(
  answer: UpstreamAnswer,
  context: AnswerContext,
  keepsOrder = false,
): Promise<UpstreamAnswer> {
  const { status, headers } = answer
  const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false
  if (status === 200 && isStream) return translateStreamed(answer, context)
  const bytes = await readAll(answer.body, answererOf(context), Number.POSITIVE_INFINITY)
  // A gateway may respond with HTML.
  const body = parseExactlyIfValid(new TextDecoder().decode(bytes))
  if (status !== 200) return writeAnswer(answer, status, translateError(body, status).toBody())
  if (!isMessage(body)) throw noResponse(answererOf(context), 'gave an answer that is not a message')
  return writeAnswer(answer, status, translateResponse(body, context, keepsOrder))
}

/** A stream that begins with an error becomes an error response with its status, so that the client may retry. */
async function translateStreamed(answer: UpstreamAnswer, context: AnswerContext): Promise<UpstreamAnswer> {
  try {
    return { ...answer, body: await translateStream(answer.body, context) }
  } catch (error) {
    if (!(error instanceof ProxyError) || error instanceof UpstreamFailure) throw error
    return writeAnswer(answer, error.status, error.toBody())
  }
}

const encoder = new TextEncoder()

/** As `translateEvents`. */
export function translateStream(
  upstream: ReadableStream<Uint8Array>,
  context: AnswerContext,
): Promise<ReadableStream<Uint8Array>> {
  const translator = new StreamTranslator(context)
  const write = (payloads: readonly string[]) =>
    payloads.length > 0 ? encoder.encode(payloads.map(payload => `data: ${payload}\n\n`).join('')) : null
  return translateEvents(upstream, answererOf(context), {
    push: ({ data }) => write(translator.push(data)),
    get isDone() {
      return translator.isDone
    },
    breakOff: () => write(translator.breakOff()),
  })
}

function isMessage(body: unknown): body is Message {
  if (!isJsonObject(body) || body.type !== 'message' || !Array.isArray(body.content)) return false
  return isJsonObject(body.usage) || body.content.length > 0
}

function writeAnswer(answer: UpstreamAnswer, status: number, value: unknown): UpstreamAnswer {
  answer.headers.set('content-type', 'application/json')
  return { ...answer, status, body: new Blob([JSON.stringify(value)]).stream() }
}
