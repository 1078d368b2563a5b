/** Judges which responses are complete. Only those may be stored. */

import { isJsonObject, type JsonObject } from '../json/json-object.ts'
import type { Completeness, CompletenessOptions } from '../openai-format/completeness.ts'

/** `clientSetOutputLimit`: the request had `max_output_tokens`. */
export function judgeResponse(body: unknown, options: CompletenessOptions): Completeness {
  if (!isJsonObject(body)) return 'not_an_answer'
  if (body.status === 'failed' || (body.error ?? null) !== null) return 'error_in_body'
  if (body.object !== 'response' || !Array.isArray(body.output)) return 'not_an_answer'
  if (body.status === 'incomplete') return judgeIncomplete(body, options)
  // For example a background response that is queued or was cancelled.
  if (body.status !== 'completed') return 'unfinished_choice'
  const items = body.output.filter(isJsonObject)
  if (items.some(({ status }) => status === 'in_progress' || status === 'incomplete')) return 'unfinished_choice'
  return hasContent(items) ? 'whole' : 'nothing_said'
}

function judgeIncomplete(
  { incomplete_details: details, output }: JsonObject,
  options: CompletenessOptions,
): Completeness {
  const reason = isJsonObject(details) ? details.reason : undefined
  if (reason === 'content_filter') return 'content_filter'
  if (reason !== 'max_output_tokens') return 'unknown_finish_reason'
  if (!options.clientSetOutputLimit) return 'provider_length_limit'
  return hasContent((output as unknown[]).filter(isJsonObject)) ? 'whole' : 'nothing_said'
}

/** Whether an item other than reasoning has content. */
function hasContent(items: readonly JsonObject[]): boolean {
  return items.some(item => {
    if (item.type === 'reasoning') return false
    if (item.type !== 'message' || !Array.isArray(item.content)) return true
    return item.content.some(part => isJsonObject(part) && (part.text ?? part.refusal ?? 'a new kind') !== '')
  })
}

/** Whether the response calls a tool. Such responses are never served from a semantic match. */
export function hasCalls(body: unknown): boolean {
  const output = isJsonObject(body) ? body.output : undefined
  return Array.isArray(output) && output.some(item => /_(call|request|output)$/.test(String(item?.type)))
}
