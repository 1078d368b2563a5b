/** Lets a provider answer operations that it lacks, by translating them to chat completions. */

import { AGGREGATOR, type Catalogue } from '../../catalogue/catalogue.ts'
import { deserializeError, serializeError } from '../../errors/errors.ts'
import { NO_OWNER } from '../../event-loop/worker-pool.ts'
import { listExtraNames } from '../../formats/chat/provider-extras.ts'
import { isTranslatableEndpoint } from '../../formats/endpoint-formats.ts'
import { readProviderError } from '../../formats/errors/provider-error.ts'
import { asObjects, asString, isPresent, type JsonObject } from '../../formats/json/canonical.ts'
import { createThreadUnsupportedError } from '../../formats/messages/message-fields.ts'
import type { ChatTargetModel } from '../../formats/messages/message-request-to-chat.ts'
import {
  createResponseTranslator,
  type ErrorDetails,
  type TranslatedEndpoint,
  type TranslationContext,
} from '../../formats/translation.ts'
import type { ExtrasKeyDerivation } from '../keys/extras-keys.ts'
import { readAllBytes, readBytes } from '../read-bytes.ts'
import {
  type Endpoint,
  isEventStream,
  type Provider,
  type UpstreamRequest,
  type UpstreamResponse,
} from '../upstream.ts'
import { normalizeClientError, replaceWithError } from './client-errors.ts'
import {
  countRequestTokens,
  restoreRequestFieldNames,
  translateRequest,
  withoutPackedExtras,
} from './translate-request.ts'
import { translatePlainChatResponse, translateStream } from './translate-response.ts'

/** Names the tools of the request that were left out. */
export const DROPPED_TOOLS_HEADER = 'x-proxy-dropped-tools'
/** Names the kinds of content that was left out, because there is no place for it. */
export const OMITTED_HEADER = 'x-proxy-omitted'

/** What the catalogue says. */
type ModelTarget = Omit<ChatTargetModel, 'extrasKeys'>

export interface TranslationOptions {
  /** Operations that the provider supports besides chat. */
  nativeEndpoints: readonly Endpoint[]
  /** What the catalogue knows about a model. */
  resolveTarget(model: string): ModelTarget
  /** Null for a provider whose answers have no extras. */
  extrasKeys: ExtrasKeyDerivation | null
}

export function withTranslations(
  provider: Provider,
  { nativeEndpoints, resolveTarget, ...options }: TranslationOptions,
): Provider {
  return {
    ...provider,
    nativeEndpoints,
    async send(request) {
      const { endpoint } = request
      if (!isTranslatableEndpoint(endpoint))
        return normalizeClientError(await provider.send(request), endpoint, provider.name)
      if (nativeEndpoints.includes(endpoint)) return askNatively(provider, request, endpoint)
      if (request.isCountOnly) return answerCount(await countRequestTokens(request, endpoint))
      const model = asString(request.body.model)
      const extrasKeys = (await options.extrasKeys?.(provider.name, model)) ?? []
      const target = {
        ...resolveTarget(model),
        extrasKeys,
        rejectsUnsupportedTools: request.rejectsUnsupportedTools ?? false,
      }
      const { chat, droppedTools, omittedItems, context } = await translateRequest(request, endpoint, target)
      const tell: Tell = details => restoreRequestFieldNames(request, endpoint, target, details)
      const first = await askByChat(provider, chat, context, tell)
      const answer = await orWithoutCarried(first, chat, async () => {
        const bare = await translateRequest(request, endpoint, { ...target, extrasKeys: [] })
        return askByChat(provider, bare.chat, context, tell)
      })
      if (droppedTools.length > 0) answer.headers.set(DROPPED_TOOLS_HEADER, droppedTools.join(', '))
      if (omittedItems.length > 0) answer.headers.set(OMITTED_HEADER, omittedItems.join(', '))
      return answer
    },
  }
}

/** What tells that there is no such path. */
const NO_PATH: ReadonlySet<number> = new Set([404, 405, 501])

/**
 * Under a key that projects share, nobody's thread is held for the next request. Aggregators that have an API may still not count its tokens:
 * then they are estimated.
 */
async function askNatively(
  provider: Provider,
  request: UpstreamRequest,
  endpoint: TranslatedEndpoint,
): Promise<UpstreamResponse> {
  const isShared = provider.kind === AGGREGATOR
  if (isShared && endpoint === 'messages' && isPresent(request.body.thread)) throw createThreadUnsupportedError()
  const answer = await normalizeClientError(
    await provider.send(await withoutPackedExtras(request)),
    endpoint,
    provider.name,
  )
  if (!isShared || !request.isCountOnly || !NO_PATH.has(answer.status)) return answer
  await answer.body.cancel().catch(() => {})
  return answerCount(await countRequestTokens(request, endpoint))
}

/** Some providers refuse a field that they have written themselves: one that the refusal names is asked for once more without any. */
async function orWithoutCarried(
  first: UpstreamResponse,
  { body }: UpstreamRequest,
  askBare: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  if (first.status !== 400 && first.status !== 422) return first
  const names = asObjects(body.messages).flatMap(listExtraNames)
  if (names.length === 0) return first
  const text = await new Response(first.body).text()
  if (names.some(name => text.includes(name))) {
    const again = await askBare().catch(() => null)
    if (again?.status === 200) return again
    await again?.body.cancel().catch(() => {})
  }
  return { ...first, body: new Blob([text]).stream() }
}

/** An estimate, because a provider that only speaks chat cannot count before it responds. */
function answerCount(counted: JsonObject): UpstreamResponse {
  const headers = new Headers({ 'content-type': 'application/json' })
  return { status: 200, headers, body: new Blob([JSON.stringify(counted)]).stream(), isStorable: () => true }
}

/** Puts an error about the chat request in the client's own terms. */
type Tell = (details: ErrorDetails) => Promise<ErrorDetails>

async function askByChat(
  provider: Provider,
  chat: UpstreamRequest,
  translated: TranslationContext,
  tell: Tell,
): Promise<UpstreamResponse> {
  const answer = await provider.send(chat).catch(async error => {
    throw await tellRefusal(error, tell)
  })
  const { status, headers, body } = answer
  if (status === 200 && chat.stream && isEventStream(answer)) {
    const source = createResponseTranslator(translated).createStreamTranslator()
    return { ...answer, source, body: await translateStream(body, source) }
  }
  headers.set('content-type', 'application/json')
  // The body enforces its own limits.
  if (status === 200) {
    const bytes = await readBytes(body, provider.name, Number.POSITIVE_INFINITY, chat.responseMemory)
    return { ...answer, plain: await translatePlainChatResponse(bytes, translated, chat.owner ?? NO_OWNER) }
  }
  const text = new TextDecoder().decode(
    await readAllBytes(body, provider.name, Number.POSITIVE_INFINITY, chat.responseMemory),
  )
  const error = readProviderError(text, status)
  // The provider's words stay; only the field that it names is the client's own.
  const { param } = error.param === null ? error : await tell(error)
  return replaceWithError(answer, createResponseTranslator(translated).translateError({ ...error, param }, text))
}

/** A refusal of the proxy's own. */
async function tellRefusal(error: unknown, tell: Tell): Promise<unknown> {
  const carried = serializeError(error)
  if (!('refusal' in carried) || carried.refusal.status !== 400) return error
  const { message, param = null } = carried.refusal
  const details = await tell({ message, param })
  const { param: own } = details
  return deserializeError({
    refusal: { ...carried.refusal, message: details.message, ...(own === null ? {} : { param: own }) },
  })
}

/** `pricedAs` is the provider's name in the catalogue; null when it has none. */
export function createChatTargetResolver(
  catalogue: Catalogue,
  pricedAs: string | null,
): (model: string) => ModelTarget {
  return model => {
    const known = pricedAs === null ? undefined : catalogue.find(pricedAs, model)
    return {
      maxOutputTokens: known?.maxOutputTokens ?? null,
      // An unknown model is assumed to reason; the provider checks.
      canReason: known === undefined || known.capabilities.length === 0 || known.capabilities.includes('reasoning'),
      // Aggregators pass cache marks on to vendors that know them.
      supportsCacheControl: pricedAs === AGGREGATOR,
    }
  }
}
