/** Translates requests and responses of the other two APIs to and from chat completions. */

import type { PartReader } from './chat/part-reader.ts'
import type { ExtrasKeys } from './chat/provider-extras.ts'
import { type ClientError, writeOpenAiError } from './errors/client-error.ts'
import type { ProviderError } from './errors/provider-error.ts'
import { type ExpectedOutput, readExpectedChatOutput } from './expected-output.ts'
import { omitHostedTools } from './hosted-tools.ts'
import { asString, type JsonObject } from './json/canonical.ts'
import { createMessageAssembler } from './messages/assemble-message.ts'
import { writeAnthropicProviderError } from './messages/message-errors.ts'
import { type ChatTargetModel, translateMessagesRequest } from './messages/message-request-to-chat.ts'
import { MessagesTranslationWriter, type MessageTranslationContext } from './messages/messages-translation-writer.ts'
import { translateResponsesRequest } from './responses/response-request-to-chat.ts'
import { ResponsesTranslationWriter } from './responses/responses-translation-writer.ts'
import { listOmittedItemTypes } from './responses/unsupported-items.ts'
import { type ResponseContext, readResponseContext } from './responses/write-response.ts'
import { replaceWithClientFields, resolveClientField } from './source-paths.ts'
import type { TypedEvent } from './sse/sse.ts'
import { countPromptTokens, estimatePromptTokens } from './tokens/count-tokens.ts'
import { ChatStreamTranslator, type SourceResponse, translatePlainResponse } from './translate-response.ts'

/** One request's context, as plain data that can be sent to a worker. */
export type TranslationContext = { wanted: ExpectedOutput } & (
  | { endpoint: 'responses'; context: ResponseContext }
  | { endpoint: 'messages'; context: MessageTranslationContext }
)

export interface TranslatedRequest {
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
  source: Pick<SourceResponse, 'completeness' | 'omitted'>
}

/** Translates one request's response. */
export interface ResponseTranslator {
  /** A plain chat response. Throws a ProxyError for a failure of its provider. */
  translateResponse(answer: JsonObject): TranslatedResponse
  createStreamTranslator(): ChatStreamTranslator
  /** A provider's error, and the text that it was read from. */
  translateError(error: ProviderError, bodyText: string): ClientError
}

/** The model and its provider, and what the project wants. */
export interface TranslationTarget extends ChatTargetModel {
  /** Whether a tool that the provider cannot run is refused where it could be left out. */
  rejectsUnsupportedTools: boolean
  /** For provider extras of its model. */
  extrasKeys: ExtrasKeys
}

export type TranslatedEndpoint = TranslationContext['endpoint']

/** Throws a 400 that names a field without a counterpart in chat completions. */
export function translateToChat(
  endpoint: TranslatedEndpoint,
  given: JsonObject,
  target: TranslationTarget,
): TranslatedRequest {
  const { body, dropped: droppedTools } = target.rejectsUnsupportedTools
    ? { body: given, dropped: [] }
    : omitHostedTools(endpoint, given)
  if (endpoint === 'responses') {
    const context = readResponseContext(given, crypto.randomUUID(), target.extrasKeys)
    const chatRequest = translateResponsesRequest(body, target.extrasKeys)
    const translated = { endpoint, context, wanted: readExpectedChatOutput(chatRequest) } as const
    return { chatRequest, droppedTools, omittedItems: listOmittedItemTypes(given), context: translated }
  }
  const chatRequest = translateMessagesRequest(body, target)
  const requestId = `req_${crypto.randomUUID().replaceAll('-', '')}`
  const inputTokens = estimatePromptTokens(chatRequest, 'chat')
  const context = { model: asString(body.model), inputTokens, requestId, extrasKeys: target.extrasKeys }
  return {
    chatRequest,
    droppedTools,
    omittedItems: [],
    context: { endpoint, context, wanted: readExpectedChatOutput(chatRequest) },
  }
}

/** What an error says: the field that it is about, if it names one, and its text. */
export interface ErrorDetails {
  param: string | null
  message: string
}

/** Rewrites an error of the proxy's own about the chat request for the client's own request: its param and the fields that its text names. */
export function restoreClientFieldNames(
  endpoint: TranslatedEndpoint,
  own: JsonObject,
  target: TranslationTarget,
  { param, message }: ErrorDetails,
): ErrorDetails {
  const { chatRequest } = translateToChat(endpoint, own, target)
  const renamed = param === null ? null : { from: param, to: resolveClientField(endpoint, own, chatRequest, param) }
  return { param: renamed?.to ?? null, message: replaceWithClientFields(endpoint, own, message, renamed) }
}

export function createResponseTranslator(translated: TranslationContext): ResponseTranslator {
  const { endpoint, context, wanted } = translated
  const create = (reader: () => PartReader) =>
    translated.endpoint === 'responses'
      ? new ResponsesTranslationWriter(translated.context, reader)
      : new MessagesTranslationWriter(translated.context, reader)
  return {
    translateResponse(answer) {
      const { events, source } = translatePlainResponse(answer, create, wanted)
      return { body: endpoint === 'responses' ? joinResponse(events) : joinMessage(events), source }
    },
    createStreamTranslator: () => new ChatStreamTranslator(create, wanted),
    // Responses and chat use the same envelope.
    translateError: error =>
      endpoint === 'responses' ? writeOpenAiError(error) : writeAnthropicProviderError(error, context.requestId),
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
export function estimateInputTokens(endpoint: TranslatedEndpoint, given: JsonObject): JsonObject {
  const { body } = omitHostedTools(endpoint, given)
  if (endpoint === 'responses') {
    return {
      object: 'response.input_tokens',
      input_tokens: countPromptTokens(translateResponsesRequest(body, null), 'chat'),
    }
  }
  const target = { maxOutputTokens: null, canReason: true, supportsCacheControl: false, extrasKeys: null }
  // A count request has no max_tokens, but the translation requires one.
  return { input_tokens: countPromptTokens(translateMessagesRequest({ ...body, max_tokens: 1 }, target), 'chat') }
}
