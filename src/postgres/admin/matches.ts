/** Semantic hits and near misses, people's feedback on them, and what that teaches. */
import { defineChange, defineRead } from './act-as.ts'
import type { CalibrationRow, MatchRow, SimilarityRow, VerdictRow } from './rows.ts'

export const pageOfMatches = defineRead<MatchRow>()('page_of_matches', {
  of_project: 'bigint',
  served: 'boolean',
  only_request: 'text?',
  before_time: 'timestamptz?',
  before_request_id: 'text?',
  page_size: 'integer',
})

export const giveFeedback = defineChange()('give_feedback', { project: 'project', request_id: 'text', verdict: 'text' })

export const pageOfVerdicts = defineRead<VerdictRow>()('page_of_verdicts', {
  of_project: 'bigint',
  before_time: 'timestamptz?',
  before_id: 'text?',
  page_size: 'integer',
})

export const removeVerdict = defineChange()('remove_verdict', {
  project: 'project',
  verdict_id: 'text',
})

export const similarityHistogram = defineRead<SimilarityRow>()('similarity_histogram', {
  of_project: 'bigint',
})

export const listCalibration = defineRead<CalibrationRow>()('list_calibration', {
  of_project: 'bigint',
})
