/** Semantic hits and near misses, people's feedback on them, and what that teaches. */
import { defineChange, defineRead } from './act-as.ts'
import type { CalibrationRow, MatchRow, SimilarityRow, VerdictRow } from './rows.ts'

export interface MatchFilter {
  of_project: number
  /** True for hits; false for near misses. */
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

export const pageOfVerdicts = defineRead<
  { of_project: number; before_time: string | null; before_id: string | null; page_size: number },
  VerdictRow
>('page_of_verdicts', {
  of_project: 'bigint',
  before_time: 'timestamptz',
  before_id: 'text',
  page_size: 'integer',
})

export const removeVerdict = defineChange<{ project: number; verdict_id: string }>('remove_verdict', {
  project: 'project',
  verdict_id: 'text',
})

export const similarityHistogram = defineRead<{ of_project: number }, SimilarityRow>('similarity_histogram', {
  of_project: 'bigint',
})

export const listCalibration = defineRead<{ of_project: number }, CalibrationRow>('list_calibration', {
  of_project: 'bigint',
})
