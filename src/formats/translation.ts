/** Translates requests and responses of the other two APIs to and from chat completions. */

import { type ClientError, writeOpenAiError } from './errors/client-error.ts'
import type { ProviderError } from './errors/provider-error.ts'
import { dropHostedTools } from './hosted-tools.ts'
import { type JsonObject, textOf } from './json/canonical.ts'
import type { MessageContext } from './messages/growing-message.ts'
import { writeProviderError } from './messages/message-errors.ts'
import { type ChatTarget, messageToChat } from './messages/message-request-to-chat.ts'
import { createMessageStream, messageFromChat } from './messages/message-stream.ts'
import { nameOwnField, writeOwnNames } from './own-place.ts'
import { omittedItems } from './responses/other-items.ts'
import { responseToChat } from './responses/response-request-to-chat.ts'
import { createResponseStream, responseFromChat } from './responses/response-stream.ts'
import { type ResponseContext, readResponseContext } from './responses/write-response.ts'
import type { StreamTranslation } from './sse/sse.ts'
import { countPromptTokens, estimatePromptTokens } from './tokens/count-tokens.ts'

/** One request's context, as plain data that can be sent to a worker. */
export type TranslationContext =
  | { endpoint: 'responses'; context: ResponseContext }
  | { endpoint: 'messages'; context: MessageContext }

export interface Translated {
  chatRequest: JsonObject
  /** The types of tools that were left out, because the provider cannot run them. */
  droppedTools: string[]
  /** The types of items whose content is lost, because only another provider can read it. */
  omittedItems: string[]
  context: TranslationContext
}

/** Translates one request's response. */
export interface Translation {
  /** A plain chat response. Throws a ProxyError when it contains an error. */
  fromAnswer(answer: JsonObject): JsonObject
  openStream(): StreamTranslation
  /** A provider's error, and the text that it was read from. */
  fromError(error: ProviderError, bodyText: string): ClientError
}

/** The model and its provider, and what the project wants. */
export interface RequestTarget extends ChatTarget {
  /** Whether a tool that the provider cannot run is refused where it could be left out. */
  refusesTools: boolean
  /** The provider and its model. */
  origin: string
}

export type TranslatedEndpoint = TranslationContext['endpoint']

/** Throws a 400 that names a field without a counterpart in chat completions. */
export function translate(endpoint: TranslatedEndpoint, given: JsonObject, target: RequestTarget): Translated {
  const { body, dropped: droppedTools } = target.refusesTools
    ? { body: given, dropped: [] }
    : dropHostedTools(endpoint, given)
  if (endpoint === 'responses') {
    const context = readResponseContext(given, crypto.randomUUID(), target.origin)
    const chatRequest = responseToChat(body, target.origin)
    return { chatRequest, droppedTools, omittedItems: omittedItems(given), context: { endpoint, context } }
  }
  const chatRequest = messageToChat(body, target)
  const requestId = `req_${crypto.randomUUID().replaceAll('-', '')}`
  const inputTokens = estimatePromptTokens(chatRequest, 'chat')
  const context = { model: textOf(body.model), inputTokens, requestId, origin: target.origin }
  return { chatRequest, droppedTools, omittedItems: [], context: { endpoint, context } }
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

export function translationOf({ endpoint, context }: TranslationContext): Translation {
  if (endpoint === 'responses') {
    return {
      fromAnswer: answer => responseFromChat(answer, context),
      openStream: () => createResponseStream(context),
      fromError: writeOpenAiError,
    }
  }
  return {
    fromAnswer: answer => messageFromChat(answer, context),
    openStream: () => createMessageStream(context),
    fromError: error => writeProviderError(error, context.requestId),
  }
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
  const target = { maxOutputTokens: null, canReason: true, keepsCacheMarks: false, origin: null }
  // A count request has no max_tokens, but the translation requires one.
  return { input_tokens: countPromptTokens(messageToChat({ ...body, max_tokens: 1 }, target), 'chat') }
}
