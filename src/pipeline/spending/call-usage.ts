/** What a call used, as far as that is known. */
import type { TokenUsage } from '../../formats/token-usage.ts'

/** Why the usage of a call is estimated: `cost_estimated` of usage_records. */
export type EstimateReason = 'client_left' | 'provider_failed' | 'provider_silent' | 'proxy_stopped' | 'not_reported'

/** Usage that its provider did not report. What it may have used beyond the estimate is doubtful: it stays reserved, and is not charged. */
export interface UsageEstimate {
  reason: EstimateReason
  doubtfulUsd: number
  doubtfulTokens: number
}

export interface CallUsage extends TokenUsage {
  /** On a miss: prompt tokens of the inputs that were cached. */
  savedPromptTokens?: number
  /** Whether something was used that has no known price. */
  isUnpriced?: boolean
  /** Unless the provider reported the usage, or the tokenizer counts all that is charged. */
  estimate?: UsageEstimate
}

/** What a call is charged if nobody ever reports its usage. */
export type EstimateCallUsage = (reason: EstimateReason) => CallUsage

/** What a model used. */
export interface ModelUsage {
  model: string
  usage: CallUsage
}

/** The most that a record holds. */
export const MAX_RECORDED_TOKENS = 2_000_000_000
export const MAX_RECORDED_USD = 100_000
