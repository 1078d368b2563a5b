/** Translates chat requests into Anthropic requests, a long one in a worker. */
import { nowMs } from '../../../event-loop/clock.ts'
import { Job } from '../../../event-loop/off-loop.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { isLong, readExactBody, runOnBody } from '../../long-body.ts'
import type { UpstreamRequest } from '../../upstream.ts'
import { type AnswerContext, readAnswerContext } from '../answer/answer-context.ts'
import { chooseApiVersion } from '../messages-request.ts'
import { markPrompt } from './cache-marks.ts'
import { fitTools } from './fit-tools.ts'
import { type ModelLimits, translateRequest } from './translate-request.ts'

export interface LongChat {
  bytes: Uint8Array
  limits: ModelLimits
}

export interface TranslatedChat<Body = string> {
  body: Body
  /** The API version that the translation produces, whatever the client asks for. */
  apiVersion: string
  /** For the response's translation. */
  context: AnswerContext
}
export type LongTranslatedChat = TranslatedChat<Uint8Array>

const JOBS = new URL('../../jobs.ts', import.meta.url)
const TRANSLATE = new Job<LongChat, LongTranslatedChat>(JOBS, 'translateForAnthropic')

/** Throws a 400 as `translateRequest` does. `owner` is the project. */
export async function translateChat(
  request: UpstreamRequest,
  limits: ModelLimits,
  owner: number,
): Promise<TranslatedChat<string | Uint8Array>> {
  if (isLong(request)) return runOnBody(TRANSLATE, { bodyBytes: request.bodyBytes, owner }, { limits })
  return translateBody(readExactBody(request), limits)
}

export function translateBody(body: JsonObject, limits: ModelLimits): TranslatedChat {
  const { request, clientTools } = fitTools(translateRequest(body, limits))
  if (limits.marksCache) markPrompt(request)
  return {
    body: JSON.stringify(request),
    apiVersion: chooseApiVersion(request),
    context: { ...readAnswerContext(body, nowMs()), clientTools },
  }
}
