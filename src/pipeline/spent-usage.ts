/** What a call used, or may have used. */
import type { TokenUsage } from '../formats/token-usage.ts'

export interface SpentUsage extends TokenUsage {
  /** On a miss: prompt tokens of the inputs that were cached. */
  savedPromptTokens?: number
  /** What was used has a price that is not known. */
  isUnpriced?: boolean
  /** Nobody knows what was used: it is the most that it may have been. */
  isPresumed?: boolean
}

/** What a model used. */
export interface Spent {
  model: string
  usage: SpentUsage
}

/** What a record holds. */
export const MOST_TOKENS = 2_000_000_000
