/** Translates Anthropic's responses into OpenAI's format: plain, streamed, and errors. */
import type { Message } from '@anthropic-ai/sdk/resources/messages'
import { ProxyError } from '../../../errors/errors.ts'
import { ChoicesAssembler } from '../../../formats/chat/choices-assembler.ts'
import { isUpstreamFailure } from '../../../formats/chat/completeness.ts'
import { CHUNKS_FIELD } from '../../../formats/chat/part-reader.ts'
import { toProxyError, writeOpenAiError } from '../../../formats/errors/client-error.ts'
import { readProviderError } from '../../../formats/errors/provider-error.ts'
import { isJsonObject, type JsonObject } from '../../../formats/json/canonical.ts'
import { tryParseLosslessJson } from '../../../formats/json/lossless-json.ts'
import { createMessageAssembler, isThinkingBlock } from '../../../formats/messages/assemble-message.ts'
import { readPlainResponseBody } from '../../../formats/read-plain-response-body.ts'
import { readAllBytes } from '../../read-bytes.ts'
import { translateEvents } from '../../translate-events.ts'
import { isEventStream, type UpstreamRequest, type UpstreamResponse } from '../../upstream.ts'
import { emptyResponseError, UpstreamFailure } from '../../upstream-failure.ts'
import { type AnthropicResponseContext, providerNameOf } from './response-context.ts'
import { type AnthropicEvent, StreamTranslator } from './stream-translator.ts'

/** Keeps the status and the headers, including `Retry-After` and rate limits. With `isTranslated`, a plain response also contains its chunks. */
export async function translateUpstreamResponse(
  response: UpstreamResponse,
  context: AnthropicResponseContext,
  { stream, isTranslated = false, responseMemory }: Pick<UpstreamRequest, 'stream' | 'isTranslated' | 'responseMemory'>,
): Promise<UpstreamResponse> {
  const { status } = response
  if (status === 200 && stream && isEventStream(response)) return translateStreamed(response, context)
  const bytes = await readAllBytes(response.body, providerNameOf(context), Number.POSITIVE_INFINITY, responseMemory)
  if (status !== 200) {
    const error = readProviderError(new TextDecoder().decode(bytes), status)
    const { status: clientStatus, body } = writeOpenAiError(error)
    return { ...withJsonBody(response, status, body), clientStatus }
  }
  const { body = null, stream: assembled = null } =
    readPlainResponseBody(bytes, createMessageAssembler, tryParseLosslessJson) ?? {}
  const failure = assembled && isUpstreamFailure(assembled.completeness) ? assembled.error : null
  if (body?.type === 'error' || failure) throw toProxyError(failure ?? body)
  if (!isMessage(body)) throw emptyResponseError(providerNameOf(context), 'sent a response that is not a message')
  return withJsonBody(response, status, translateResponse(body, context, isTranslated))
}

/** Translates a stream. A stream that begins with an error becomes an error response with its status, so that the client can retry. */
async function translateStreamed(
  response: UpstreamResponse,
  context: AnthropicResponseContext,
): Promise<UpstreamResponse> {
  try {
    return { ...response, body: await translateStream(response.body, context) }
  } catch (error) {
    if (!(error instanceof ProxyError) || error instanceof UpstreamFailure) throw error
    return withJsonBody(response, error.status, error.toBody())
  }
}

const encoder = new TextEncoder()

/** Translates a stream. Rejects and throws as `translateEvents` does. */
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

function withJsonBody(response: UpstreamResponse, status: number, value: unknown): UpstreamResponse {
  response.headers.set('content-type', 'application/json')
  return { ...response, status, body: new Blob([JSON.stringify(value)]).stream() }
}

/**
 * Returns a `chat.completion`. Blocks of Anthropic's server tools are omitted, because the text contains their results. With `keepsOrder`, the
 * completion also contains its chunks if they have an order of blocks that a chat message cannot represent.
 */
export function translateResponse(message: Message, context: AnthropicResponseContext, keepsOrder = false): JsonObject {
  const assembler = new ChoicesAssembler(() => {})
  const chunks = toChunks(message, context)
  for (const { choices } of chunks) assembler.merge(choices)
  return {
    ...chunks.at(-1),
    object: 'chat.completion',
    choices: assembler.finish().choices,
    ...(keepsOrder && hasLaterThinking(message) && { [CHUNKS_FIELD]: toChunks(message, context) }),
  }
}

function toChunks(message: Message, context: AnthropicResponseContext): JsonObject[] {
  const { content, stop_reason, stop_sequence, stop_details, container, usage } = message
  const delta = { stop_reason, stop_sequence, stop_details, container }
  const events: AnthropicEvent[] = [
    { type: 'message_start', message },
    ...content.flatMap((content_block, index): AnthropicEvent[] => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta, usage },
    { type: 'message_stop' },
  ]
  const translator = new StreamTranslator(context)
  return events.flatMap(event => translator.translate(event))
}

/** Returns whether a thinking block follows another kind of block. In a chat message, all thinking comes first. */
function hasLaterThinking({ content }: Message): boolean {
  const isThinking = content.map(isThinkingBlock)
  return isThinking.indexOf(false) >= 0 && isThinking.lastIndexOf(true) > isThinking.indexOf(false)
}
