/** Translates requests and responses of the other two APIs to and from chat completions. */

import type { ExtrasKeys } from './chat/carried.ts'
import type { PartReader } from './chat/read-parts.ts'
import { type ClientError, writeOpenAiError } from './errors/client-error.ts'
import type { ProviderError } from './errors/provider-error.ts'
import { dropHostedTools } from './hosted-tools.ts'
import { type JsonObject, textOf } from './json/canonical.ts'
import { createMessageAssembler } from './messages/assemble-message.ts'
import { GrowingMessage, type MessageContext } from './messages/growing-message.ts'
import { writeProviderError } from './messages/message-errors.ts'
import { type ChatTarget, messageToChat } from './messages/message-request-to-chat.ts'
import { nameOwnField, writeOwnNames } from './own-place.ts'
import { GrowingResponse } from './responses/growing-response.ts'
import { omittedItems } from './responses/other-items.ts'
import { responseToChat } from './responses/response-request-to-chat.ts'
import { type ResponseContext, readResponseContext } from './responses/write-response.ts'
import type { TypedEvent } from './sse/sse.ts'
import { countPromptTokens, estimatePromptTokens } from './tokens/count-tokens.ts'
import { type SourceReading, StreamTranslation, translatePlainResponse } from './translate-response.ts'
import { type Wanted, wantedOfChat } from './wanted.ts'

/** One request's context, as plain data that can be sent to a worker. */
export type TranslationContext = { wanted: Wanted } & (
  | { endpoint: 'responses'; context: ResponseContext }
  | { endpoint: 'messages'; context: MessageContext }
)

export interface Translated {
  chatRequest: JsonObject
  /** The types of tools that were left out, because the provider cannot run them. */
  droppedTools: string[]
  /** The types of items whose content is lost, because only another provider can read it. */
  omittedItems: string[]
  context: TranslationContext
}

export interface TranslatedResponse {
  /** In the client's format. */
  body: JsonObject
  source: Pick<SourceReading, 'completeness' | 'omitted'>
}

/** Translates one request's response. */
export interface Translation {
  /** A plain chat response. Throws a ProxyError for a failure of its provider. */
  fromAnswer(answer: JsonObject): TranslatedResponse
  openStream(): StreamTranslation
  /** A provider's error, and the text that it was read from. */
  fromError(error: ProviderError, bodyText: string): ClientError
}

/** The model and its provider, and what the project wants. */
export interface RequestTarget extends ChatTarget {
  /** Whether a tool that the provider cannot run is refused where it could be left out. */
  refusesTools: boolean
  /** For provider extras of its model. */
  extrasKeys: ExtrasKeys
}

export type TranslatedEndpoint = TranslationContext['endpoint']

/** Throws a 400 that names a field without a counterpart in chat completions. */
export function translate(endpoint: TranslatedEndpoint, given: JsonObject, target: RequestTarget): Translated {
  const { body, dropped: droppedTools } = target.refusesTools
    ? { body: given, dropped: [] }
    : dropHostedTools(endpoint, given)
  if (endpoint === 'responses') {
    const context = readResponseContext(given, crypto.randomUUID(), target.extrasKeys)
    const chatRequest = responseToChat(body, target.extrasKeys)
    const translated = { endpoint, context, wanted: wantedOfChat(chatRequest) } as const
    return { chatRequest, droppedTools, omittedItems: omittedItems(given), context: translated }
  }
  const chatRequest = messageToChat(body, target)
  const requestId = `req_${crypto.randomUUID().replaceAll('-', '')}`
  const inputTokens = estimatePromptTokens(chatRequest, 'chat')
  const context = { model: textOf(body.model), inputTokens, requestId, extrasKeys: target.extrasKeys }
  return {
    chatRequest,
    droppedTools,
    omittedItems: [],
    context: { endpoint, context, wanted: wantedOfChat(chatRequest) },
  }
}

/** What an error says: the field that it is about, if it names one, and its text. */
export interface ErrorDetails {
  param: string | null
  message: string
}

/** Rewrites an error of the proxy's own about the chat request for the client's own request: its param and the fields that its text names. */
export function tellOwn(
  endpoint: TranslatedEndpoint,
  own: JsonObject,
  target: RequestTarget,
  { param, message }: ErrorDetails,
): ErrorDetails {
  const { chatRequest } = translate(endpoint, own, target)
  const renamed = param === null ? null : { from: param, to: nameOwnField(endpoint, own, chatRequest, param) }
  return { param: renamed?.to ?? null, message: writeOwnNames(endpoint, own, message, renamed) }
}

export function translationOf(translated: TranslationContext): Translation {
  const { endpoint, context, wanted } = translated
  const create = (reader: () => PartReader) =>
    translated.endpoint === 'responses'
      ? new GrowingResponse(translated.context, reader)
      : new GrowingMessage(translated.context, reader)
  return {
    fromAnswer(answer) {
      const { events, source } = translatePlainResponse(answer, create, wanted)
      return { body: endpoint === 'responses' ? joinResponse(events) : joinMessage(events), source }
    },
    openStream: () => new StreamTranslation(create, wanted),
    // Responses and chat use the same envelope.
    fromError: error =>
      endpoint === 'responses' ? writeOpenAiError(error) : writeProviderError(error, context.requestId),
  }
}

/** The last event holds the whole response. */
function joinResponse(events: readonly TypedEvent[]): JsonObject {
  return events.at(-1)?.response as JsonObject
}

function joinMessage(events: readonly TypedEvent[]): JsonObject {
  const assembler = createMessageAssembler()
  for (const event of events) assembler.add(event)
  return assembler.finish().body
}

/**
 * Estimates the request's input tokens, for models whose own provider cannot be asked: the response of `/v1/responses/input_tokens` or
 * `/v1/messages/count_tokens`. Throws a 400 for whatever the request itself would be refused for.
 */
export function countInput(endpoint: TranslatedEndpoint, given: JsonObject): JsonObject {
  const { body } = dropHostedTools(endpoint, given)
  if (endpoint === 'responses') {
    return { object: 'response.input_tokens', input_tokens: countPromptTokens(responseToChat(body, null), 'chat') }
  }
  const target = { maxOutputTokens: null, canReason: true, keepsCacheMarks: false, extrasKeys: null }
  // A count request has no max_tokens, but the translation requires one.
  return { input_tokens: countPromptTokens(messageToChat({ ...body, max_tokens: 1 }, target), 'chat') }
}
