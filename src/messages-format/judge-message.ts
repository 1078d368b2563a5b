/** Judges which messages are complete. Only those may be stored. */

import { isJsonObject, type JsonObject } from '../json/json-object.ts'
import type { Completeness } from '../openai-format/completeness.ts'

/** `max_tokens` is regular: the Messages API requires a limit, so that the client has set it. */
const REGULAR_ENDS = new Set(['end_turn', 'stop_sequence', 'tool_use', 'max_tokens'])

export function judgeMessage(body: unknown): Completeness {
  if (!isJsonObject(body)) return 'not_an_answer'
  if (body.type === 'error') return 'error_in_body'
  if (body.type !== 'message' || !Array.isArray(body.content)) return 'not_an_answer'
  const { stop_reason: reason } = body
  // The client has to continue a paused turn.
  if (typeof reason !== 'string' || reason === 'pause_turn') return 'unfinished_choice'
  if (reason === 'refusal') return 'content_filter'
  if (reason === 'model_context_window_exceeded') return 'provider_length_limit'
  if (!REGULAR_ENDS.has(reason)) return 'unknown_finish_reason'
  return body.content.filter(isJsonObject).some(hasContent) ? 'whole' : 'nothing_said'
}

function hasContent({ type, text }: JsonObject): boolean {
  return type === 'text' ? text !== '' : type !== 'thinking' && type !== 'redacted_thinking'
}

/** Whether the message calls a tool. Such messages are never served from a semantic match. */
export function hasToolUses(body: unknown): boolean {
  const content = isJsonObject(body) ? body.content : undefined
  return Array.isArray(content) && content.some(block => String(block?.type).endsWith('tool_use'))
}
