/** Which report tells of which requests, and how its rows are called: OpenAI's names, where it has the report. */
import { type Static, type TObject, type TProperties, Type as t } from '@sinclair/typebox'
import type { JsonRowOf } from '../postgres/admin/call-as.ts'
import type { RecordedEndpoint } from '../providers/pass-through-operations.ts'
import { formatId } from './ids.ts'
import { countSchema, objectSchema } from './responses/shared.ts'
import { type costsSchema, usageFields } from './responses/usage.ts'

export type UsageBucketRow = JsonRowOf<'usage_buckets'>

export interface UsageReport {
  /** The last part of its path. */
  name: ReportName
  endpoints: string[]
  /** What it is a report of. */
  title: string
  row: TObject
  describe(row: UsageBucketRow): Record<string, unknown>
}

/** What a row has besides what all have. */
function rowsOf<Fields extends TProperties>(
  title: string,
  fields: Fields,
  describe: (row: UsageBucketRow) => { [Name in keyof Fields]: Static<Fields[Name]> },
) {
  return { title, fields, describe }
}

const input = { input_tokens: countSchema }
const both = { ...input, output_tokens: countSchema }
const nothing = t.Null({ description: 'Not recorded.' })

const ROWS = {
  completions: rowsOf(
    'chat and text completions, responses and messages',
    { ...both, input_cached_tokens: countSchema, batch: nothing, service_tier: nothing },
    row => ({
      input_tokens: row.prompt_tokens,
      output_tokens: row.completion_tokens,
      input_cached_tokens: row.cached_prompt_tokens,
      batch: null,
      service_tier: null,
    }),
  ),
  embeddings: rowsOf('embeddings', input, row => ({ input_tokens: row.prompt_tokens })),
  moderations: rowsOf('moderations', input, row => ({ input_tokens: row.prompt_tokens })),
  // How many pictures, characters and seconds is not recorded.
  images: rowsOf('images', { images: nothing, size: nothing, source: nothing }, () => ({
    images: null,
    size: null,
    source: null,
  })),
  audio_speeches: rowsOf('speech', { characters: nothing }, () => ({ characters: null })),
  audio_transcriptions: rowsOf('transcriptions and translations', { seconds: nothing }, () => ({ seconds: null })),
  // The proxy's own.
  rerankings: rowsOf('rankings', input, row => ({ input_tokens: row.prompt_tokens })),
  files_and_batches: rowsOf('files and batches', both, row => ({
    input_tokens: row.prompt_tokens,
    output_tokens: row.completion_tokens,
  })),
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
    endpoints: Object.entries(REPORT_OF).flatMap(([endpoint, report]) => (report === name ? [endpoint] : [])),
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
    // The proxy's own additions: what the cache saved.
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
