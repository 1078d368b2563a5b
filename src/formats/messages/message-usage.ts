/** Translates token counts between Anthropic and chat: Anthropic counts cached input separately, OpenAI as part of the prompt. */

import type { BetaUsage } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import type { MessageDeltaUsage, Usage } from '@anthropic-ai/sdk/resources/messages'
import { isJsonObject, type JsonObject, numberOf, objectsOf } from '../json/canonical.ts'

/** Anthropic counts cached input separately, OpenAI within the prompt. `usage` is a chat response's; null if it had none. */
export function writeUsage(usage: JsonObject | null): JsonObject {
  const prompt = readDetails(usage?.prompt_tokens_details)
  const cached = numberOf(prompt.cached_tokens, 0)
  const written = numberOf(prompt.cache_write_tokens, 0)
  const thinking = numberOf(readDetails(usage?.completion_tokens_details).reasoning_tokens, 0)
  return {
    input_tokens: Math.max(0, numberOf(usage?.prompt_tokens, 0) - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: numberOf(usage?.completion_tokens, 0),
    output_tokens_details: { thinking_tokens: thinking },
  }
}

function readDetails(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** As far as they are reported: in a stream, some come at its beginning and some at its end. */
export type ReportedUsage = Partial<Usage | MessageDeltaUsage> &
  Partial<Pick<BetaUsage, 'inference_geo' | 'iterations' | 'speed'>>

export interface ChatUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  /** Of the prompt tokens: read from Anthropic's cache, and written to it, which costs more than other input. */
  prompt_tokens_details: { cached_tokens: number; cache_write_tokens: number; cache_write_1h_tokens?: number }
  completion_tokens_details: { reasoning_tokens: number }
  /** Not OpenAI's: searches that Anthropic has made. */
  web_searches?: number
  /** Neither: what changes Anthropic's price. */
  speed?: string
  inference_geo?: string
  /** The calls of models within one answer, where they were not all the same. */
  iterations?: (ChatUsage & { model: string | null })[]
}

/** Anthropic counts cached input separately, OpenAI as part of the prompt. */
export function translateUsage(usage: ReportedUsage): ChatUsage {
  const cached = usage.cache_read_input_tokens ?? 0
  const written = usage.cache_creation_input_tokens ?? 0
  const writtenForAnHour = ('cache_creation' in usage && usage.cache_creation?.ephemeral_1h_input_tokens) || 0
  const prompt = (usage.input_tokens ?? 0) + cached + written
  const completion = usage.output_tokens ?? 0
  const searches = usage.server_tool_use?.web_search_requests ?? 0
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      ...(writtenForAnHour > 0 && { cache_write_1h_tokens: writtenForAnHour }),
    },
    completion_tokens_details: { reasoning_tokens: usage.output_tokens_details?.thinking_tokens ?? 0 },
    ...(searches > 0 && { web_searches: searches }),
    ...(usage.speed && usage.speed !== 'standard' && { speed: usage.speed }),
    ...(typeof usage.inference_geo === 'string' && { inference_geo: usage.inference_geo }),
    ...translateIterations(usage.iterations),
  }
}

function translateIterations(given: unknown): Pick<ChatUsage, 'iterations'> {
  const iterations = objectsOf(given)
  if (iterations.every(({ type }) => type === 'message')) return {}
  const modelOf = ({ model }: JsonObject) => (typeof model === 'string' ? model : null)
  return { iterations: iterations.map(each => ({ ...translateUsage(each as ReportedUsage), model: modelOf(each) })) }
}

/** Later values replace earlier ones. */
export function mergeUsage(known: ReportedUsage, later: ReportedUsage | null | undefined): ReportedUsage {
  const reported = Object.entries(later ?? {}).filter(([, count]) => count !== null && count !== undefined)
  return { ...known, ...Object.fromEntries(reported) }
}
