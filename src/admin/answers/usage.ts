/** Requests, and what they come to. */
import { type Static, type TSchema, Type as t } from '@sinclair/typebox'
import { orNull } from '../../postgres/admin/schemas.ts'
import { TYPES } from '../../postgres/admin/views.generated.ts'
import { recordColumns } from '../../postgres/usage-record.generated.ts'
import { count, objectOf, seconds, text, usd } from './shared.ts'

const share = t.Object(TYPES.usage_share, {
  $id: 'Share',
  description: 'What one model, key or tag had of the requests.',
})
const latency = t.Object(TYPES.latency, { $id: 'Latency' })

const perhaps = t.Optional(orNull(count))
const countsOf = t.Object({
  requests: count,
  prompt_tokens: count,
  completion_tokens: count,
  tokens_saved: count,
  cost_usd: usd,
  saved_usd: usd,
  hits: count,
  failed: count,
  // Of requests with tags these are not told.
  exact_hits: perhaps,
  semantic_hits: perhaps,
  misses: perhaps,
  client_errors: perhaps,
  server_errors: perhaps,
})
export type Counts = Static<typeof countsOf>
export type Share = Static<typeof share>

const estimated = t.Object(
  { reason: text, requests: count, cost_usd: usd, doubtful_usd: usd },
  { $id: 'EstimatedCost' },
)

export const overview = objectOf('Overview', 'usage.overview', {
  totals: t.Object({
    ...countsOf.properties,
    hit_rate: orNull(t.Number({ description: 'From 0 to 1, of requests that reached the cache.' })),
    saved_seconds: orNull(t.Number()),
  }),
  buckets: t.Array(
    t.Object({
      ...countsOf.properties,
      hit_duration_ms: t.Optional(t.Number()),
      miss_duration_ms: t.Optional(t.Number()),
      start_time: seconds,
    }),
  ),
  by_model: t.Array(share),
  by_api_key: t.Array(share),
  by_tag: t.Array(share),
  latency: t.Array(latency),
  estimated: t.Array(estimated, { description: 'Of the costs, by reason. Empty where tags are asked for.' }),
})
export type Overview = Static<typeof overview>

const textOrNull = orNull(text)
/** What a row of each report has. */
export const group = {
  project_id: textOrNull,
  api_key_id: textOrNull,
  user_id: t.Null(),
  tags: t.Optional(t.Record(t.String(), textOrNull, { description: 'The value of the tag that is grouped by.' })),
}
export const usageFields = {
  ...group,
  num_model_requests: count,
  model: textOrNull,
  tokens_saved: count,
  saved_usd: usd,
}
const money = t.Object({ value: t.Number(), currency: t.Literal('usd') })
export const costs = objectOf('Costs', 'organization.costs.result', {
  ...group,
  amount: money,
  saved: money,
  line_item: t.Union([text, t.Null()], { description: 'The model.' }),
})

/** Buckets of a report, whose rows are as `row` says. */
export function bucketsOf(row: TSchema) {
  return t.Object({
    object: t.Literal('page'),
    data: t.Array(
      t.Object({
        object: t.Literal('bucket'),
        start_time: seconds,
        end_time: seconds,
        results: t.Array(t.Unsafe<Record<string, unknown>>(row)),
      }),
    ),
    has_more: t.Boolean(),
    next_page: textOrNull,
  })
}

const { project_id: _, key_id: __, ...recorded } = recordColumns
export const request = objectOf(
  'Request',
  'request',
  {
    id: t.String({ description: 'The list’s cursor.' }),
    created_at: seconds,
    ...recorded,
    api_key_id: text,
    key_name: textOrNull,
    api_key_redacted_value: textOrNull,
  },
  'One answered, refused or failed request, and its story.',
)
export type ProxyRequest = Static<typeof request>

export const content = objectOf('RequestContent', 'request.content', {
  request: textOrNull,
  response: textOrNull,
})

export const refusal = t.Object({ ...TYPES.refusal }, { $id: 'Refusal' })
export type Refusal = Static<typeof refusal>
