/** Translates token counts. */
import type { MessageDeltaUsage, Usage } from '@anthropic-ai/sdk/resources/messages'

/** As far as they are reported: in a stream, some come at its beginning and some at its end. */
export type ReportedUsage = Partial<Usage | MessageDeltaUsage>

export interface ChatUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  /** Of the prompt tokens: read from Anthropic's cache, and written to it, which costs more than other input. */
  prompt_tokens_details: { cached_tokens: number; cache_write_tokens: number }
  completion_tokens_details: { reasoning_tokens: number }
}

/** Anthropic counts cached input separately, OpenAI as part of the prompt. */
export function translateUsage(usage: ReportedUsage): ChatUsage {
  const cached = usage.cache_read_input_tokens ?? 0
  const written = usage.cache_creation_input_tokens ?? 0
  const prompt = (usage.input_tokens ?? 0) + cached + written
  const completion = usage.output_tokens ?? 0
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: usage.output_tokens_details?.thinking_tokens ?? 0 },
  }
}

/** Later values replace earlier ones. */
export function mergeUsage(known: ReportedUsage, later: ReportedUsage | null | undefined): ReportedUsage {
  const reported = Object.entries(later ?? {}).filter(([, count]) => count !== null && count !== undefined)
  return { ...known, ...Object.fromEntries(reported) }
}
