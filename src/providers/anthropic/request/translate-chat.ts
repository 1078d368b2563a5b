/** Translates chat requests into Anthropic requests, a long one in a worker. */
import { nowMs } from '../../../event-loop/clock.ts'
import { WorkerJob } from '../../../event-loop/worker-pool.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { isLongRequest, parseLosslessBody, runBodyJob } from '../../long-body.ts'
import type { UpstreamRequest } from '../../upstream.ts'
import { chooseApiVersion } from '../messages-request.ts'
import { type AnthropicResponseContext, createAnthropicResponseContext } from '../response/response-context.ts'
import { adaptTools } from './adapt-tools.ts'
import { addPromptBreakpoints } from './cache-breakpoints.ts'
import { type ModelLimits, translateRequest } from './translate-request.ts'

export interface LongChatInput {
  bytes: Uint8Array
  limits: ModelLimits
}

export interface TranslatedChat<Body = string> {
  body: Body
  /** The API version that the translation requires. The client's version is ignored. */
  apiVersion: string
  /** The context for translating the response. */
  context: AnthropicResponseContext
}
export type TranslatedLongChat = TranslatedChat<Uint8Array>

const JOBS = new URL('../../jobs.ts', import.meta.url)
const TRANSLATE = new WorkerJob<LongChatInput, TranslatedLongChat>(JOBS, 'translateForAnthropicJob')

/** Throws a 400 as `translateRequest` does. `owner` is the project's id. */
export async function translateChat(
  request: UpstreamRequest,
  limits: ModelLimits,
  owner: number,
): Promise<TranslatedChat<string | Uint8Array>> {
  if (isLongRequest(request)) return runBodyJob(TRANSLATE, { bodyBytes: request.bodyBytes, owner }, { limits })
  return translateChatBody(parseLosslessBody(request), limits)
}

export function translateChatBody(body: JsonObject, limits: ModelLimits): TranslatedChat {
  const { request, clientTools } = adaptTools(translateRequest(body, limits))
  if (limits.addsCacheBreakpoints) addPromptBreakpoints(request)
  return {
    body: JSON.stringify(request),
    apiVersion: chooseApiVersion(request),
    context: { ...createAnthropicResponseContext(body, nowMs()), clientTools },
  }
}
