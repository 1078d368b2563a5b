/** Writes a chat response's usage in Gemini's format, which counts thoughts separately from the other output. */

import type { JsonObject } from '../json/canonical.ts'
import { readUsage } from '../usage/read-usage.ts'

/** Returns null if the response has no usage. */
export function toGeminiUsage(usage: JsonObject | null): JsonObject | null {
  const counts = readUsage(usage)
  if (!counts) return null
  const { promptTokens, completionTokens, reasoningTokens: thoughts = 0, cachedPromptTokens: cached } = counts
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: Math.max(0, completionTokens - thoughts),
    totalTokenCount: promptTokens + completionTokens,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    ...(cached > 0 && { cachedContentTokenCount: cached }),
  }
}
