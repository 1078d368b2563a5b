/** Estimates a Messages request's input tokens, for models that Anthropic does not serve. */

import type { JsonObject } from '../json/json-object.ts'
import { countPromptTokens } from '../tokens/count-tokens.ts'
import { toChatRequest } from './request/to-chat-request.ts'

/** The response of `POST /v1/messages/count_tokens`. Throws a 400 for whatever the request itself would be refused for. */
export function countInputTokens(body: JsonObject): { input_tokens: number } {
  const target = { maxOutputTokens: null, canReason: true, keepsCacheMarks: false }
  // A count request has no max_tokens, but the conversion requires one.
  const chat = toChatRequest({ ...body, max_tokens: 1 }, target)
  return { input_tokens: countPromptTokens(chat, 'chat') }
}
