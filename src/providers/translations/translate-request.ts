/** Translates requests to chat completions, a long one in a worker. */
import { NO_OWNER, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import { isPresent, type JsonObject } from '../../formats/json/canonical.ts'
import { hasPackedExtras, omitPackedExtras } from '../../formats/omit-packed-extras.ts'
import {
  type ErrorDetails,
  restoreClientFieldNames,
  type TranslatedEndpoint,
  type TranslationContext,
  type TranslationTarget,
  translateToChat,
} from '../../formats/translation.ts'
import { isLongRequest, parseExactBody, replaceLongBody, runBodyJob } from '../long-body.ts'
import type { UpstreamRequest } from '../upstream.ts'

export interface TranslationInput {
  endpoint: TranslatedEndpoint
  target: TranslationTarget
  bytes: Uint8Array
}

export interface TranslatedLongRequest {
  bytes: Uint8Array
  /** The chat request's short fields. */
  fields: JsonObject
  droppedTools: string[]
  omittedItems: string[]
  context: TranslationContext
}

export type TokenCountInput = Omit<TranslationInput, 'target'>
export type RestoreFieldNamesInput = TranslationInput & { details: ErrorDetails }

const JOBS = new URL('../jobs.ts', import.meta.url)
const TRANSLATE = new WorkerJob<TranslationInput, TranslatedLongRequest>(JOBS, 'translateRequestJob')
const DROP = new WorkerJob<{ bytes: Uint8Array }, Uint8Array>(JOBS, 'omitPackedExtrasJob')
const COUNT = new WorkerJob<TokenCountInput, JsonObject>(JOBS, 'countRequestTokensJob')
const TELL = new WorkerJob<RestoreFieldNamesInput, ErrorDetails>(JOBS, 'restoreFieldNamesJob')

/**
 * Returns the chat request, and the context for translating its response. Throws a 400 for a field without a counterpart in chat
 * completions.
 */
export async function translateRequest(
  request: UpstreamRequest,
  endpoint: TranslatedEndpoint,
  target: TranslationTarget,
): Promise<{ chat: UpstreamRequest } & Omit<TranslatedLongRequest, 'bytes' | 'fields'>> {
  if (isLongRequest(request)) {
    const { bytes, fields, ...translated } = await runBodyJob(TRANSLATE, request, { endpoint, target })
    return { chat: replaceLongBody({ ...headOf(request), endpoint: 'chat' }, fields, bytes), ...translated }
  }
  const { chatRequest, ...translated } = translateToChat(endpoint, parseExactBody(request), target)
  const bodyText = JSON.stringify(chatRequest)
  return { chat: { ...headOf(request), endpoint: 'chat', body: chatRequest, bodyText }, ...translated }
}

/** The request for a provider that has this API of its own, which would refuse what was packed here. */
export async function withoutPackedExtras(request: UpstreamRequest): Promise<UpstreamRequest> {
  const { input, messages } = request.body
  // A long body that was rewritten may have its short fields alone.
  const isKnown = !isLongRequest(request) || isPresent(input ?? messages)
  if (isKnown && !hasPackedExtras(request.body)) return request
  if (isLongRequest(request)) return replaceLongBody(request, request.body, await runBodyJob(DROP, request, {}))
  const bodyText = JSON.stringify(omitPackedExtras(parseExactBody(request)))
  return { ...request, body: omitPackedExtras(request.body), bodyText }
}

/** Estimates the request's tokens, in the worker. Throws as the translation does. */
export async function countRequestTokens(request: UpstreamRequest, endpoint: TranslatedEndpoint): Promise<JsonObject> {
  if (isLongRequest(request)) return runBodyJob(COUNT, request, { endpoint })
  const bytes = new TextEncoder().encode(request.bodyText)
  return workerPool.run(COUNT, { endpoint, bytes }, { owner: request.owner ?? NO_OWNER })
}

/** Says of the client's own request what an error says of the chat request: the translation is made once more, to find the place. */
export async function restoreRequestFieldNames(
  request: UpstreamRequest,
  endpoint: TranslatedEndpoint,
  target: TranslationTarget,
  details: ErrorDetails,
): Promise<ErrorDetails> {
  if (isLongRequest(request)) return runBodyJob(TELL, request, { endpoint, target, details })
  return restoreClientFieldNames(endpoint, parseExactBody(request), target, details)
}

function headOf(request: UpstreamRequest) {
  const {
    headers,
    stream,
    signal,
    maxPrice,
    addsCacheBreakpoints = false,
    owner = NO_OWNER,
    earlierCredentials,
  } = request
  const earlier = earlierCredentials && { earlierCredentials }
  return { headers, stream, signal, maxPrice, addsCacheBreakpoints, owner, ...earlier, isTranslated: true }
}
