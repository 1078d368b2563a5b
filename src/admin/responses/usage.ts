/** Requests, and what they come to. */
import { type Static, type TSchema, Type as t } from '@sinclair/typebox'
import { nullable } from '../../postgres/admin/schemas.ts'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import { USAGE_RECORD_COLUMNS } from '../../postgres/usage-record.generated.ts'
import { countSchema, objectSchema, textSchema, unixSecondsSchema, usdSchema } from './shared.ts'

const share = t.Object(SQL_TYPE_SCHEMAS.usage_share, {
  $id: 'Share',
  description: 'What one model, key or tag had of the requests.',
})
const latency = t.Object(SQL_TYPE_SCHEMAS.latency, { $id: 'Latency' })

const perhaps = t.Optional(nullable(countSchema))
const countsOf = t.Object({
  requests: countSchema,
  prompt_tokens: countSchema,
  completion_tokens: countSchema,
  tokens_saved: countSchema,
  cost_usd: usdSchema,
  saved_usd: usdSchema,
  hits: countSchema,
  failed: countSchema,
  // Of requests with tags these are not told.
  exact_hits: perhaps,
  semantic_hits: perhaps,
  misses: perhaps,
  client_errors: perhaps,
  server_errors: perhaps,
})
export type UsageCounts = Static<typeof countsOf>
export type UsageShare = Static<typeof share>

const estimated = t.Object(
  { reason: textSchema, requests: countSchema, cost_usd: usdSchema, doubtful_usd: usdSchema },
  { $id: 'EstimatedCost' },
)

export const overviewSchema = objectSchema('Overview', 'usage.overview', {
  totals: t.Object({
    ...countsOf.properties,
    hit_rate: nullable(t.Number({ description: 'From 0 to 1, of requests that reached the cache.' })),
    saved_seconds: nullable(t.Number()),
  }),
  buckets: t.Array(
    t.Object({
      ...countsOf.properties,
      hit_duration_ms: t.Optional(t.Number()),
      miss_duration_ms: t.Optional(t.Number()),
      start_time: unixSecondsSchema,
    }),
  ),
  by_model: t.Array(share),
  by_api_key: t.Array(share),
  by_tag: t.Array(share),
  latency: t.Array(latency),
  estimated: t.Array(estimated, { description: 'Of the costs, by reason. Empty where tags are asked for.' }),
})
export type Overview = Static<typeof overviewSchema>

const textOrNull = nullable(textSchema)
/** What a row of each report has. */
export const groupFields = {
  project_id: textOrNull,
  api_key_id: textOrNull,
  user_id: t.Null(),
  tags: t.Optional(t.Record(t.String(), textOrNull, { description: 'The value of the tag that is grouped by.' })),
}
export const usageFields = {
  ...groupFields,
  num_model_requests: countSchema,
  model: textOrNull,
  tokens_saved: countSchema,
  saved_usd: usdSchema,
}
const money = t.Object({ value: t.Number(), currency: t.Literal('usd') })
export const costsSchema = objectSchema('Costs', 'organization.costs.result', {
  ...groupFields,
  amount: money,
  saved: money,
  line_item: t.Union([textSchema, t.Null()], { description: 'The model.' }),
})

/** Buckets of a report, whose rows are as `row` says. */
export function bucketListSchema(row: TSchema) {
  return t.Object({
    object: t.Literal('page'),
    data: t.Array(
      t.Object({
        object: t.Literal('bucket'),
        start_time: unixSecondsSchema,
        end_time: unixSecondsSchema,
        results: t.Array(t.Unsafe<Record<string, unknown>>(row)),
      }),
    ),
    has_more: t.Boolean(),
    next_page: textOrNull,
  })
}

const { project_id: _, key_id: __, ...recorded } = USAGE_RECORD_COLUMNS
export const requestSchema = objectSchema(
  'Request',
  'request',
  {
    id: t.String({ description: 'The list’s cursor.' }),
    created_at: unixSecondsSchema,
    ...recorded,
    api_key_id: textSchema,
    key_name: textOrNull,
    api_key_redacted_value: textOrNull,
  },
  'One answered, refused or failed request, and its story.',
)
export type RequestLogEntry = Static<typeof requestSchema>

export const requestContentSchema = objectSchema('RequestContent', 'request.content', {
  request: textOrNull,
  response: textOrNull,
})

export const rejectionCountSchema = t.Object({ ...SQL_TYPE_SCHEMAS.refusal }, { $id: 'Refusal' })
export type RejectionCount = Static<typeof rejectionCountSchema>
