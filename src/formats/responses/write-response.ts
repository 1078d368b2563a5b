/** Writes the `response` object from the request and the output items. */

import type { ExtrasKeys } from '../chat/provider-extras.ts'
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import { USAGE_COUNT_FIELDS } from '../usage/read-count.ts'
import { readUsage } from '../usage/read-usage.ts'
import { ECHOED_FIELDS } from './echoed-fields.ts'
import { hasInclude } from './response-request-to-chat.ts'
import { type ClientDefinedTool, indexToolsByChatName } from './response-tools-to-chat.ts'

export interface ResponseParts {
  id: string
  createdSeconds: number
  model: string
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  incompleteReason?: 'max_output_tokens' | 'content_filter'
  error?: { code: string; message: string }
  output: JsonObject[]
  /** The usage of the chat response; null when it reports none. */
  usage: JsonObject | null
}

/** Fields that a response repeats from its request, with OpenAI's defaults. */
const REPEATED_FIELDS: JsonObject = {
  ...ECHOED_FIELDS,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  service_tier: 'auto',
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
}

/** Returns the response object. `body` is the body of the request. */
export function writeResponseObject(parts: ResponseParts, body: JsonObject): JsonObject {
  const { id, createdSeconds, model, status, incompleteReason, error, output, usage } = parts
  const repeated = Object.entries(REPEATED_FIELDS).map(([field, byDefault]) => [field, body[field] ?? byDefault])
  const text = isJsonObject(body.text) ? body.text : {}
  const reasoning = isJsonObject(body.reasoning) ? body.reasoning : {}
  return {
    id,
    object: 'response',
    created_at: createdSeconds,
    status,
    background: false,
    // Derived from `created`, because a replay of a stored response must be identical.
    completed_at: status === 'completed' ? createdSeconds : null,
    error: error ?? null,
    incomplete_details: incompleteReason ? { reason: incompleteReason } : null,
    model,
    output,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: null, summary: null, ...reasoning },
    store: body.store !== false,
    text: { format: { type: 'text' }, verbosity: 'medium', ...text },
    truncation: 'disabled',
    ...Object.fromEntries(repeated),
    usage: usage === null ? null : translateUsage(usage),
  }
}

/**
 * Returns a chat response's usage in the format of the Responses API. An unknown count is 0, which clients do not treat as a count. Fields that
 * OpenAI does not have, such as an aggregator's cost, are copied.
 */
function translateUsage(usage: JsonObject): JsonObject {
  const counts = readUsage(usage)
  const { promptTokens = 0, completionTokens = 0, totalTokens = 0 } = counts ?? {}
  const prompt = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const completion = isJsonObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  return {
    input_tokens: promptTokens,
    input_tokens_details: {
      ...prompt,
      cached_tokens: counts?.cachedPromptTokens ?? 0,
      cache_write_tokens: counts?.cacheWriteTokens ?? 0,
    },
    output_tokens: completionTokens,
    output_tokens_details: { ...completion, reasoning_tokens: counts?.reasoningTokens ?? 0 },
    total_tokens: Math.max(totalTokens, promptTokens + completionTokens),
    ...Object.fromEntries(Object.entries(usage).filter(([field]) => !USAGE_COUNT_FIELDS.has(field))),
  }
}

export interface ResponseContext {
  /** The request's body. The response repeats some of its fields. */
  body: JsonObject
  /** The client's tools by their names in chat. */
  tools: ReadonlyMap<string, ClientDefinedTool>
  includesLogprobs: boolean
  /** Replaces the response's id when the provider sends none. */
  requestId: string
  /** Keys for packing the provider extras of the response. */
  extrasKeys: ExtrasKeys
}

export function readResponseContext(body: JsonObject, requestId: string, extrasKeys: ExtrasKeys): ResponseContext {
  const top = body.top_logprobs
  return {
    body,
    tools: indexToolsByChatName(body),
    includesLogprobs: hasInclude(body, 'message.output_text.logprobs') || (typeof top === 'number' && top > 0),
    requestId,
    extrasKeys,
  }
}
