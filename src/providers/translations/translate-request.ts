/** Translates requests to another endpoint, a long one in a worker. */
import { NO_OWNER, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import { listToolTurns, type ToolTurn } from '../../formats/chat/tool-turns.ts'
import { isPresent, type JsonObject } from '../../formats/json/canonical.ts'
import { hasPackedExtras, omitPackedExtras } from '../../formats/omit-packed-extras.ts'
import {
  type ErrorDetails,
  restoreClientFieldNames,
  type TranslatedEndpoint,
  type TranslatedRequest,
  type TranslationTarget,
  translateRequest as translateBody,
} from '../../formats/translation.ts'
import { isLongRequest, parseLosslessBody, replaceLongBody, runBodyJob } from '../long-body.ts'
import type { UpstreamRequest } from '../upstream.ts'

export interface TranslationInput {
  endpoint: TranslatedEndpoint
  target: TranslationTarget
  bytes: Uint8Array
}

export interface TranslatedLongRequest extends Omit<TranslatedRequest, 'body'> {
  bytes: Uint8Array
  /** The translated request's short fields. */
  fields: JsonObject
  /** The turns of the chat request. */
  turns: ToolTurn[]
}

export type TokenCountInput = Omit<TranslationInput, 'target'>
export type RestoreFieldNamesInput = TranslationInput & { details: ErrorDetails }

const JOBS = new URL('../jobs.ts', import.meta.url)
const TRANSLATE = new WorkerJob<TranslationInput, TranslatedLongRequest>(JOBS, 'translateRequestJob')
const OMIT_EXTRAS = new WorkerJob<{ bytes: Uint8Array }, Uint8Array>(JOBS, 'omitPackedExtrasJob')
const COUNT_TOKENS = new WorkerJob<TokenCountInput, JsonObject>(JOBS, 'countRequestTokensJob')
const RESTORE_FIELD_NAMES = new WorkerJob<RestoreFieldNamesInput, ErrorDetails>(JOBS, 'restoreFieldNamesJob')

/**
 * Returns the request in the provider's format, and the context for translating its response. Throws a 400 for a field without a counterpart
 * there.
 */
export async function translateRequest(
  request: UpstreamRequest,
  endpoint: TranslatedEndpoint,
  target: TranslationTarget,
): Promise<{ translated: UpstreamRequest } & Omit<TranslatedLongRequest, 'bytes' | 'fields'>> {
  const shared = { ...sharedFieldsOf(request), endpoint: target.endpoint }
  if (isLongRequest(request)) {
    const { bytes, fields, ...rest } = await runBodyJob(TRANSLATE, request, { endpoint, target })
    return { translated: replaceLongBody(shared, fields, bytes), ...rest }
  }
  const { body, ...rest } = translateBody(endpoint, parseLosslessBody(request), target)
  return {
    translated: { ...shared, body, bodyText: JSON.stringify(body) },
    turns: listToolTurns(body.messages),
    ...rest,
  }
}

/** Returns the request without the proxy's provider extras, which a provider with a native endpoint would reject. */
export async function withoutPackedExtras(request: UpstreamRequest): Promise<UpstreamRequest> {
  const { input, messages } = request.body
  // A long body that was rewritten may have only its short fields parsed.
  const isParsed = !isLongRequest(request) || isPresent(input ?? messages)
  if (isParsed && !hasPackedExtras(request.body)) return request
  if (isLongRequest(request)) return replaceLongBody(request, request.body, await runBodyJob(OMIT_EXTRAS, request, {}))
  const bodyText = JSON.stringify(omitPackedExtras(parseLosslessBody(request)))
  return { ...request, body: omitPackedExtras(request.body), bodyText }
}

/** Estimates the request's tokens in a worker. Throws as `translateRequest` does. */
export async function countRequestTokens(request: UpstreamRequest, endpoint: TranslatedEndpoint): Promise<JsonObject> {
  if (isLongRequest(request)) return runBodyJob(COUNT_TOKENS, request, { endpoint })
  const bytes = new TextEncoder().encode(request.bodyText)
  return workerPool.run(COUNT_TOKENS, { endpoint, bytes }, { owner: request.owner ?? NO_OWNER })
}

/** Rewrites an error about the translated request into one about the client's request. It translates the request again to find the field. */
export async function restoreRequestFieldNames(
  request: UpstreamRequest,
  endpoint: TranslatedEndpoint,
  target: TranslationTarget,
  details: ErrorDetails,
): Promise<ErrorDetails> {
  if (isLongRequest(request)) return runBodyJob(RESTORE_FIELD_NAMES, request, { endpoint, target, details })
  return restoreClientFieldNames(endpoint, parseLosslessBody(request), target, details)
}

function sharedFieldsOf(request: UpstreamRequest) {
  const {
    headers,
    stream,
    signal,
    maxPrice,
    timeLimits,
    addsCacheBreakpoints = false,
    owner = NO_OWNER,
    earlierCredentials,
    turns,
  } = request
  const optional = { ...(earlierCredentials && { earlierCredentials }), ...(turns && { turns }) }
  return { headers, stream, signal, maxPrice, timeLimits, addsCacheBreakpoints, owner, ...optional, isTranslated: true }
}
