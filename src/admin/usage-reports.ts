/** The usage reports: the endpoints that each covers, and its fields. Names are OpenAI's, if it has the report. */
import { type Static, type TObject, type TProperties, Type as t } from '@sinclair/typebox'
import type { JsonRowOf } from '../postgres/admin/call-as.ts'
import type { RecordedEndpoint } from '../providers/pass-through-operations.ts'
import { formatId } from './ids.ts'
import { countSchema, objectSchema } from './responses/shared.ts'
import { type costsSchema, usageFields } from './responses/usage.ts'

export type UsageBucketRow = JsonRowOf<'usage_buckets'>

export interface UsageReport {
  /** The last part of the report's path. */
  name: ReportName
  endpoints: string[]
  /** The requests that the report covers, for its description. */
  title: string
  row: TObject
  describe(row: UsageBucketRow): Record<string, unknown>
}

/** Defines the additional fields of a report's rows. */
function defineReport<Fields extends TProperties>(
  title: string,
  fields: Fields,
  describe: (row: UsageBucketRow) => { [Name in keyof Fields]: Static<Fields[Name]> },
) {
  return { title, fields, describe }
}

const inputTokens = { input_tokens: countSchema }
const inputAndOutputTokens = { ...inputTokens, output_tokens: countSchema }
const notRecorded = t.Null({ description: 'Not recorded.' })

const ROWS = {
  completions: defineReport(
    'chat and text completions, responses and messages',
    { ...inputAndOutputTokens, input_cached_tokens: countSchema, batch: notRecorded, service_tier: notRecorded },
    row => ({
      input_tokens: row.prompt_tokens,
      output_tokens: row.completion_tokens,
      input_cached_tokens: row.cached_prompt_tokens,
      batch: null,
      service_tier: null,
    }),
  ),
  embeddings: defineReport('embeddings', inputTokens, row => ({ input_tokens: row.prompt_tokens })),
  moderations: defineReport('moderations', inputTokens, row => ({ input_tokens: row.prompt_tokens })),
  // The numbers of images, characters and seconds are not recorded.
  images: defineReport('images', { images: notRecorded, size: notRecorded, source: notRecorded }, () => ({
    images: null,
    size: null,
    source: null,
  })),
  audio_speeches: defineReport('speech', { characters: notRecorded }, () => ({ characters: null })),
  audio_transcriptions: defineReport('transcriptions and translations', { seconds: notRecorded }, () => ({
    seconds: null,
  })),
  // Reports that OpenAI does not have.
  rerankings: defineReport('rankings', inputTokens, row => ({ input_tokens: row.prompt_tokens })),
  files_and_batches: defineReport('files and batches', inputAndOutputTokens, row => ({
    input_tokens: row.prompt_tokens,
    output_tokens: row.completion_tokens,
  })),
}
type ReportName = keyof typeof ROWS

/** The report of each endpoint. Every recorded request is in exactly one report. */
const REPORT_BY_ENDPOINT: Record<RecordedEndpoint, ReportName> = {
  chat: 'completions',
  completions: 'completions',
  responses: 'completions',
  messages: 'completions',
  generate_content: 'completions',
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
  'responses/compact': 'completions',
  files: 'files_and_batches',
  anthropic_files: 'files_and_batches',
  batches: 'files_and_batches',
  message_batches: 'files_and_batches',
  conversations: 'files_and_batches',
  vector_stores: 'files_and_batches',
  containers: 'files_and_batches',
  uploads: 'files_and_batches',
  videos: 'files_and_batches',
}

export const USAGE_REPORTS: readonly UsageReport[] = Object.entries(ROWS).map(([key, { title, fields, describe }]) => {
  const name = key as ReportName
  const object = `organization.usage.${name}.result`
  return {
    name,
    title,
    endpoints: Object.entries(REPORT_BY_ENDPOINT).flatMap(([endpoint, report]) => (report === name ? [endpoint] : [])),
    row: objectSchema(`Usage_${name}`, object, { ...usageFields, ...fields }),
    describe: row => ({ object, ...describe(row), ...describeShared(row) }),
  }
})

function describeGroup(row: UsageBucketRow) {
  return {
    project_id: row.project_id === null ? null : formatId('proj', row.project_id),
    api_key_id: row.key_id === null ? null : formatId('key', row.key_id),
    user_id: null,
  }
}

function describeShared(row: UsageBucketRow) {
  return {
    num_model_requests: row.requests,
    ...describeGroup(row),
    model: row.model,
    // Additional fields with the cache's savings.
    tokens_saved: row.tokens_saved,
    saved_usd: row.saved_usd,
  }
}

export function formatCosts(row: UsageBucketRow): Static<typeof costsSchema> {
  return {
    object: 'organization.costs.result',
    amount: { value: row.cost_usd, currency: 'usd' },
    line_item: row.model,
    ...describeGroup(row),
    saved: { value: row.saved_usd, currency: 'usd' },
  }
}
