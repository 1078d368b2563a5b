/** Converts token counts to Anthropic's form. */

import { isJsonObject, type JsonObject } from '../../json/json-object.ts'

/** Anthropic counts cached input separately, OpenAI within the prompt. `usage` is a chat response's; null if it had none. */
export function writeUsage(usage: JsonObject | null): JsonObject {
  const prompt = readDetails(usage?.prompt_tokens_details)
  const cached = count(prompt.cached_tokens)
  const written = count(prompt.cache_write_tokens)
  const thinking = count(readDetails(usage?.completion_tokens_details).reasoning_tokens)
  return {
    input_tokens: Math.max(0, count(usage?.prompt_tokens) - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: count(usage?.completion_tokens),
    output_tokens_details: { thinking_tokens: thinking },
    server_tool_use: null,
  }
}

/** Usage fields that Anthropic sends with a message's first event only. */
export const OPENING_USAGE: JsonObject = { cache_creation: null, inference_geo: null, service_tier: null, speed: null }

function readDetails(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
