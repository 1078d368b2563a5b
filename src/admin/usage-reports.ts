/** Which report tells of which requests, and how its rows are called: OpenAI's names, where it has the report. */
import type { UsageRow } from '../postgres/admin/rows.ts'
import type { RecordedEndpoint } from '../providers/operations.ts'
import { formatId } from './ids.ts'

export interface Report {
  /** The last part of its path. */
  name: string
  endpoints: string[]
  describe(row: UsageRow): Record<string, unknown>
}

/** What a row has besides what all have. */
const ROWS = {
  completions: (row: UsageRow) => ({
    object: 'organization.usage.completions.result',
    input_tokens: row.prompt_tokens,
    output_tokens: row.completion_tokens,
    input_cached_tokens: row.cached_prompt_tokens,
    batch: null,
    service_tier: null,
  }),
  embeddings: (row: UsageRow) => ({ object: 'organization.usage.embeddings.result', input_tokens: row.prompt_tokens }),
  moderations: (row: UsageRow) => ({
    object: 'organization.usage.moderations.result',
    input_tokens: row.prompt_tokens,
  }),
  // How many pictures, characters and seconds is not recorded.
  images: (_: UsageRow) => ({ object: 'organization.usage.images.result', images: null, size: null, source: null }),
  audio_speeches: (_: UsageRow) => ({ object: 'organization.usage.audio_speeches.result', characters: null }),
  audio_transcriptions: (_: UsageRow) => ({ object: 'organization.usage.audio_transcriptions.result', seconds: null }),
  // The proxy's own.
  rerankings: (row: UsageRow) => ({
    object: 'organization.usage.rerankings.result',
    input_tokens: row.prompt_tokens,
  }),
  files_and_batches: (row: UsageRow) => ({
    object: 'organization.usage.files_and_batches.result',
    input_tokens: row.prompt_tokens,
    output_tokens: row.completion_tokens,
  }),
}
type ReportName = keyof typeof ROWS

/** Every recorded request is in exactly one. */
const REPORT_OF: Record<RecordedEndpoint, ReportName> = {
  chat: 'completions',
  completions: 'completions',
  responses: 'completions',
  messages: 'completions',
  realtime: 'completions',
  embeddings: 'embeddings',
  moderations: 'moderations',
  'images/generations': 'images',
  'images/edits': 'images',
  'images/variations': 'images',
  'audio/speech': 'audio_speeches',
  'audio/transcriptions': 'audio_transcriptions',
  'audio/translations': 'audio_transcriptions',
  rerank: 'rerankings',
  files: 'files_and_batches',
  batches: 'files_and_batches',
  message_batches: 'files_and_batches',
}

export const REPORTS: readonly Report[] = Object.entries(ROWS).map(([name, describe]) => ({
  name,
  endpoints: Object.entries(REPORT_OF).flatMap(([endpoint, report]) => (report === name ? [endpoint] : [])),
  describe: row => ({ ...describe(row), ...describeShared(row) }),
}))

function describeGroup(row: UsageRow) {
  return {
    project_id: row.project_id === null ? null : formatId('proj', row.project_id),
    api_key_id: row.key_id === null ? null : formatId('key', row.key_id),
    user_id: null,
  }
}

function describeShared(row: UsageRow) {
  return {
    num_model_requests: row.requests,
    ...describeGroup(row),
    model: row.model,
    // The proxy's own additions: what the cache saved.
    tokens_saved: row.tokens_saved,
    saved_usd: row.saved_usd,
  }
}

export function describeCosts(row: UsageRow) {
  return {
    object: 'organization.costs.result',
    amount: { value: row.cost_usd, currency: 'usd' },
    line_item: row.model,
    ...describeGroup(row),
    saved: { value: row.saved_usd, currency: 'usd' },
  }
}
