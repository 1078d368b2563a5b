/** Lets a provider answer operations that it lacks, by translating them to chat completions. */

import { AGGREGATOR, type Catalogue } from '../../catalogue/catalogue.ts'
import { carryError, restoreError } from '../../errors/errors.ts'
import { NOBODY } from '../../event-loop/off-loop.ts'
import { namesOfCarried } from '../../formats/chat/carried.ts'
import { readProviderError } from '../../formats/errors/provider-error.ts'
import { isTranslated } from '../../formats/format-of.ts'
import { isGiven, type JsonObject, objectsOf, textOf } from '../../formats/json/canonical.ts'
import { noThread } from '../../formats/messages/message-fields.ts'
import type { ChatTarget } from '../../formats/messages/message-request-to-chat.ts'
import {
  type ErrorDetails,
  type TranslatedEndpoint,
  type TranslationContext,
  translationOf,
} from '../../formats/translation.ts'
import type { DeriveExtrasKeys } from '../keys/extras-keys.ts'
import { readAll, readBytes } from '../read-bytes.ts'
import { type Endpoint, isEventStream, type Provider, type UpstreamAnswer, type UpstreamRequest } from '../upstream.ts'
import { completeError, withError } from './client-errors.ts'
import { translatePlain, translateStream } from './translate-answer.ts'
import { countRequest, tellOwnRequest, translateRequest, withoutPacked } from './translate-request.ts'

/** Names the tools of the request that were left out. */
export const DROPPED_TOOLS = 'x-proxy-dropped-tools'
/** Names the kinds of content that was left out, because there is no place for it. */
export const OMITTED = 'x-proxy-omitted'

/** What the catalogue says. */
type ModelTarget = Omit<ChatTarget, 'extrasKeys'>

export interface TranslationOptions {
  /** Operations that the provider supports besides chat. */
  has: readonly Endpoint[]
  /** What the catalogue knows about a model. */
  targetOf(model: string): ModelTarget
  /** Null for a provider whose answers have no extras. */
  extrasKeys: DeriveExtrasKeys | null
}

export function withTranslations(provider: Provider, { has, targetOf, ...options }: TranslationOptions): Provider {
  return {
    ...provider,
    has,
    async ask(request) {
      const { endpoint } = request
      if (!isTranslated(endpoint)) return completeError(await provider.ask(request), endpoint, provider.name)
      if (has.includes(endpoint)) return askNatively(provider, request, endpoint)
      if (request.onlyCounts) return answerCount(await countRequest(request, endpoint))
      const model = textOf(request.body.model)
      const extrasKeys = (await options.extrasKeys?.(provider.name, model)) ?? []
      const target = { ...targetOf(model), extrasKeys, refusesTools: request.refusesTools ?? false }
      const { chat, droppedTools, omittedItems, context } = await translateRequest(request, endpoint, target)
      const tell: Tell = details => tellOwnRequest(request, endpoint, target, details)
      const first = await askByChat(provider, chat, context, tell)
      const answer = await orWithoutCarried(first, chat, async () => {
        const bare = await translateRequest(request, endpoint, { ...target, extrasKeys: [] })
        return askByChat(provider, bare.chat, context, tell)
      })
      if (droppedTools.length > 0) answer.headers.set(DROPPED_TOOLS, droppedTools.join(', '))
      if (omittedItems.length > 0) answer.headers.set(OMITTED, omittedItems.join(', '))
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
): Promise<UpstreamAnswer> {
  const isShared = provider.kind === AGGREGATOR
  if (isShared && endpoint === 'messages' && isGiven(request.body.thread)) throw noThread()
  const answer = await completeError(await provider.ask(await withoutPacked(request)), endpoint, provider.name)
  if (!isShared || !request.onlyCounts || !NO_PATH.has(answer.status)) return answer
  await answer.body.cancel().catch(() => {})
  return answerCount(await countRequest(request, endpoint))
}

/** Some providers refuse a field that they have written themselves: one that the refusal names is asked for once more without any. */
async function orWithoutCarried(
  first: UpstreamAnswer,
  { body }: UpstreamRequest,
  askBare: () => Promise<UpstreamAnswer>,
): Promise<UpstreamAnswer> {
  if (first.status !== 400 && first.status !== 422) return first
  const names = objectsOf(body.messages).flatMap(namesOfCarried)
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
function answerCount(counted: JsonObject): UpstreamAnswer {
  const headers = new Headers({ 'content-type': 'application/json' })
  return { status: 200, headers, body: new Blob([JSON.stringify(counted)]).stream(), mayStore: () => true }
}

/** Puts an error about the chat request in the client's own terms. */
type Tell = (details: ErrorDetails) => Promise<ErrorDetails>

async function askByChat(
  provider: Provider,
  chat: UpstreamRequest,
  translated: TranslationContext,
  tell: Tell,
): Promise<UpstreamAnswer> {
  const answer = await provider.ask(chat).catch(async error => {
    throw await tellRefusal(error, tell)
  })
  const { status, headers, body } = answer
  if (status === 200 && chat.stream && isEventStream(answer)) {
    const source = translationOf(translated).openStream()
    return { ...answer, source, body: await translateStream(body, source) }
  }
  headers.set('content-type', 'application/json')
  // The body enforces its own limits.
  if (status === 200) {
    const bytes = await readBytes(body, provider.name, Number.POSITIVE_INFINITY, chat.held)
    return { ...answer, plain: await translatePlain(bytes, translated, chat.owner ?? NOBODY) }
  }
  const text = new TextDecoder().decode(await readAll(body, provider.name, Number.POSITIVE_INFINITY, chat.held))
  const error = readProviderError(text, status)
  // The provider's words stay; only the field that it names is the client's own.
  const { param } = error.param === null ? error : await tell(error)
  return withError(answer, translationOf(translated).fromError({ ...error, param }, text))
}

/** A refusal of the proxy's own. */
async function tellRefusal(error: unknown, tell: Tell): Promise<unknown> {
  const carried = carryError(error)
  if (!('refusal' in carried) || carried.refusal.status !== 400) return error
  const { message, param = null } = carried.refusal
  const details = await tell({ message, param })
  const { param: own } = details
  return restoreError({
    refusal: { ...carried.refusal, message: details.message, ...(own === null ? {} : { param: own }) },
  })
}

/** `pricedAs` is the provider's name in the catalogue; null when it has none. */
export function chatTargets(catalogue: Catalogue, pricedAs: string | null): (model: string) => ModelTarget {
  return model => {
    const known = pricedAs === null ? undefined : catalogue.find(pricedAs, model)
    return {
      maxOutputTokens: known?.maxOutputTokens ?? null,
      // An unknown model is assumed to reason; the provider checks.
      canReason: known === undefined || known.capabilities.length === 0 || known.capabilities.includes('reasoning'),
      // Aggregators pass cache marks on to vendors that know them.
      keepsCacheMarks: pricedAs === AGGREGATOR,
    }
  }
}
