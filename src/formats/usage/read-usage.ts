/** Reads a response's `usage` in the format of any vendor and endpoint. */
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
 * Returns null when nothing in the usage can be read. An unreadable count is marked as missing, never zero. `tier` is the response's
 * `service_tier`; `called` are the tool calls in its output.
 */
export function readUsage(usage: unknown, tier?: unknown, called?: ToolCallCounts): TokenUsage | null {
  if (!isJsonObject(usage)) return null
  const reported = readUsageCounts(usage)
  const { missing, ...counts } = readTokens(reported)
  const reportedCostUsd = readCost(usage)
  const toolCalls = called ?? { search: reported.searches ?? 0 }
  const hasCalls = Object.values(toolCalls).some(calls => calls > 0)
  const { promptTokens, completionTokens, totalTokens = 0 } = counts
  const hasTokens = missing.length < 2 || promptTokens + completionTokens + totalTokens > 0
  if (!hasTokens && !hasCalls && reportedCostUsd === null) return null
  const pricedTier = readTier(usage, tier ?? usage.service_tier)
  const whole: TokenUsage = {
    ...counts,
    ...readDetails(reported),
    ...(missing.length > 0 && { missing }),
    ...(pricedTier !== null && { tier: pricedTier }),
    ...(hasCalls && { toolCalls }),
    reportedCostUsd,
  }
  return addUsageParts(whole, usage.iterations)
}

/** Reads the usage of a response that has no completion, such as embeddings. Its total is the prompt's count. */
export function readInputUsage(usage: unknown): TokenUsage | null {
  const read = readUsage(usage)
  if (!read) return null
  const { missing, totalTokens = 0, ...counts } = read
  return missing?.includes('prompt') ? { ...counts, promptTokens: Math.max(counts.promptTokens, totalTokens) } : counts
}

type Tokens = Omit<TokenUsage, 'reportedCostUsd'> & Required<Pick<TokenUsage, 'missing'>>

function readTokens(counts: ReportedCounts): Tokens {
  const { prompt, cached, written } = readPrompt(counts)
  const { completion = null, total = 0, reasoning = 0 } = counts
  const resolved = resolveTotal({ prompt, completion, total, cached: cached + written, reasoning })
  const missing: MissingCount[] = []
  if (resolved.prompt === null) missing.push('prompt')
  if (resolved.completion === null) missing.push('completion')
  return {
    promptTokens: Math.max(resolved.prompt ?? 0, cached + written),
    cachedPromptTokens: cached,
    ...(written > 0 && { cacheWriteTokens: written }),
    completionTokens: resolved.completion ?? reasoning,
    ...(reasoning > 0 && { reasoningTokens: reasoning }),
    ...(missing.length > 0 && total > 0 && { totalTokens: total }),
    missing,
  }
}

/** Reads the prompt's counts. OpenAI counts cached tokens as part of the prompt, Anthropic separately. */
function readPrompt(counts: ReportedCounts): { prompt: number | null; cached: number; written: number } {
  const { prompt = null, input = null, cached: within = 0, written: writtenWithin = 0 } = counts
  const writtenByTime = (counts.writtenForMinutes ?? 0) + (counts.writtenForAnHour ?? 0)
  const cached = Math.max(within, counts.inputCached ?? 0)
  const written = Math.max(writtenWithin, counts.inputWritten ?? 0, writtenByTime)
  const read = prompt === null ? input : Math.max(prompt, input ?? 0)
  if (read === null) return { prompt: null, cached, written }
  // A part cannot exceed the prompt, so these tokens were counted separately, whatever the names suggest.
  const isSeparate = (prompt === null && within + writtenWithin === 0) || cached + written > read
  return { prompt: isSeparate ? read + cached + written : read, cached, written }
}

interface CountsWithTotal {
  prompt: number | null
  completion: number | null
  /** 0 when the usage has no total. */
  total: number
  cached: number
  reasoning: number
}

/** Completes the counts from their total. xAI and Gemini omit reasoning from the completion; Bedrock omits cached tokens from the prompt. */
function resolveTotal({
  prompt,
  completion,
  total,
  cached,
  reasoning,
}: CountsWithTotal): Pick<CountsWithTotal, 'prompt' | 'completion'> {
  // Zeros that contradict the total are no counts.
  if (!prompt && !completion && total > 0) return { prompt: null, completion: null }
  if (prompt === null || (prompt === 0 && completion !== null))
    return { prompt: completion !== null && total > completion ? total - completion : prompt, completion }
  if (completion === null) return { prompt, completion: total >= prompt && total > 0 ? total - prompt : null }
  const excess = total - prompt - completion
  if (excess > 0 && excess === cached && excess !== reasoning) return { prompt: prompt + cached, completion }
  // Reasoning cannot exceed the completion if it is a part of it.
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

/** Maximum plausible cost of one response. */
const MAX_REPORTED_USD = 100_000

/**
 * Returns the cost that OpenRouter reports: its own charge and, if the customer's provider key was used, also the charge to that key.
 * Without such a key, its own charge includes the upstream cost.
 */
function readCost({ cost, is_byok: isByok, cost_details: details }: JsonObject): number | null {
  const charged = readAmount(cost, MAX_REPORTED_USD)
  const upstream = isJsonObject(details) ? readAmount(details.upstream_inference_cost, MAX_REPORTED_USD) : null
  const usesCustomerKey = isByok === true || (isByok !== false && (upstream ?? 0) > (charged ?? 0))
  if (!usesCustomerKey) return charged
  // The charge to the customer's key is not known.
  return upstream === null || upstream === 0 ? null : (charged ?? 0) + upstream
}

/** Returns the tier that affects the price. At Anthropic, speed and region affect it, not the service tier. */
function readTier({ speed, inference_geo: region }: JsonObject, tier: unknown): string | null {
  const priceFactors = [speed === 'standard' ? null : speed, DEFAULT_REGIONS.includes(region) ? null : region]
  const named = priceFactors.filter(name => typeof name === 'string').join('-')
  if (named !== '') return named
  return typeof tier === 'string' && !DEFAULT_TIERS.includes(tier) ? tier : null
}

/** Regions without an extra charge. */
const DEFAULT_REGIONS: readonly unknown[] = ['global', 'not_available', '']

/**
 * Adds the usage of each model call within a response. If another model summarized the conversation, advised, or responded instead, the
 * counts of the whole do not include its tokens.
 */
function addUsageParts(whole: TokenUsage, iterationList: unknown): TokenUsage {
  if (!Array.isArray(iterationList)) return whole
  const iterations = asObjects(iterationList)
  if (iterations.every(({ type }) => type === 'message')) return whole
  const parts = iterations.flatMap(({ model, ...counts }): UsagePart[] => {
    const usage = readUsage({ ...counts, iterations: null }, whole.tier)
    return usage ? [{ model: typeof model === 'string' ? model : null, usage }] : []
  })
  return sumUsageParts(whole, parts)
}
