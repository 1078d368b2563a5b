/** Usage, and the contents of the cache. */
import { defineLaggingRead, defineRead } from './act-as.ts'
import type {
  LatencyRow,
  OverviewRow,
  RequestContentRow,
  RequestRow,
  ShareRow,
  TaggedUsageRow,
  UsageRow,
} from './rows.ts'

export const usageBuckets = defineLaggingRead<UsageRow>()('usage_buckets', {
  from_time: 'timestamptz',
  until_time: 'timestamptz',
  width: 'text',
  groups: 'text[]',
  of_projects: 'bigint[]?',
  of_keys: 'bigint[]?',
  of_models: 'text[]?',
  of_endpoints: 'text[]?',
  by_tag: 'text?',
  of_tags: 'jsonb?',
  passed_over: 'integer',
  most_rows: 'integer',
})

export const usageOverview = defineLaggingRead<OverviewRow>()('usage_overview', {
  of_projects: 'bigint[]?',
  from_time: 'timestamptz',
  until_time: 'timestamptz',
  width: 'text',
  zone: 'text',
  of_model: 'text?',
  of_key: 'bigint?',
  of_key_type: 'text?',
})

export const usageShares = defineLaggingRead<ShareRow>()('usage_shares', {
  of_projects: 'bigint[]?',
  from_time: 'timestamptz',
  until_time: 'timestamptz',
  share_by: 'text',
  of_model: 'text?',
  of_key: 'bigint?',
  of_key_type: 'text?',
})

/** `grouped_by`: hour, day or month of the zone; model, api_key or tag. */
export const usageOfTags = defineLaggingRead<TaggedUsageRow>()('usage_of_tags', {
  of_projects: 'bigint[]?',
  from_time: 'timestamptz',
  until_time: 'timestamptz',
  of_tags: 'jsonb',
  of_model: 'text?',
  of_key: 'bigint?',
  of_key_type: 'text?',
  grouped_by: 'text',
  zone: 'text',
})

export const latencyPercentiles = defineLaggingRead<LatencyRow>()('latency_percentiles', {
  of_projects: 'bigint[]?',
  from_time: 'timestamptz',
  until_time: 'timestamptz',
})

const chosenRequests = {
  of_project: 'bigint',
  from_time: 'timestamptz',
  until_time: 'timestamptz',
  of_key: 'bigint?',
  model_part: 'text?',
  of_endpoint: 'text?',
  of_provider: 'text?',
  of_result: 'text?',
  of_outcome: 'text?',
  of_status: 'smallint?',
  of_error: 'text?',
  of_end_user: 'text?',
  of_request_id: 'text?',
  of_tags: 'jsonb?',
  sorted: 'text',
  after_time: 'timestamptz?',
  after_request_id: 'text?',
  page_size: 'integer',
} as const

export const findRequests = defineLaggingRead<RequestRow>()('find_requests', chosenRequests)

/** One that a list has named: the standby that is asked next may not have it yet. */
export const findRequest = defineRead<RequestRow>()('find_requests', chosenRequests)

/** Null where nothing of it was kept. */
export const findRequestContent = defineRead<RequestContentRow>()('find_request_content', {
  of_project: 'bigint',
  of_request_id: 'text',
  at: 'timestamptz',
})
