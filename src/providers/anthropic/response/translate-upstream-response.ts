/** Translates Anthropic's responses into OpenAI's format: plain, streamed, and errors. */
import type { Message } from '@anthropic-ai/sdk/resources/messages'
import { ProxyError } from '../../../errors/errors.ts'
import { isUpstreamFailure } from '../../../formats/chat/completeness.ts'
import { toProxyError, writeOpenAiError } from '../../../formats/errors/client-error.ts'
import { readProviderError } from '../../../formats/errors/provider-error.ts'
import { isJsonObject } from '../../../formats/json/canonical.ts'
import { tryParseLosslessJson } from '../../../formats/json/lossless-json.ts'
import { createMessageAssembler } from '../../../formats/messages/assemble-message.ts'
import { readPlainResponseBody } from '../../../formats/read-plain-response-body.ts'
import { readAllBytes } from '../../read-bytes.ts'
import { translateEvents } from '../../translate-events.ts'
import { isEventStream, type UpstreamRequest, type UpstreamResponse } from '../../upstream.ts'
import { emptyResponseError, UpstreamFailure } from '../../upstream-failure.ts'
import { type AnthropicResponseContext, providerNameOf } from './response-context.ts'
import { StreamTranslator } from './stream-translator.ts'
import { translateResponse } from './translate-response.ts'

/** Keeps status and headers, including `Retry-After` and rate limits. `isTranslatableEndpoint`: a plain answer has its chunks as well. */
export async function translateUpstreamResponse(
  answer: UpstreamResponse,
  context: AnthropicResponseContext,
  { stream, isTranslated = false, responseMemory }: Pick<UpstreamRequest, 'stream' | 'isTranslated' | 'responseMemory'>,
): Promise<UpstreamResponse> {
  const { status } = answer
  if (status === 200 && stream && isEventStream(answer)) return translateStreamed(answer, context)
  const bytes = await readAllBytes(answer.body, providerNameOf(context), Number.POSITIVE_INFINITY, responseMemory)
  if (status !== 200) {
    const error = readProviderError(new TextDecoder().decode(bytes), status)
    const { status: clientStatus, body } = writeOpenAiError(error)
    return { ...writeAnswer(answer, status, body), clientStatus }
  }
  const { body = null, stream: assembled = null } =
    readPlainResponseBody(bytes, createMessageAssembler, tryParseLosslessJson) ?? {}
  const failure = assembled && isUpstreamFailure(assembled.completeness) ? assembled.error : null
  if (body?.type === 'error' || failure) throw toProxyError(failure ?? body)
  if (!isMessage(body)) throw emptyResponseError(providerNameOf(context), 'gave an answer that is not a message')
  return writeAnswer(answer, status, translateResponse(body, context, isTranslated))
}

/** A stream that begins with an error becomes an error response with its status, so that the client may retry. */
async function translateStreamed(
  answer: UpstreamResponse,
  context: AnthropicResponseContext,
): Promise<UpstreamResponse> {
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
  context: AnthropicResponseContext,
): Promise<ReadableStream<Uint8Array>> {
  const translator = new StreamTranslator(context)
  const encode = (payloads: readonly string[]) =>
    payloads.length > 0 ? encoder.encode(payloads.map(payload => `data: ${payload}\n\n`).join('')) : null
  return translateEvents(upstream, {
    push: ({ data, event }) => encode(translator.push(data, event)),
    get isDone() {
      return translator.isDone
    },
    end: () => encode(translator.end()),
    flushOnError: () => encode(translator.flushOnError()),
  })
}

function isMessage(body: unknown): body is Message {
  if (!isJsonObject(body) || body.type !== 'message' || !Array.isArray(body.content)) return false
  return isJsonObject(body.usage) || body.content.length > 0
}

function writeAnswer(answer: UpstreamResponse, status: number, value: unknown): UpstreamResponse {
  answer.headers.set('content-type', 'application/json')
  return { ...answer, status, body: new Blob([JSON.stringify(value)]).stream() }
}
