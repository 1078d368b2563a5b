/** Estimates a Responses request's input tokens, for models that OpenAI does not serve. */

import type { JsonObject } from '../json/json-object.ts'
import { countPromptTokens } from '../tokens/count-tokens.ts'
import { toChatRequest } from './request/to-chat-request.ts'

/** The response of `POST /v1/responses/input_tokens`. Throws a 400 for whatever the request itself would be refused for. */
export function countResponseInput(body: JsonObject): { object: 'response.input_tokens'; input_tokens: number } {
  return { object: 'response.input_tokens', input_tokens: countPromptTokens(toChatRequest(body), 'chat') }
}
