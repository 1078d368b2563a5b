/** Translates requests to chat completions, a long one in a worker. */
import { Job, NOBODY, offLoop } from '../../event-loop/off-loop.ts'
import { dropPacked, holdsPacked } from '../../formats/drop-packed.ts'
import { isGiven, type JsonObject } from '../../formats/json/canonical.ts'
import {
  type ErrorDetails,
  type RequestTarget,
  type TranslatedEndpoint,
  type TranslationContext,
  tellOwn,
  translate,
} from '../../formats/translation.ts'
import { isLong, readExactBody, runOnBody, withLongBody } from '../long-body.ts'
import type { UpstreamRequest } from '../upstream.ts'

export interface ToTranslate {
  endpoint: TranslatedEndpoint
  target: RequestTarget
  bytes: Uint8Array
}

export interface LongTranslated {
  bytes: Uint8Array
  /** The chat request's short fields. */
  fields: JsonObject
  droppedTools: string[]
  omittedItems: string[]
  context: TranslationContext
}

export type ToCount = Omit<ToTranslate, 'target'>
export type ToTell = ToTranslate & { details: ErrorDetails }

const JOBS = new URL('../jobs.ts', import.meta.url)
const TRANSLATE = new Job<ToTranslate, LongTranslated>(JOBS, 'translateRequest')
const DROP = new Job<{ bytes: Uint8Array }, Uint8Array>(JOBS, 'dropPacked')
const COUNT = new Job<ToCount, JsonObject>(JOBS, 'countRequest')
const TELL = new Job<ToTell, ErrorDetails>(JOBS, 'tellOwnRequest')

/**
 * Returns the chat request, and the context for translating its response. Throws a 400 for a field without a counterpart in chat
 * completions.
 */
export async function translateRequest(
  request: UpstreamRequest,
  endpoint: TranslatedEndpoint,
  target: RequestTarget,
): Promise<{ chat: UpstreamRequest } & Omit<LongTranslated, 'bytes' | 'fields'>> {
  if (isLong(request)) {
    const { bytes, fields, ...translated } = await runOnBody(TRANSLATE, request, { endpoint, target })
    return { chat: withLongBody({ ...headOf(request), endpoint: 'chat' }, fields, bytes), ...translated }
  }
  const { chatRequest, ...translated } = translate(endpoint, readExactBody(request), target)
  const bodyText = JSON.stringify(chatRequest)
  return { chat: { ...headOf(request), endpoint: 'chat', body: chatRequest, bodyText }, ...translated }
}

/** The request for a provider that has this API of its own, which would refuse what was packed here. */
export async function withoutPacked(request: UpstreamRequest): Promise<UpstreamRequest> {
  const { input, messages } = request.body
  // A long body that was rewritten may have its short fields alone.
  const isKnown = !isLong(request) || isGiven(input ?? messages)
  if (isKnown && !holdsPacked(request.body)) return request
  if (isLong(request)) return withLongBody(request, request.body, await runOnBody(DROP, request, {}))
  const bodyText = JSON.stringify(dropPacked(readExactBody(request)))
  return { ...request, body: dropPacked(request.body), bodyText }
}

/** Estimates the request's tokens, in the worker. Throws as the translation does. */
export async function countRequest(request: UpstreamRequest, endpoint: TranslatedEndpoint): Promise<JsonObject> {
  if (isLong(request)) return runOnBody(COUNT, request, { endpoint })
  const bytes = new TextEncoder().encode(request.bodyText)
  return offLoop.run(COUNT, { endpoint, bytes }, { owner: request.owner ?? NOBODY })
}

/** Says of the client's own request what an error says of the chat request: the translation is made once more, to find the place. */
export async function tellOwnRequest(
  request: UpstreamRequest,
  endpoint: TranslatedEndpoint,
  target: RequestTarget,
  details: ErrorDetails,
): Promise<ErrorDetails> {
  if (isLong(request)) return runOnBody(TELL, request, { endpoint, target, details })
  return tellOwn(endpoint, readExactBody(request), target, details)
}

function headOf(request: UpstreamRequest) {
  const { headers, stream, signal, maxPrice, marksCache = false, owner = NOBODY, earlierCredentials } = request
  const earlier = earlierCredentials && { earlierCredentials }
  return { headers, stream, signal, maxPrice, marksCache, owner, ...earlier, isTranslated: true }
}
