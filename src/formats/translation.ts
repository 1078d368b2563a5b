/** Translates requests of the Responses and Messages APIs to chat completions, and the responses back. */

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

/** The context of one request as plain data that can be sent to a worker. */
export type TranslationContext = { expected: ExpectedOutput } & (
  | { endpoint: 'responses'; context: ResponseContext }
  | { endpoint: 'messages'; context: MessageTranslationContext }
)

export interface TranslatedRequest {
  chatRequest: JsonObject
  /** The types of tools that were omitted because the provider cannot run them. */
  droppedTools: string[]
  /** The types of items that were omitted because only another provider can read their content. */
  omittedItems: string[]
  context: TranslationContext
}

export interface TranslatedResponse {
  /** The body in the client's format. */
  body: JsonObject
  source: Pick<SourceResponse, 'completeness' | 'omitted'>
}

/** Translates one request's response. */
export interface ResponseTranslator {
  /** Translates a plain chat response. Throws a ProxyError if the response is a failure of its provider. */
  translateResponse(response: JsonObject): TranslatedResponse
  createStreamTranslator(): ChatStreamTranslator
  /** Translates a provider's error. `bodyText` is the text that it was read from. */
  translateError(error: ProviderError, bodyText: string): ClientError
}

/** The model and its provider, with settings of the project. */
export interface TranslationTarget extends ChatTargetModel {
  /** Whether a tool that the provider cannot run is rejected even if it could be omitted. */
  rejectsUnsupportedTools: boolean
  /** Keys for packing provider extras of the model. */
  extrasKeys: ExtrasKeys
}

export type TranslatedEndpoint = TranslationContext['endpoint']

/** Translates a request. Throws a 400 for a field without a counterpart in chat completions. */
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
    const translated = { endpoint, context, expected: readExpectedChatOutput(chatRequest) } as const
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
    context: { endpoint, context, expected: readExpectedChatOutput(chatRequest) },
  }
}

/** The field that an error is about, if it names one, and its text. */
export interface ErrorDetails {
  param: string | null
  message: string
}

/** Rewrites an error that the proxy created for the chat request: replaces the field names in its param and text by those of the client's request. */
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
  const { endpoint, context, expected } = translated
  const create = (reader: () => PartReader) =>
    translated.endpoint === 'responses'
      ? new ResponsesTranslationWriter(translated.context, reader)
      : new MessagesTranslationWriter(translated.context, reader)
  return {
    translateResponse(response) {
      const { events, source } = translatePlainResponse(response, create, expected)
      return { body: endpoint === 'responses' ? joinResponse(events) : joinMessage(events), source }
    },
    createStreamTranslator: () => new ChatStreamTranslator(create, expected),
    // Responses and chat use the same envelope.
    translateError: error =>
      endpoint === 'responses' ? writeOpenAiError(error) : writeAnthropicProviderError(error, context.requestId),
  }
}

/** Returns the whole response, which the last event contains. */
function joinResponse(events: readonly TypedEvent[]): JsonObject {
  return events.at(-1)?.response as JsonObject
}

function joinMessage(events: readonly TypedEvent[]): JsonObject {
  const assembler = createMessageAssembler()
  for (const event of events) assembler.add(event)
  return assembler.finish().body
}

/**
 * Estimates the request's input tokens for models whose provider has no endpoint for it. Returns the response of `/v1/responses/input_tokens` or
 * `/v1/messages/count_tokens`. Throws the same 400 that the request itself would get.
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
