/** Usage, and the contents of the cache. */
import { defineChange, defineRead } from './act-as.ts'
import type {
  CacheStatsRow,
  EntryRow,
  LatencyRow,
  OverviewRow,
  RefusalRow,
  RequestRow,
  ShareRow,
  UsageRow,
} from './rows.ts'

export interface UsageFilter {
  from_time: string
  until_time: string
  width: '1m' | '1h' | '1d'
  groups: string[]
  of_projects: number[] | null
  of_keys: number[] | null
  of_models: string[] | null
  of_endpoints: string[] | null
  /** Name of the tag to group by. */
  by_tag: string | null
  of_tags: Record<string, string> | null
  /** Rows before the first one wanted, and how many are. */
  passed_over: number
  most_rows: number
}

export const usageBuckets = defineRead<UsageFilter, UsageRow>('usage_buckets', {
  from_time: 'timestamptz',
  until_time: 'timestamptz',
  width: 'text',
  groups: 'text[]',
  of_projects: 'bigint[]',
  of_keys: 'bigint[]',
  of_models: 'text[]',
  of_endpoints: 'text[]',
  by_tag: 'text',
  of_tags: 'jsonb',
  passed_over: 'integer',
  most_rows: 'integer',
})

export interface Span {
  of_projects: number[] | null
  from_time: string
  until_time: string
}

export const usageOverview = defineRead<
  Span & { width: 'hour' | 'day' | 'month'; zone: string; of_model: string | null; of_key: number | null },
  OverviewRow
>('usage_overview', {
  of_projects: 'bigint[]',
  from_time: 'timestamptz',
  until_time: 'timestamptz',
  width: 'text',
  zone: 'text',
  of_model: 'text',
  of_key: 'bigint',
})

export const usageShares = defineRead<
  Span & { share_by: 'model' | 'provider' | 'api_key' | 'tag'; of_model: string | null; of_key: number | null },
  ShareRow
>('usage_shares', {
  of_projects: 'bigint[]',
  from_time: 'timestamptz',
  until_time: 'timestamptz',
  share_by: 'text',
  of_model: 'text',
  of_key: 'bigint',
})

export const latencyPercentiles = defineRead<Span, LatencyRow>('latency_percentiles', {
  of_projects: 'bigint[]',
  from_time: 'timestamptz',
  until_time: 'timestamptz',
})

export interface RequestFilter {
  of_project: number
  from_time: string
  until_time: string
  of_key: number | null
  model_part: string | null
  of_endpoint: string | null
  of_provider: string | null
  of_result: string | null
  of_outcome: string | null
  of_status: number | null
  of_error: string | null
  of_end_user: string | null
  of_request_id: string | null
  of_tags: Record<string, string> | null
  sorted: 'newest' | 'slowest' | 'dearest'
  after_time: string | null
  after_request_id: string | null
  page_size: number
}

export const findRequests = defineRead<RequestFilter, RequestRow>('find_requests', {
  of_project: 'bigint',
  from_time: 'timestamptz',
  until_time: 'timestamptz',
  of_key: 'bigint',
  model_part: 'text',
  of_endpoint: 'text',
  of_provider: 'text',
  of_result: 'text',
  of_outcome: 'text',
  of_status: 'smallint',
  of_error: 'text',
  of_end_user: 'text',
  of_request_id: 'text',
  of_tags: 'jsonb',
  sorted: 'text',
  after_time: 'timestamptz',
  after_request_id: 'text',
  page_size: 'integer',
})

export const cacheStats = defineRead<{ of_project: number }, CacheStatsRow>('cache_stats', { of_project: 'bigint' })

export const pageOfEntries = defineRead<
  {
    of_project: number
    only_entry: number | null
    of_model: string | null
    of_namespace: string | null
    older_than_seconds: number | null
    before_id: number | null
    page_size: number
  },
  EntryRow
>('page_of_cache_entries', {
  of_project: 'bigint',
  only_entry: 'bigint',
  of_model: 'text',
  of_namespace: 'text',
  older_than_seconds: 'bigint',
  before_id: 'bigint',
  page_size: 'integer',
})

export const invalidateCache = defineChange<
  {
    project: number
    entry_id: number | null
    of_model: string | null
    of_namespace: string | null
    older_than_seconds: number | null
    dry_run: boolean
  },
  { result: number }
>('invalidate_cache', {
  project: 'project',
  entry_id: 'bigint',
  of_model: 'text',
  of_namespace: 'text',
  older_than_seconds: 'bigint',
  dry_run: 'boolean',
})

export const purgeCache = defineChange<{ project: number }, { result: number }>('purge_cache', { project: 'project' })

export const listRefusals = defineRead<{ from_time: string; until_time: string }, RefusalRow>('list_refusals', {
  from_time: 'timestamptz',
  until_time: 'timestamptz',
})
