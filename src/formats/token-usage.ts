/** Defines the usage of a response, in tokens and tool calls, by the units that the catalogue prices. */

export interface TokenUsage {
  promptTokens: number
  /** Prompt tokens that were read from the provider's cache. */
  cachedPromptTokens: number
  /** Prompt tokens that were written to the provider's cache, if the provider charges extra for that. */
  cacheWriteTokens?: number
  /** Tokens of `cacheWriteTokens` that are cached for an hour, which costs more than the default minutes. */
  cacheWriteHourTokens?: number
  /** The service tier that the response names, unless it is the default. */
  tier?: string
  completionTokens: number
  /** Completion tokens of the model's reasoning. */
  reasoningTokens?: number
  /** Counts that were not reported or cannot be read. The value in their place is a lower bound. */
  missing?: readonly MissingCount[]
  /** Sum of prompt and completion tokens, if one of them is missing. */
  totalTokens?: number
  /** Prompt tokens of audio. The next fields are likewise parts of the prompt or completion tokens. */
  audioPromptTokens?: number
  /** Audio prompt tokens that were read from the provider's cache. */
  cachedAudioPromptTokens?: number
  imagePromptTokens?: number
  audioCompletionTokens?: number
  toolCalls?: ToolCallCounts
  /** The same tokens by call, if the response took calls of several models. */
  parts?: readonly UsagePart[]
  /** The model that the response names, which is often a dated form of the requested model. */
  responseModel?: string
  /** The cost in US dollars that the provider reports; null when it reports none. */
  reportedCostUsd: number | null
}

export type MissingCount = 'prompt' | 'completion'

export interface UsagePart {
  /** Null stands for the requested model. */
  model: string | null
  usage: TokenUsage
}

/** Number of calls of hosted tools, by the unit of their price. A container counts once for each GB of its memory. */
export type ToolCallCounts = Partial<Record<'search' | 'file_search' | 'container', number>>

export const NO_USAGE: TokenUsage = {
  promptTokens: 0,
  cachedPromptTokens: 0,
  completionTokens: 0,
  reportedCostUsd: null,
}

/** Names of the default service tier. */
export const DEFAULT_TIERS = ['default', 'standard', 'auto']

/** Returns the value as a count that fits into a usage record; 0 for anything but a positive number. */
export function clampTokenCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
    ? Math.min(Math.round(value), 2_000_000_000)
    : 0
}

/** Returns the sum of two calls' usage. The reported cost is null unless the provider reported both costs. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  if (one === NO_USAGE) return other
  if (other === NO_USAGE) return one
  const areReported = one.reportedCostUsd !== null && other.reportedCostUsd !== null
  return {
    promptTokens: clampTokenCount(one.promptTokens + other.promptTokens),
    cachedPromptTokens: clampTokenCount(one.cachedPromptTokens + other.cachedPromptTokens),
    completionTokens: clampTokenCount(one.completionTokens + other.completionTokens),
    reportedCostUsd: areReported ? (one.reportedCostUsd ?? 0) + (other.reportedCostUsd ?? 0) : null,
  }
}

/** Marks zeros that cannot be true as missing: every request has prompt tokens, and output has completion tokens. */
export function markZeroCountsMissing(usage: TokenUsage, { hasOutput }: { hasOutput: boolean }): TokenUsage {
  if (usage.promptTokens > 0 && (!hasOutput || usage.completionTokens > 0)) return usage
  const missing = new Set(usage.missing)
  if (usage.promptTokens === 0) missing.add('prompt')
  if (hasOutput && usage.completionTokens === 0) missing.add('completion')
  return missing.size === 0 ? usage : { ...usage, missing: [...missing] }
}

/** Replaces missing counts by estimates, which are never below the reported lower bounds. */
export function fillMissingCounts(
  { missing = [], totalTokens, ...known }: TokenUsage,
  estimate: Pick<TokenUsage, 'promptTokens' | 'completionTokens'>,
): TokenUsage {
  const filled = { ...known }
  if (missing.includes('prompt'))
    filled.promptTokens = Math.max(known.promptTokens, Math.min(estimate.promptTokens, totalTokens ?? Infinity))
  const rest = (totalTokens ?? 0) - filled.promptTokens
  if (missing.includes('completion'))
    filled.completionTokens = Math.max(known.completionTokens, estimate.completionTokens, rest)
  return filled
}

/** Returns `whole` with the tokens of all parts; unchanged when the parts have fewer tokens than it. */
export function sumUsageParts(whole: TokenUsage, parts: readonly UsagePart[]): TokenUsage {
  const sum = (field: 'promptTokens' | 'cachedPromptTokens' | 'completionTokens') =>
    clampTokenCount(parts.reduce((tokens, { usage }) => tokens + usage[field], 0))
  const [promptTokens, completionTokens] = [sum('promptTokens'), sum('completionTokens')]
  if (promptTokens < whole.promptTokens || completionTokens < whole.completionTokens) return whole
  return { ...whole, promptTokens, completionTokens, cachedPromptTokens: sum('cachedPromptTokens'), parts }
}
