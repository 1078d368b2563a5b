/** Requests, and what they come to. */
import { type Static, type TSchema, Type as t } from '@sinclair/typebox'
import { counts, latency, orNull, overviewBucket, share, words } from '../../postgres/admin/rows.ts'
import { count, objectOf, seconds, text, usd } from './shared.ts'

const perhaps = t.Optional(orNull(count))
const countsAlways = t.Omit(t.Object(counts), [
  'exact_hits',
  'semantic_hits',
  'misses',
  'client_errors',
  'server_errors',
])
const countsOf = t.Object({
  ...countsAlways.properties,
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

export const overview = objectOf('Overview', 'usage.overview', {
  totals: t.Object({
    ...countsOf.properties,
    hit_rate: orNull(t.Number({ description: 'From 0 to 1, of requests that reached the cache.' })),
    saved_seconds: orNull(t.Number()),
  }),
  buckets: t.Array(
    t.Object({
      ...countsOf.properties,
      ...t.Partial(t.Pick(overviewBucket, ['hit_duration_ms', 'miss_duration_ms'])).properties,
      start_time: seconds,
    }),
  ),
  by_model: t.Array(share),
  by_api_key: t.Array(share),
  by_tag: t.Array(share),
  latency: t.Array(latency),
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

const countOrNull = orNull(count)
const milliseconds = t.Number({ minimum: 0 })
const msOrNull = orNull(milliseconds)
export const request = objectOf(
  'Request',
  'request',
  {
    id: t.String({ description: 'The list’s cursor.' }),
    request_id: t.String({ description: 'X-Request-Id of the answer.' }),
    created_at: seconds,
    recorded_at: t.String({ description: 'ISO 8601: when the answer ended.' }),
    api_key_id: text,
    key_name: textOrNull,
    api_key_redacted_value: textOrNull,
    endpoint: text,
    model: t.String({ description: 'The model that answered.' }),
    asked_model: orNull(t.String({ description: 'If a fallback answered: the model that was wanted.' })),
    fallbacks: orNull(t.String({ description: 'Those that were asked, in order, with commas between them.' })),
    provider: textOrNull,
    provider_keys: orNull(
      t.String({
        description:
          'Where the project has several keys of the provider: the names of those that were asked, in order, with commas between them. One that was refused has the status after it; the last one answered.',
      }),
    ),
    cache_result: orNull(words('HIT', 'HIT-SEMANTIC', 'MISS')),
    cache_reason: textOrNull,
    cache_id: orNull(t.String({ description: 'Of the entry that was served, or nearly was.' })),
    similarity: orNull(t.Number()),
    status: t.Integer(),
    streamed: t.Boolean(),
    prompt_tokens: count,
    cached_prompt_tokens: count,
    completion_tokens: count,
    tokens_saved: count,
    completion_tokens_saved: countOrNull,
    cost_usd: usd,
    presumed: orNull(
      t.Boolean({ description: 'Nobody knows what was used: tokens and cost are the most that it may have been.' }),
    ),
    saved_usd: usd,
    latency_ms: t.Number({ minimum: 0, description: 'From arrival to the head of the response.' }),
    duration_ms: t.Number({ minimum: 0, description: 'From arrival to the last byte.' }),
    admission_ms: msOrNull,
    lookup_ms: msOrNull,
    embed_ms: msOrNull,
    upstream_ms: msOrNull,
    first_chunk_ms: msOrNull,
    attempts: countOrNull,
    upstream_status: orNull(t.Integer()),
    upstream_message: textOrNull,
    error_code: textOrNull,
    error_message: textOrNull,
    end_user: orNull(t.String({ description: 'Who the client says it asks for.' })),
    tags: orNull(t.Record(t.String(), text)),
  },
  'One answered, refused or failed request, and its story.',
)
export type ProxyRequest = Static<typeof request>

export const content = objectOf('RequestContent', 'request.content', {
  request: textOrNull,
  response: textOrNull,
})

export const refusal = t.Object(
  { reason: t.String({ description: 'The code of the error.' }), requests: count, latest_hour: seconds },
  { $id: 'Refusal' },
)
export type Refusal = Static<typeof refusal>
