/** Converts usage between the formats of chat and Anthropic, which counts cached input separately from the prompt. */

import type { BetaUsage } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import type { MessageDeltaUsage, Usage } from '@anthropic-ai/sdk/resources/messages'
import { asObjects, type JsonObject } from '../json/canonical.ts'
import { readUsage } from '../usage/read-usage.ts'

/**
 * Returns a chat response's usage in Anthropic's format. `usage` is null if it had none. Unknown prompt counts are omitted, so that the
 * estimate at the beginning of a stream stays valid. An unknown output count is 0, which clients do not treat as a count.
 */
export function toAnthropicUsage(usage: JsonObject | null): JsonObject {
  const counts = readUsage(usage)
  const { promptTokens = 0, cachedPromptTokens: cached = 0, cacheWriteTokens: written = 0 } = counts ?? {}
  return {
    ...(promptTokens > 0 && {
      input_tokens: Math.max(0, promptTokens - cached - written),
      cache_creation_input_tokens: written,
      cache_read_input_tokens: cached,
    }),
    output_tokens: counts?.completionTokens ?? 0,
    output_tokens_details: { thinking_tokens: counts?.reasoningTokens ?? 0 },
  }
}

/** Anthropic's usage. All fields are optional, because a stream reports some at its beginning and some at its end. */
export type AnthropicUsage = Partial<Usage | MessageDeltaUsage> &
  Partial<Pick<BetaUsage, 'inference_geo' | 'iterations' | 'speed'>>

export interface ChatUsage {
  prompt_tokens?: number
  completion_tokens?: number
  total_tokens?: number
  /** Prompt tokens that were read from Anthropic's cache, or written to it, which costs more than other input. */
  prompt_tokens_details: { cached_tokens: number; cache_write_tokens: number; cache_write_1h_tokens?: number }
  completion_tokens_details: { reasoning_tokens: number }
  /** Number of web searches that Anthropic ran. OpenAI has no such field. */
  web_searches?: number
  /** Speed and region, which affect Anthropic's price. OpenAI has no such fields. */
  speed?: string
  inference_geo?: string
  /** The model calls within one response, if they differ in kind. */
  iterations?: (Partial<ChatUsage> & { model: string | null })[]
}

/** Returns Anthropic's usage in chat's format; null when nothing in it can be read. Unknown counts are omitted. */
export function toChatUsage(usage: AnthropicUsage): ChatUsage | null {
  const counts = readUsage(usage)
  if (!counts) return null
  const { promptTokens, completionTokens, missing = [], toolCalls, cacheWriteHourTokens } = counts
  return {
    ...(!missing.includes('prompt') && { prompt_tokens: promptTokens }),
    ...(!missing.includes('completion') && { completion_tokens: completionTokens }),
    ...(missing.length === 0 && { total_tokens: promptTokens + completionTokens }),
    prompt_tokens_details: {
      cached_tokens: counts.cachedPromptTokens,
      cache_write_tokens: counts.cacheWriteTokens ?? 0,
      ...(cacheWriteHourTokens && { cache_write_1h_tokens: cacheWriteHourTokens }),
    },
    completion_tokens_details: { reasoning_tokens: counts.reasoningTokens ?? 0 },
    ...(toolCalls?.search && { web_searches: toolCalls.search }),
    ...(usage.speed && usage.speed !== 'standard' && { speed: usage.speed }),
    ...(typeof usage.inference_geo === 'string' && { inference_geo: usage.inference_geo }),
    ...translateIterations(usage.iterations),
  }
}

function translateIterations(given: unknown): Pick<ChatUsage, 'iterations'> {
  const iterations = asObjects(given)
  if (iterations.every(({ type }) => type === 'message')) return {}
  const modelOf = ({ model }: JsonObject) => (typeof model === 'string' ? model : null)
  return { iterations: iterations.map(each => ({ ...toChatUsage(each as AnthropicUsage), model: modelOf(each) })) }
}
