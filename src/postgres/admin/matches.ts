/** Semantic hits and near misses, what people say of them, and what that teaches. */
import { defineChange, defineRead } from './act-as.ts'

export interface MatchRow {
  request_id: string
  served_at: string
  reason: 'normalized' | 'proved' | 'judged' | 'threshold' | 'undecided'
  difference: string | null
  similarity: number
  is_shadow: boolean
  saved_usd: number
  prompt_tokens: number
  /** Null where the entry is gone. */
  entry_id: number | null
  model: string | null
  endpoint: string | null
  cached_wording: string | null
  /** As PostgreSQL writes bytes, `\\x` and hex. */
  sealed_wording: string | null
  verdict: 'same' | 'different' | null
  verdict_source: 'person' | 'judge' | null
}

export interface MatchFilter {
  of_project: number
  /** True: hits; false: near misses. */
  served: boolean
  only_request: string | null
  before_time: string | null
  before_request_id: string | null
  page_size: number
}

export const pageOfMatches = defineRead<MatchFilter, MatchRow>('page_of_matches', {
  of_project: 'bigint',
  served: 'boolean',
  only_request: 'text',
  before_time: 'timestamptz',
  before_request_id: 'text',
  page_size: 'integer',
})

export const giveFeedback = defineChange<{ project: number; request_id: string; verdict: 'wrong' | 'right' }>(
  'give_feedback',
  { project: 'project', request_id: 'text', verdict: 'text' },
)

export interface SimilarityRow {
  at_least: number
  served: number
  stopped: number
  saved_usd: number
  missed_usd: number
  same: number
  different: number
}

export const similarityHistogram = defineRead<{ of_project: number }, SimilarityRow>('similarity_histogram', {
  of_project: 'bigint',
})

export interface CalibrationRow {
  difference: string
  threshold: number
  served: number
  precision: number
  precision_low: number
  precision_high: number
}

export const listCalibration = defineRead<{ of_project: number }, CalibrationRow>('list_calibration', {
  of_project: 'bigint',
})
