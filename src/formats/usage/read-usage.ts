/** Reads a response's `usage`, in the names of any vendor and of any endpoint. */
import { asObjects, isJsonObject, type JsonObject } from '../json/canonical.ts'
import {
  DEFAULT_TIERS,
  type MissingCount,
  sumUsageParts,
  type TokenUsage,
  type ToolCallCounts,
  type UsagePart,
} from '../token-usage.ts'
import { type ReportedCounts, readAmount, readUsageCounts } from './read-count.ts'

/**
 * Null when nothing in it can be read. A count that cannot be read is missing, never zero. `tier` is the response's `service_tier`; `called`
 * are the tools that its output shows.
 */
export function readUsage(usage: unknown, tier?: unknown, called?: ToolCallCounts): TokenUsage | null {
  if (!isJsonObject(usage)) return null
  const told = readUsageCounts(usage)
  const { missing, ...counts } = readTokens(told)
  const reportedCostUsd = readCost(usage)
  const toolCalls = called ?? { search: told.searches ?? 0 }
  const hasCalls = Object.values(toolCalls).some(calls => calls > 0)
  const { promptTokens, completionTokens, totalTokens = 0 } = counts
  const hasTokens = missing.length < 2 || promptTokens + completionTokens + totalTokens > 0
  if (!hasTokens && !hasCalls && reportedCostUsd === null) return null
  const pricedTier = readTier(usage, tier ?? usage.service_tier)
  const whole: TokenUsage = {
    ...counts,
    ...readDetails(told),
    ...(missing.length > 0 && { missing }),
    ...(pricedTier !== null && { tier: pricedTier }),
    ...(hasCalls && { toolCalls }),
    reportedCostUsd,
  }
  return withParts(whole, usage.iterations)
}

/** For a response to which no completion belongs: what it reports in total is its prompt. */
export function readInputUsage(usage: unknown): TokenUsage | null {
  const read = readUsage(usage)
  if (!read) return null
  const { missing, totalTokens = 0, ...counts } = read
  return missing?.includes('prompt') ? { ...counts, promptTokens: Math.max(counts.promptTokens, totalTokens) } : counts
}

interface Tokens {
  promptTokens: number
  cachedPromptTokens: number
  cacheWriteTokens?: number
  completionTokens: number
  reasoningTokens?: number
  totalTokens?: number
  missing: readonly MissingCount[]
}

function readTokens(counts: ReportedCounts): Tokens {
  const { prompt, cached, written } = readPrompt(counts)
  const { completion = null, total = 0, reasoning = 0 } = counts
  const both = resolveTotal({ prompt, completion, total, cached: cached + written, reasoning })
  const missing: MissingCount[] = []
  if (both.prompt === null) missing.push('prompt')
  if (both.completion === null) missing.push('completion')
  return {
    promptTokens: Math.max(both.prompt ?? 0, cached + written),
    cachedPromptTokens: cached,
    ...(written > 0 && { cacheWriteTokens: written }),
    completionTokens: both.completion ?? reasoning,
    ...(reasoning > 0 && { reasoningTokens: reasoning }),
    ...(missing.length > 0 && total > 0 && { totalTokens: total }),
    missing,
  }
}

/** OpenAI counts cached tokens as part of the prompt, Anthropic beside it. */
function readPrompt(counts: ReportedCounts): { prompt: number | null; cached: number; written: number } {
  const { prompt = null, input = null, cached: within = 0, written: writtenWithin = 0 } = counts
  const kept = (counts.writtenForMinutes ?? 0) + (counts.writtenForAnHour ?? 0)
  const cached = Math.max(within, counts.inputCached ?? 0)
  const written = Math.max(writtenWithin, counts.inputWritten ?? 0, kept)
  const read = prompt === null ? input : Math.max(prompt, input ?? 0)
  if (read === null) return { prompt: null, cached, written }
  // More than the prompt cannot be a part of it: it was counted beside it, whatever the names say.
  const isBeside = (prompt === null && within + writtenWithin === 0) || cached + written > read
  return { prompt: isBeside ? read + cached + written : read, cached, written }
}

interface CountsWithTotal {
  prompt: number | null
  completion: number | null
  /** 0 when there is none. */
  total: number
  cached: number
  reasoning: number
}

/** Completes the counts by their total: xAI and Gemini leave reasoning out of the completion, Bedrock cached tokens out of the prompt. */
function resolveTotal({ prompt, completion, total, cached, reasoning }: CountsWithTotal): {
  prompt: number | null
  completion: number | null
} {
  // Zeros that a total contradicts are no counts.
  if (!prompt && !completion && total > 0) return { prompt: null, completion: null }
  if (prompt === null || (prompt === 0 && completion !== null))
    return { prompt: completion !== null && total > completion ? total - completion : prompt, completion }
  if (completion === null) return { prompt, completion: total >= prompt && total > 0 ? total - prompt : null }
  const excess = total - prompt - completion
  if (excess > 0 && excess === cached && excess !== reasoning) return { prompt: prompt + cached, completion }
  // More than the completion cannot be a part of it.
  return {
    prompt,
    completion: Math.max(completion, total - prompt, reasoning > completion ? completion + reasoning : 0),
  }
}

function readDetails(counts: ReportedCounts): Partial<TokenUsage> {
  const { writtenForAnHour = 0, audioPrompt = 0, cachedAudioPrompt = 0, imagePrompt = 0, audioCompletion = 0 } = counts
  return {
    ...(writtenForAnHour > 0 && { cacheWriteHourTokens: writtenForAnHour }),
    ...(audioPrompt > 0 && { audioPromptTokens: audioPrompt }),
    ...(cachedAudioPrompt > 0 && { cachedAudioPromptTokens: cachedAudioPrompt }),
    ...(imagePrompt > 0 && { imagePromptTokens: imagePrompt }),
    ...(audioCompletion > 0 && { audioCompletionTokens: audioCompletion }),
  }
}

/** For one response. */
const MAX_REPORTED_USD = 100_000

/**
 * OpenRouter's figure: what it has charged, and for a key of its customer's own also what that key was charged. Without such a key, the one
 * is a part of the other.
 */
function readCost({ cost, is_byok: isByok, cost_details: details }: JsonObject): number | null {
  const charged = readAmount(cost, MAX_REPORTED_USD)
  const upstream = isJsonObject(details) ? readAmount(details.upstream_inference_cost, MAX_REPORTED_USD) : null
  const hasOwnKey = isByok === true || (isByok !== false && (upstream ?? 0) > (charged ?? 0))
  if (!hasOwnKey) return charged
  // What the customer's own key was charged is not known.
  return upstream === null || upstream === 0 ? null : (charged ?? 0) + upstream
}

/** Anthropic's speed and region decide its price, not its service tier. */
function readTier({ speed, inference_geo: region }: JsonObject, tier: unknown): string | null {
  const dearer = [speed === 'standard' ? null : speed, USUAL_REGIONS.includes(region) ? null : region]
  const named = dearer.filter(name => typeof name === 'string').join('-')
  if (named !== '') return named
  return typeof tier === 'string' && !DEFAULT_TIERS.includes(tier) ? tier : null
}

/** Regions that cost nothing more. */
const USUAL_REGIONS: readonly unknown[] = ['global', 'not_available', '']

/**
 * Calls of models within one response, with their models: where one summed up the conversation, advised, or responded in the place of
 * another, the counts of the whole leave its tokens out.
 */
function withParts(whole: TokenUsage, given: unknown): TokenUsage {
  if (!Array.isArray(given)) return whole
  const iterations = asObjects(given)
  if (iterations.every(({ type }) => type === 'message')) return whole
  const parts = iterations.flatMap(({ model, ...counts }): UsagePart[] => {
    const usage = readUsage({ ...counts, iterations: null }, whole.tier)
    return usage ? [{ model: typeof model === 'string' ? model : null, usage }] : []
  })
  return sumUsageParts(whole, parts)
}
