/**
 * Translates requests of the Responses, Messages and Gemini APIs to chat completions, those of Messages also to Responses, and the responses
 * back.
 */

import type { AssembledStream } from './api-format.ts'
import { chatSource } from './chat/chat-format.ts'
import type { SourceFormat } from './chat/part-reader.ts'
import type { ExtrasKeys } from './chat/provider-extras.ts'
import { apiFormatOf } from './endpoint-formats.ts'
import { type ClientError, writeOpenAiError } from './errors/client-error.ts'
import type { ProviderError } from './errors/provider-error.ts'
import type { ExpectedOutput } from './expected-output.ts'
import { createGeminiAssembler } from './gemini/assemble-gemini.ts'
import { writeGoogleProviderError } from './gemini/gemini-errors.ts'
import { encodeGeminiChunks } from './gemini/gemini-format.ts'
import { type GeminiTranslationContext, GeminiTranslationWriter } from './gemini/gemini-translation-writer.ts'
import { completeChatRequest } from './gemini/request-to-chat.ts'
import { omitHostedTools } from './hosted-tools.ts'
import { asObjects, asString, isJsonObject, type JsonObject } from './json/canonical.ts'
import { createMessageAssembler } from './messages/assemble-message.ts'
import { writeAnthropicProviderError } from './messages/message-errors.ts'
import {
  type ChatTargetModel,
  readStopSequences,
  translateMessagesRequest,
} from './messages/message-request-to-chat.ts'
import { MessagesTranslationWriter, type MessageTranslationContext } from './messages/messages-translation-writer.ts'
import { translateResponsesRequest } from './responses/response-request-to-chat.ts'
import { responsesSource } from './responses/responses-format.ts'
import { ResponsesTranslationWriter } from './responses/responses-translation-writer.ts'
import { listOmittedItemTypes } from './responses/unsupported-items.ts'
import { createResponseInputBuilder, writeResponsesRequest } from './responses/write-request.ts'
import { type ResponseContext, readResponseContext } from './responses/write-response.ts'
import { replaceWithClientFields, resolveClientField } from './source-paths.ts'
import { encodeTypedEvents } from './sse/sse.ts'
import { countPromptTokens, estimatePromptTokens } from './tokens/count-tokens.ts'
import {
  type SourceResponse,
  StreamTranslator,
  type TranslationWriterFactory,
  translatePlainResponse,
} from './translate-response.ts'

/** The endpoints to which requests are translated. */
export type SourceEndpoint = SourceFormat['endpoint']

const SOURCES: Readonly<Record<SourceEndpoint, SourceFormat>> = { chat: chatSource, responses: responsesSource }

/** The context of one request as plain data that can be sent to a worker. `source` is the endpoint to which it was translated. */
export type TranslationContext = { expected: ExpectedOutput; source: SourceEndpoint } & (
  | { endpoint: 'responses'; context: ResponseContext }
  | { endpoint: 'messages'; context: MessageTranslationContext }
  | { endpoint: 'generate_content'; context: GeminiTranslationContext }
)

export interface TranslatedRequest {
  /** The request in the provider's format. */
  body: JsonObject
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
  /** Translates a provider's plain response. Throws a ProxyError if the response is a failure of its provider. */
  translateResponse(response: JsonObject): TranslatedResponse
  createStreamTranslator(): StreamTranslator
  encodeEvents(events: readonly JsonObject[]): Uint8Array
  /** Whether clients skip comments between events. */
  readonly acceptsComments: boolean
  /** Translates a provider's error. `bodyText` is the text that it was read from. */
  translateError(error: ProviderError, bodyText: string): ClientError
}

/** The model and its provider, with settings of the project. */
export interface TranslationTarget extends ChatTargetModel {
  /** The endpoint to which the request is translated. Only requests of the Messages API are translated to `responses`. */
  endpoint: SourceEndpoint
  /** Whether a tool that the provider cannot run is rejected even if it could be omitted. */
  rejectsUnsupportedTools: boolean
  /** Keys for packing provider extras of the model. */
  extrasKeys: ExtrasKeys
}

export type TranslatedEndpoint = TranslationContext['endpoint']

/** Translates a request. Throws a 400 for a field without a counterpart in the provider's format. */
export function translateRequest(
  endpoint: TranslatedEndpoint,
  given: JsonObject,
  target: TranslationTarget,
): TranslatedRequest {
  const { endpoint: source, extrasKeys } = target
  const { body: own, dropped: droppedTools } = target.rejectsUnsupportedTools
    ? { body: given, dropped: [] }
    : omitHostedTools(endpoint, given)
  const { readExpectedOutput } = apiFormatOf(source)
  if (endpoint === 'responses') {
    const context = readResponseContext(given, crypto.randomUUID(), extrasKeys)
    const body = translateResponsesRequest(own, extrasKeys)
    const translated = { endpoint, source, context, expected: readExpectedOutput(body) } as const
    return { body, droppedTools, omittedItems: listOmittedItemTypes(given), context: translated }
  }
  if (endpoint === 'generate_content') {
    const body = completeChatRequest(own, target)
    const context = {
      model: asString(own.model),
      requestId: crypto.randomUUID(),
      includesThoughts: own.include_reasoning === true,
      extrasKeys,
    }
    const translated = { endpoint, source, context, expected: readExpectedOutput(body) } as const
    return { body, droppedTools, omittedItems: [], context: translated }
  }
  const body = source === 'chat' ? translateMessagesRequest(own, target) : translateToResponses(own, target)
  const requestId = `req_${crypto.randomUUID().replaceAll('-', '')}`
  const inputTokens = estimatePromptTokens(body, source)
  const stops = source === 'responses' && { stopSequences: readStopSequences(own) }
  const context = { model: asString(body.model), inputTokens, requestId, extrasKeys, ...stops }
  const translated = { endpoint, source, context, expected: readExpectedOutput(body) } as const
  return { body, droppedTools, omittedItems: [], context: translated }
}

/** Translates a Messages request to Responses. */
function translateToResponses(own: JsonObject, target: TranslationTarget): JsonObject {
  const chatTarget = { ...target, supportsCacheControl: false }
  const chatRequest = translateMessagesRequest(own, chatTarget, createResponseInputBuilder())
  const { type, display } = isJsonObject(own.thinking) ? own.thinking : {}
  const thinks = type === 'enabled' || type === 'adaptive'
  // Reasoning comes back only to continue a turn with tools, or because the client requested it.
  const includesReasoning = thinks || asObjects(chatRequest.tools).length > 0
  const canReturn = target.canReason && target.extrasKeys.length > 0
  return writeResponsesRequest(chatRequest, {
    includesReasoning: canReturn && includesReasoning,
    includesSummary: canReturn && thinks && display !== 'omitted',
  })
}

/** The field that an error is about, if it names one, and its text. */
export type ErrorDetails = Pick<ProviderError, 'param' | 'message'>

/** Rewrites an error that the proxy created for the translated request: replaces the field names in its param and text by those of the client's request. */
export function restoreClientFieldNames(
  endpoint: TranslatedEndpoint,
  own: JsonObject,
  target: TranslationTarget,
  { param, message }: ErrorDetails,
): ErrorDetails {
  const { body } = translateRequest(endpoint, own, target)
  // Gemini's clients sent no chat field, although the request was translated to one before.
  const sent = endpoint === 'generate_content' ? {} : own
  const renamed = param === null ? null : { from: param, to: resolveClientField(endpoint, sent, body, param) }
  return { param: renamed?.to ?? null, message: replaceWithClientFields(endpoint, sent, message, renamed) }
}

export function createResponseTranslator(translated: TranslationContext): ResponseTranslator {
  const { create, join, encodeEvents, translateError } = createTranslationParts(translated)
  const { endpoint, expected } = translated
  const source = SOURCES[translated.source]
  return {
    translateResponse(response) {
      const { events, source: judged } = translatePlainResponse(source, response, create, expected)
      return { body: join(events), source: judged }
    },
    createStreamTranslator: () => new StreamTranslator(source, create, expected),
    encodeEvents,
    acceptsComments: endpoint !== 'generate_content',
    translateError,
  }
}

/** What differs between the formats of a translated response. */
interface TranslationParts extends Pick<ResponseTranslator, 'encodeEvents' | 'translateError'> {
  create: TranslationWriterFactory
  join(events: readonly JsonObject[]): JsonObject
}

function createTranslationParts(translated: TranslationContext): TranslationParts {
  const { endpoint, context } = translated
  switch (endpoint) {
    case 'responses':
      return {
        create: reader => new ResponsesTranslationWriter(context, reader),
        join: joinResponse,
        encodeEvents: encodeTypedEvents,
        // Responses and chat use the same envelope.
        translateError: error => writeOpenAiError(error),
      }
    case 'messages':
      return {
        create: reader => new MessagesTranslationWriter(context, reader),
        join: events => joinEvents(createMessageAssembler(), events),
        encodeEvents: encodeTypedEvents,
        translateError: error => writeAnthropicProviderError(error, context.requestId),
      }
    case 'generate_content':
      return {
        create: reader => new GeminiTranslationWriter(context, reader),
        join: chunks => joinEvents(createGeminiAssembler(), chunks),
        encodeEvents: encodeGeminiChunks,
        translateError: writeGoogleProviderError,
      }
  }
}

/** Returns the whole response, which the last event contains. */
function joinResponse(events: readonly JsonObject[]): JsonObject {
  return events.at(-1)?.response as JsonObject
}

function joinEvents(
  assembler: { add(event: JsonObject): void; finish(): AssembledStream },
  events: readonly JsonObject[],
): JsonObject {
  for (const event of events) assembler.add(event)
  return assembler.finish().body
}

/**
 * Estimates the request's input tokens for models whose provider has no endpoint for it. Returns the response of `/v1/responses/input_tokens` or
 * `/v1/messages/count_tokens`, or of Gemini's `countTokens`. Throws the same 400 that the request itself would get.
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
  if (endpoint === 'generate_content')
    return { totalTokens: countPromptTokens(completeChatRequest(body, target), 'chat') }
  // A count request has no max_tokens, but the translation requires one.
  return { input_tokens: countPromptTokens(translateMessagesRequest({ ...body, max_tokens: 1 }, target), 'chat') }
}
