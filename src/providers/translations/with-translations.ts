/** Adds endpoints to a provider that lacks them, by translating requests to one that it has, and responses back. */

import { AGGREGATOR, type Catalogue } from '../../catalogue/catalogue.ts'
import type { TurnRule } from '../../config/vendors.ts'
import { deserializeError, serializeError } from '../../errors/errors.ts'
import { NO_OWNER } from '../../event-loop/worker-pool.ts'
import type { ToolTurn } from '../../formats/chat/tool-turns.ts'
import type { Endpoint } from '../../formats/endpoint.ts'
import { isTranslatableEndpoint } from '../../formats/endpoint-formats.ts'
import { readProviderError } from '../../formats/errors/provider-error.ts'
import { asString, isPresent, type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { createThreadUnsupportedError } from '../../formats/messages/message-fields.ts'
import type { ChatTargetModel } from '../../formats/messages/message-request-to-chat.ts'
import {
  createResponseTranslator,
  type ErrorDetails,
  type SourceEndpoint,
  type TranslatedEndpoint,
  type TranslationContext,
  type TranslationTarget,
} from '../../formats/translation.ts'
import type { ExtrasKeyDerivation } from '../keys/encryption-key.ts'
import { applyFieldChanges } from '../long-body.ts'
import { readAllBytes, readBytes } from '../read-bytes.ts'
import { isEventStream, type Provider, type UpstreamRequest, type UpstreamResponse } from '../upstream.ts'
import { completeRequestTurns, listRequestTurns, retryWithoutExtras, withTurnStorage } from './complete-turns.ts'
import { normalizeClientError, replaceWithError, retryWithoutReasoning } from './rejections.ts'
import {
  countRequestTokens,
  restoreRequestFieldNames,
  translateRequest,
  withoutPackedExtras,
} from './translate-request.ts'
import { translatePlainSourceResponse, translateStream } from './translate-response.ts'

/** The header that names the tools of the request that were omitted. */
export const DROPPED_TOOLS_HEADER = 'x-proxy-dropped-tools'
/** The header that names the kinds of content that were omitted, because the other format cannot represent them. */
export const OMITTED_HEADER = 'x-proxy-omitted'

/** The catalogue's properties of the model. */
type ModelTarget = Omit<ChatTargetModel, 'extrasKeys'>

export interface TranslationOptions {
  /** Endpoints that the provider supports besides chat. */
  nativeEndpoints: readonly Endpoint[]
  /** Returns the catalogue's properties of a model. */
  resolveTarget(model: string): ModelTarget
  /** Derives the keys of provider extras; null for a provider whose responses have no extras. */
  extrasKeys: ExtrasKeyDerivation | null
  /** Returns what a model requires of turns that another model created. */
  turnRulesOf(model: string): readonly TurnRule[]
}

export function withTranslations(
  provider: Provider,
  { nativeEndpoints, resolveTarget, ...options }: TranslationOptions,
): Provider {
  /** Sends a chat request, with its turns as the model requires them. */
  async function sendChat(
    request: UpstreamRequest,
    turns: readonly ToolTurn[],
    send: Provider['send'],
  ): Promise<UpstreamResponse> {
    const { name } = provider
    const rules = options.turnRulesOf(asString(request.body.model))
    const complete = await completeRequestTurns(request, turns, name, rules)
    return withTurnStorage(await retryWithoutExtras(await send(complete), complete, send), request, name)
  }

  return {
    ...provider,
    nativeEndpoints,
    async send(request) {
      const { endpoint } = request
      if (!isTranslatableEndpoint(endpoint)) {
        const response =
          endpoint === 'chat'
            ? await sendChat(request, await listRequestTurns(request), sent => provider.send(sent))
            : await provider.send(request)
        return normalizeClientError(response, endpoint, provider.name)
      }
      if (nativeEndpoints.includes(endpoint)) return sendNatively(provider, request, endpoint)
      const model = asString(request.body.model)
      const extrasKeys = (await options.extrasKeys?.(provider.name, model)) ?? []
      const target = {
        ...resolveTarget(model),
        endpoint: chooseSource(endpoint, nativeEndpoints),
        extrasKeys,
        rejectsUnsupportedTools: request.rejectsUnsupportedTools ?? false,
      }
      if (request.isCountOnly) return sendCount(provider, request, endpoint, target)
      const { translated, turns, droppedTools, omittedItems, context } = await translateRequest(
        request,
        endpoint,
        target,
      )
      const restoreFieldNames: RestoreFieldNames = details =>
        restoreRequestFieldNames(request, endpoint, target, details)
      const send: Provider['send'] = sent => sendTranslated(provider, sent, context, restoreFieldNames)
      const response =
        translated.endpoint === 'chat'
          ? await sendChat(translated, turns, send)
          : await retryWithoutReasoning(await send(translated), translated, async () => {
              const withoutExtras = await translateRequest(request, endpoint, { ...target, extrasKeys: [] })
              return send(withoutExtras.translated)
            })
      if (droppedTools.length > 0) response.headers.set(DROPPED_TOOLS_HEADER, droppedTools.join(', '))
      if (omittedItems.length > 0) response.headers.set(OMITTED_HEADER, omittedItems.join(', '))
      return response
    },
  }
}

/**
 * Returns the endpoint to which a request is translated. OpenAI rejects tools of models that reason at chat completions, and returns their
 * reasoning only at Responses.
 */
function chooseSource(endpoint: TranslatedEndpoint, nativeEndpoints: readonly Endpoint[]): SourceEndpoint {
  return endpoint === 'messages' && nativeEndpoints.includes('responses') ? 'responses' : 'chat'
}

/** The statuses of a provider that lacks the path. */
const NO_PATH: ReadonlySet<number> = new Set([404, 405, 501])

/**
 * Sends the request to a native endpoint. Threads are rejected where projects share the key. Some aggregators have an
 * endpoint but cannot count its tokens, which are then estimated.
 */
async function sendNatively(
  provider: Provider,
  request: UpstreamRequest,
  endpoint: TranslatedEndpoint,
): Promise<UpstreamResponse> {
  const isShared = provider.isShared === true
  if (isShared && endpoint === 'messages' && isPresent(request.body.thread)) throw createThreadUnsupportedError()
  const response = await normalizeClientError(
    await provider.send(await withoutPackedExtras(request)),
    endpoint,
    provider.name,
  )
  if (!isShared || !request.isCountOnly || !NO_PATH.has(response.status)) return response
  await response.body.cancel().catch(() => {})
  return respondWithCount(await countRequestTokens(request, endpoint))
}

/** The fields of a request that counts tokens at Responses. */
const COUNT_FIELDS: ReadonlySet<string> = new Set(
  'model input instructions tools tool_choice parallel_tool_calls reasoning text truncation'.split(' '),
)

/** Counts the tokens at the provider if the request is translated to Responses, and estimates them if the provider does not count them. */
async function sendCount(
  provider: Provider,
  request: UpstreamRequest,
  endpoint: TranslatedEndpoint,
  target: TranslationTarget,
): Promise<UpstreamResponse> {
  if (target.endpoint === 'responses') {
    // A count request has no max_tokens, but the translation requires one.
    const limited = await applyFieldChanges(request, { max_tokens: 1 })
    const { translated } = await translateRequest(limited, endpoint, target)
    const others = Object.keys(translated.body).filter(field => !COUNT_FIELDS.has(field))
    const sent = await applyFieldChanges(translated, Object.fromEntries(others.map(field => [field, undefined])))
    const response = await provider.send({ ...sent, isCountOnly: true })
    const tokens = parseJsonObject(await new Response(response.body).text())?.input_tokens
    if (response.status === 200 && typeof tokens === 'number') return respondWithCount({ input_tokens: tokens })
  }
  return respondWithCount(await countRequestTokens(request, endpoint))
}

/** Responds with a count, often an estimate, because a provider with chat only cannot count tokens before it responds. */
function respondWithCount(counted: JsonObject): UpstreamResponse {
  const headers = new Headers({ 'content-type': 'application/json' })
  return { status: 200, headers, body: new Blob([JSON.stringify(counted)]).stream(), isStorable: () => true }
}

/** Rewrites an error about the translated request into one about the client's request. */
type RestoreFieldNames = (details: ErrorDetails) => Promise<ErrorDetails>

async function sendTranslated(
  provider: Provider,
  request: UpstreamRequest,
  context: TranslationContext,
  restoreFieldNames: RestoreFieldNames,
): Promise<UpstreamResponse> {
  const response = await provider.send(request).catch(async error => {
    throw await restoreErrorFields(error, restoreFieldNames)
  })
  const { status, headers, body } = response
  if (status === 200 && request.stream && isEventStream(response)) {
    const translator = createResponseTranslator(context)
    const source = translator.createStreamTranslator()
    return { ...response, source, body: await translateStream(body, source, translator) }
  }
  headers.set('content-type', 'application/json')
  // The body enforces its own limits.
  if (status === 200) {
    const bytes = await readBytes(body, provider.name, Number.POSITIVE_INFINITY, request.responseMemory)
    return { ...response, plain: await translatePlainSourceResponse(bytes, context, request.owner ?? NO_OWNER) }
  }
  const text = new TextDecoder().decode(
    await readAllBytes(body, provider.name, Number.POSITIVE_INFINITY, request.responseMemory),
  )
  const error = readProviderError(text, status)
  // The provider's message stays unchanged. Only the field that it names is replaced by the client's field.
  const { param } = error.param === null ? error : await restoreFieldNames(error)
  return replaceWithError(response, createResponseTranslator(context).translateError({ ...error, param }, text))
}

/** Restores the client's field names in a 400 of the proxy itself. */
async function restoreErrorFields(error: unknown, restoreFieldNames: RestoreFieldNames): Promise<unknown> {
  const serialized = serializeError(error)
  if (!('proxyError' in serialized) || serialized.proxyError.status !== 400) return error
  const { message, param = null } = serialized.proxyError
  const details = await restoreFieldNames({ message, param })
  const { param: clientParam } = details
  return deserializeError({
    proxyError: {
      ...serialized.proxyError,
      message: details.message,
      ...(clientParam === null ? {} : { param: clientParam }),
    },
  })
}

/** Returns a function that looks up a model's properties. `pricedAs` is the provider's name in the catalogue; null when it has none. */
export function createChatTargetResolver(
  catalogue: Catalogue,
  pricedAs: string | null,
): (model: string) => ModelTarget {
  return model => {
    const known = catalogue.find(pricedAs, model)
    return {
      maxOutputTokens: known?.maxOutputTokens ?? null,
      // An unknown model is assumed to reason; the provider checks.
      canReason: known === undefined || known.capabilities.length === 0 || known.capabilities.includes('reasoning'),
      // Aggregators forward cache breakpoints to vendors that support them.
      supportsCacheControl: pricedAs === AGGREGATOR,
    }
  }
}
