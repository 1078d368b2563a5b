/** Response schemas of usage and costs. */
import { type Static, type TSchema, Type as t } from '@sinclair/typebox'
import { nullable } from '../../postgres/admin/schemas.ts'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import {
  countSchema,
  hitRateSchema,
  objectSchema,
  pageSchema,
  textSchema,
  unixSecondsSchema,
  usdSchema,
} from './shared.ts'

const share = t.Object(
  { ...SQL_TYPE_SCHEMAS.usage_share, hit_rate: hitRateSchema },
  { $id: 'Share', description: 'The share of a model, key or tag in the usage.' },
)
export const nearestLimitSchema = t.Object(SQL_TYPE_SCHEMAS.nearest_limit, {
  $id: 'NearestLimit',
  description: 'A limit that applies to requests of a project, and how much of it is used.',
})
export type NearestLimit = Static<typeof nearestLimitSchema>

const latency = t.Object(SQL_TYPE_SCHEMAS.latency, { $id: 'Latency' })

const optionalCount = t.Optional(nullable(countSchema))
const countsOf = t.Object({
  requests: countSchema,
  prompt_tokens: countSchema,
  completion_tokens: countSchema,
  tokens_saved: countSchema,
  cost_usd: usdSchema,
  saved_usd: usdSchema,
  hits: countSchema,
  misses: countSchema,
  failed: countSchema,
  // These counts are missing if requests are filtered by tags.
  exact_hits: optionalCount,
  semantic_hits: optionalCount,
  client_errors: optionalCount,
  server_errors: optionalCount,
})
export type UsageCounts = Static<typeof countsOf>
export type UsageShare = Static<typeof share>

const estimated = t.Object(SQL_TYPE_SCHEMAS.estimated_cost, { $id: 'EstimatedCost' })

export const overviewSchema = objectSchema('Overview', 'usage.overview', {
  totals: t.Object({
    ...countsOf.properties,
    hit_rate: hitRateSchema,
    saved_seconds: nullable(t.Number()),
  }),
  previous_requests: t.Integer({ minimum: 0, description: 'Requests in the time range of equal length before.' }),
  previous_cost_usd: t.Number({ description: 'Their cost. US dollars.' }),
  previous_saved_usd: t.Number({ description: 'The cost that their hits saved. US dollars.' }),
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
  estimated: t.Array(estimated, {
    description: 'The estimated part of the costs, by reason. Empty if requests are filtered by tags.',
  }),
})
export type Overview = Static<typeof overviewSchema>

const costChangeSchema = nullable(
  t.Number({
    description: 'cost_usd compared with previous_cost_usd: 0.5 is half more. Null: there was no cost before.',
  }),
)

export const costRowSchema = t.Object(
  {
    kind: t.Union([t.Literal('group'), t.Literal('without'), t.Literal('rest'), t.Literal('total')], {
      description: 'group: one team, key, …; without: requests without one; rest: all groups beyond the first 1,000.',
    }),
    name: nullable(textSchema),
    requests: countSchema,
    hits: countSchema,
    misses: countSchema,
    hit_rate: hitRateSchema,
    cost_usd: usdSchema,
    estimated_usd: t.Number({ description: 'The part of cost_usd that is estimated, in US dollars.' }),
    cost_share: nullable(
      t.Number({ description: 'The share of the total cost, from 0 to 1. Null: there is no cost.' }),
    ),
    saved_usd: usdSchema,
    previous_cost_usd: t.Number({ description: 'The cost in the time before, in US dollars.' }),
    change: costChangeSchema,
  },
  { $id: 'CostRow' },
)
export type CostRow = Static<typeof costRowSchema>

export const costTableSchema = objectSchema('CostTable', 'usage.costs', {
  start_time: unixSecondsSchema,
  end_time: unixSecondsSchema,
  previous_start_time: unixSecondsSchema,
  previous_end_time: unixSecondsSchema,
  total: costRowSchema,
  data: t.Array(costRowSchema, { description: 'Most expensive first. The rows add up to the total.' }),
})
export type CostTable = Static<typeof costTableSchema>

export const projectUsageSchema = t.Object(
  {
    ...SQL_TYPE_SCHEMAS.project_share,
    hit_rate: hitRateSchema,
    failed_share: nullable(
      t.Number({ description: 'The share of failed requests, from 0 to 1. Null: there are no requests.' }),
    ),
    change: costChangeSchema,
  },
  { $id: 'ProjectUsage', description: 'A project with its usage.' },
)
export type ProjectUsage = Static<typeof projectUsageSchema>

const agentSession = t.Object(SQL_TYPE_SCHEMAS.agent_session, { $id: 'AgentSession' })
export type AgentSession = Static<typeof agentSession>
export const agentSessionsSchema = t.Object(
  {
    ...pageSchema(agentSession).properties,
    since: nullable(
      t.Integer({ description: 'From when on requests were read, in Unix seconds. Null: all of the time range.' }),
    ),
    sessions: t.Integer({ minimum: 0, description: 'The number of sessions.' }),
    cost_usd: t.Number({ description: 'Their cost. US dollars.' }),
    prompt_cache_saved_usd: t.Number({ description: 'What the providers’ prompt caches saved. US dollars.' }),
    unread_sessions: t.Integer({
      minimum: 0,
      description: 'The number of sessions that wrote the provider’s prompt cache without ever reading it.',
    }),
    unread_usd: t.Number({ description: 'What that cost more than requests without a prompt cache. US dollars.' }),
  },
  {
    $id: 'AgentSessions',
    description: 'Sessions of agents. At most the newest 50,000 requests with a session are read.',
  },
)
export type AgentSessions = Static<typeof agentSessionsSchema>

const textOrNull = nullable(textSchema)
const paidQuestion = t.Object(
  {
    id: t.String({ description: 'The id of the last request in the list of requests.' }),
    ...SQL_TYPE_SCHEMAS.paid_question,
    question: nullable(
      t.String({ description: 'The beginning of the question. Null: it was not stored, or you may not read it.' }),
    ),
  },
  { $id: 'PaidQuestion' },
)
export type PaidQuestion = Static<typeof paidQuestion>
export const paidAgainSchema = objectSchema(
  'PaidAgain',
  'usage.paid_again',
  {
    since: nullable(t.Integer({ description: 'Only requests after this time were read. Null: all. Unix seconds.' })),
    requests: t.Integer({ minimum: 0, description: 'The number of requests that were paid for again.' }),
    cost_usd: t.Number({ description: 'Their cost. US dollars.' }),
    questions: t.Array(paidQuestion, { description: 'The twenty most expensive, by question and reason.' }),
  },
  'Requests that were paid for although the question had been answered before.',
)
export type PaidAgain = Static<typeof paidAgainSchema>
/** The fields that the rows of all reports have. */
export const groupFields = {
  project_id: textOrNull,
  api_key_id: textOrNull,
  user_id: t.Null(),
  tags: t.Optional(
    t.Record(t.String(), textOrNull, { description: 'The value of the tag by which rows are grouped.' }),
  ),
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

/** Creates the schema of the buckets of a report with the given row schema. */
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
