/** The usage of an upstream call, reported or estimated. */
import type { TokenUsage } from '../../formats/token-usage.ts'

/** Why the usage of a call is estimated: the column `cost_estimated` of usage_records. */
export type EstimateReason = 'client_left' | 'provider_failed' | 'provider_silent' | 'proxy_stopped' | 'not_reported'

/**
 * The estimate for usage that a provider did not report. The difference between the estimate and the upper bound is doubtful: it stays
 * reserved, and is not charged.
 */
export interface UsageEstimate {
  reason: EstimateReason
  doubtfulUsd: number
  doubtfulTokens: number
}

export interface CallUsage extends TokenUsage {
  /** On a miss: prompt tokens of those inputs that were cached. */
  savedPromptTokens?: number
  /** Whether something was used that has no known price. */
  isUnpriced?: boolean
  /** Absent if the provider reported the usage, or the tokenizer counts all that is charged. */
  estimate?: UsageEstimate
}

/** Returns the usage that a call is charged if its provider never reports any. */
export type EstimateCallUsage = (reason: EstimateReason) => CallUsage

/** The usage of one model. */
export interface ModelUsage {
  model: string
  usage: CallUsage
}

/** The highest numbers that a usage record can hold. */
export const MAX_RECORDED_TOKENS = 2_000_000_000
export const MAX_RECORDED_USD = 100_000
