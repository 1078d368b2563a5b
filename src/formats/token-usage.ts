/** What an answer took, in tokens and in calls of tools: as it says itself, and as the catalogue prices it. */
import { isJsonObject, type JsonObject, objectsOf } from './json/canonical.ts'

export interface TokenUsage {
  promptTokens: number
  /** Of the prompt tokens: those read from the provider's cache. */
  cachedPromptTokens: number
  /** Of the prompt tokens: those written to the provider's cache, if the provider charges extra for that. */
  cacheWriteTokens?: number
  /** Of those: kept for an hour, which costs more than the usual minutes. */
  cacheWriteHourTokens?: number
  /** The service tier that the answer names, unless it is the usual one. */
  tier?: string
  completionTokens: number
  /** Of the prompt and completion tokens: those of sound and pictures. */
  audioPromptTokens?: number
  /** Of those of sound: read from the provider's cache. */
  cachedAudioPromptTokens?: number
  imagePromptTokens?: number
  audioCompletionTokens?: number
  toolCalls?: ToolCalls
  /** All of these tokens by the calls of models that took them, where several did. */
  parts?: readonly UsagePart[]
  /** The model that the answer names: often a dated form of the one asked for. */
  answeredAs?: string
  /** In US dollars, if the provider reports its own figure. */
  reportedCostUsd: number | null
}

export interface UsagePart {
  /** Null: the one that was asked. */
  model: string | null
  usage: TokenUsage
}

/** Of tools that the provider runs, by the unit of their price; of a container, each GB of its memory counts. */
export type ToolCalls = Partial<Record<'search' | 'file_search' | 'container', number>>

export const NO_USAGE: TokenUsage = {
  promptTokens: 0,
  cachedPromptTokens: 0,
  completionTokens: 0,
  reportedCostUsd: null,
}

/** Names of the usual service tier. */
export const USUAL_TIERS = ['default', 'standard', 'auto']

/** As a record can hold it. */
export function countTokens(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
    ? Math.min(Math.round(value), 2_000_000_000)
    : 0
}

/** Sum of two calls' usage. The reported cost is kept only if the provider reported both. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  if (one === NO_USAGE) return other
  if (other === NO_USAGE) return one
  const areReported = one.reportedCostUsd !== null && other.reportedCostUsd !== null
  return {
    promptTokens: countTokens(one.promptTokens + other.promptTokens),
    cachedPromptTokens: countTokens(one.cachedPromptTokens + other.cachedPromptTokens),
    completionTokens: countTokens(one.completionTokens + other.completionTokens),
    reportedCostUsd: areReported ? (one.reportedCostUsd ?? 0) + (other.reportedCostUsd ?? 0) : null,
  }
}

/** For one answer. */
const MOST_REPORTED_USD = 100_000

/**
 * Reads OpenAI's `usage` object, with the aggregator's `usage.cost`. Null when there is none. `tier` is the answer's `service_tier`; what
 * tools were called is in its output.
 */
export function readUsage(usage: unknown, tier?: unknown, called?: ToolCalls): TokenUsage | null {
  if (!isJsonObject(usage)) return null
  const details = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const written = countTokens(details.cache_write_tokens)
  const writtenForAnHour = countTokens(details.cache_write_1h_tokens)
  const spoken = isJsonObject(usage.completion_tokens_details)
    ? countTokens(usage.completion_tokens_details.audio_tokens)
    : 0
  const cached = isJsonObject(details.cached_tokens_details) ? details.cached_tokens_details : {}
  const heardBefore = countTokens(cached.audio_tokens)
  const [heard, seen] = [countTokens(details.audio_tokens), countTokens(details.image_tokens)]
  const toolCalls = called ?? { search: countTokens(usage.web_searches) }
  const counted = tierOf(usage, tier)
  const whole = {
    promptTokens: countTokens(usage.prompt_tokens),
    cachedPromptTokens: countTokens(details.cached_tokens),
    ...(written > 0 && { cacheWriteTokens: written }),
    ...(writtenForAnHour > 0 && { cacheWriteHourTokens: writtenForAnHour }),
    ...(counted !== null && { tier: counted }),
    completionTokens: countTokens(usage.completion_tokens),
    ...(heard > 0 && { audioPromptTokens: heard }),
    ...(heardBefore > 0 && { cachedAudioPromptTokens: heardBefore }),
    ...(seen > 0 && { imagePromptTokens: seen }),
    ...(spoken > 0 && { audioCompletionTokens: spoken }),
    ...(Object.values(toolCalls).some(calls => calls > 0) && { toolCalls }),
    reportedCostUsd: readAmount(usage.cost, MOST_REPORTED_USD),
  }
  return withParts(whole, usage.iterations)
}

/** Anthropic's speed and region decide its price, not its service tier. */
function tierOf({ speed, inference_geo: region }: JsonObject, tier: unknown): string | null {
  const dearer = [speed === 'standard' ? null : speed, WIDEST.includes(region) ? null : region]
  const named = dearer.filter(name => typeof name === 'string').join('-')
  if (named !== '') return named
  return typeof tier === 'string' && !USUAL_TIERS.includes(tier) ? tier : null
}

/** Regions that cost nothing more. */
const WIDEST: readonly unknown[] = ['global', 'not_available', '']

/**
 * Calls of models within one answer, in chat's form with their models: where one summed up the conversation, advised, or answered in the
 * place of another, the counts of the whole leave its tokens out.
 */
function withParts(whole: TokenUsage, iterations: unknown): TokenUsage {
  if (!Array.isArray(iterations)) return whole
  const parts = objectsOf(iterations).flatMap(({ model, ...counts }): UsagePart[] => {
    const usage = readUsage({ ...counts, iterations: null }, whole.tier)
    return usage ? [{ model: typeof model === 'string' ? model : null, usage }] : []
  })
  return joinParts(whole, parts)
}

/** The whole with the tokens of all parts; unless they are fewer than its own, which is no account of them. */
export function joinParts(whole: TokenUsage, parts: readonly UsagePart[]): TokenUsage {
  const sum = (of: 'promptTokens' | 'cachedPromptTokens' | 'completionTokens') =>
    countTokens(parts.reduce((tokens, { usage }) => tokens + usage[of], 0))
  const [promptTokens, completionTokens] = [sum('promptTokens'), sum('completionTokens')]
  if (promptTokens < whole.promptTokens || completionTokens < whole.completionTokens) return whole
  return { ...whole, promptTokens, completionTokens, cachedPromptTokens: sum('cachedPromptTokens'), parts }
}

/** What a provider says of itself, such as a cost; null where it says nothing, or what cannot be and no record could hold. */
export function readAmount(value: unknown, most: number): number | null {
  return typeof value === 'number' && value >= 0 && value <= most ? value : null
}
