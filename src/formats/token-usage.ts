/** What a response used, in tokens and in calls of tools: as it reports, and as the catalogue prices it. */

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
  /** Of the completion tokens: the model's reasoning. */
  reasoningTokens?: number
  /** Counts that were not reported, or not readably: what is here in their place is the least that they may be. */
  missing?: readonly MissingCount[]
  /** Of prompt and completion together, where one of them is missing. */
  totalTokens?: number
  /** Of the prompt and completion tokens: those of sound and pictures. */
  audioPromptTokens?: number
  /** Of those of sound: read from the provider's cache. */
  cachedAudioPromptTokens?: number
  imagePromptTokens?: number
  audioCompletionTokens?: number
  toolCalls?: ToolCallCounts
  /** All of these tokens by the calls of models that took them, where several did. */
  parts?: readonly UsagePart[]
  /** The model that the answer names: often a dated form of the one asked for. */
  responseModel?: string
  /** In US dollars, if the provider reports its own figure. */
  reportedCostUsd: number | null
}

export type MissingCount = 'prompt' | 'completion'

export interface UsagePart {
  /** Null: the one that was asked. */
  model: string | null
  usage: TokenUsage
}

/** Of tools that the provider runs, by the unit of their price; of a container, each GB of its memory counts. */
export type ToolCallCounts = Partial<Record<'search' | 'file_search' | 'container', number>>

export const NO_USAGE: TokenUsage = {
  promptTokens: 0,
  cachedPromptTokens: 0,
  completionTokens: 0,
  reportedCostUsd: null,
}

/** Names of the usual service tier. */
export const DEFAULT_TIERS = ['default', 'standard', 'auto']

/** As a record can hold it. */
export function clampTokenCount(value: unknown): number {
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
    promptTokens: clampTokenCount(one.promptTokens + other.promptTokens),
    cachedPromptTokens: clampTokenCount(one.cachedPromptTokens + other.cachedPromptTokens),
    completionTokens: clampTokenCount(one.completionTokens + other.completionTokens),
    reportedCostUsd: areReported ? (one.reportedCostUsd ?? 0) + (other.reportedCostUsd ?? 0) : null,
  }
}

/** Marks zeros as missing where they cannot be: every request has a prompt, and output has tokens. */
export function markZeroCountsMissing(usage: TokenUsage, { hasOutput }: { hasOutput: boolean }): TokenUsage {
  if (usage.promptTokens > 0 && (!hasOutput || usage.completionTokens > 0)) return usage
  const missing = new Set(usage.missing)
  if (usage.promptTokens === 0) missing.add('prompt')
  if (hasOutput && usage.completionTokens === 0) missing.add('completion')
  return missing.size === 0 ? usage : { ...usage, missing: [...missing] }
}

/** Puts estimates in the place of missing counts, no less than what was reported of them. */
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

/** The whole with the tokens of all parts; unless they are fewer than its own, which is no account of them. */
export function sumUsageParts(whole: TokenUsage, parts: readonly UsagePart[]): TokenUsage {
  const sum = (of: 'promptTokens' | 'cachedPromptTokens' | 'completionTokens') =>
    clampTokenCount(parts.reduce((tokens, { usage }) => tokens + usage[of], 0))
  const [promptTokens, completionTokens] = [sum('promptTokens'), sum('completionTokens')]
  if (promptTokens < whole.promptTokens || completionTokens < whole.completionTokens) return whole
  return { ...whole, promptTokens, completionTokens, cachedPromptTokens: sum('cachedPromptTokens'), parts }
}
