/** GET /v1/usage: the data of the dashboard's overview, for one project or all that the caller may see. */
import { Type as t } from '@sinclair/typebox'
import { invalidRequestError } from '../../errors/errors.ts'
import { type Actor, type ActorArguments, callAsActor, type JsonRowOf } from '../../postgres/admin/call-as.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import { tagFilterSchema, timeZoneSchema } from '../field-types.ts'
import { requireId } from '../ids.ts'
import {
  readTimeRange,
  repeatableParameter,
  startOfPrevious,
  stringEnum,
  timeRangeQuery,
  toUnixSeconds,
} from '../pagination.ts'
import { hitRateOf } from '../responses/shared.ts'
import { overviewSchema } from '../responses/usage.ts'
import { readTagFilter } from './usage.ts'

const MAY_LAG = { mayLag: true }
const SHARES = ['model', 'api_key', 'tag'] as const
const MAX_SHARES = 20

/** Selects the requests that an overview counts. */
export const USAGE_FILTER = {
  api_key_id: t.Optional(t.String()),
  // Test keys use the sandbox.
  key_type: t.Optional(stringEnum('project', 'test')),
  model: t.Optional(t.String()),
  // Requests must have all of these tags.
  tags: repeatableParameter(tagFilterSchema),
}

export const OVERVIEW_OPERATIONS: readonly AdminOperation[] = [
  defineOperation({
    ...{ method: 'GET', path: '/v1/usage', tag: 'Usage', response: overviewSchema },
    summary: 'Read an overview of usage',
    query: {
      ...timeRangeQuery,
      width: t.Optional(stringEnum('hour', 'day', 'month')),
      time_zone: t.Optional(timeZoneSchema),
      project_id: t.Optional(t.String()),
      ...USAGE_FILTER,
      shares_by: t.Optional(stringEnum('requests', 'cost', 'tokens', 'failed')),
    },
    async serve({ caller, query: asked }) {
      const { width = 'hour', time_zone = 'UTC', shares_by: ordered_by = 'requests' } = asked
      requireTimeZone(time_zone)
      const span = {
        of_projects: asked.project_id === undefined ? null : [requireId('proj', asked.project_id)],
        ...readTimeRange(asked),
      }
      const only = {
        of_model: asked.model ?? null,
        of_key: asked.api_key_id === undefined ? null : requireId('key', asked.api_key_id),
        of_key_type: asked.key_type ?? null,
      }
      const of_tags = readTagFilter(asked.tags)
      const filter = { ...span, ...only }
      const previous = {
        ...filter,
        from_time: startOfPrevious(asked),
        until_time: span.from_time,
      }
      const isFiltered = asked.model !== undefined || only.of_key !== null || of_tags !== null
      const read = of_tags === null ? readAll : readTagged(of_tags)
      const [[buckets, models, keys, tags], [before], latency, estimated] = await Promise.all([
        read(caller.actor, filter, { width, zone: time_zone, shares: SHARES, ordered_by }),
        read(caller.actor, previous, { width: 'all', zone: 'UTC', shares: [], ordered_by }),
        // Latencies are not available by model, key, key type or tag.
        isFiltered ? [] : callAsActor(caller.actor, 'latency_percentiles', span, MAY_LAG),
        of_tags === null ? callAsActor(caller.actor, 'estimated_costs', filter, MAY_LAG) : [],
      ])
      const earlier = totalsOf(before)
      return {
        object: 'usage.overview' as const,
        totals: totalsOf(buckets),
        previous_requests: earlier.requests,
        previous_cost_usd: earlier.cost_usd,
        previous_saved_usd: earlier.saved_usd,
        buckets: buckets.map(({ bucket_start, ...rest }) => ({ start_time: toUnixSeconds(bucket_start), ...rest })),
        by_model: withHitRates(models),
        by_api_key: withHitRates(keys),
        by_tag: withHitRates(tags),
        latency,
        estimated,
      }
    },
  }),
]

type OverviewRow = JsonRowOf<'usage_overview'>
type ShareRow = JsonRowOf<'usage_shares'>
type UsageFilter = Omit<ActorArguments<'usage_shares'>, 'share_by' | 'ordered_by' | 'max_rows'>
type Bucket = Pick<OverviewRow, 'bucket_start' | Summed> & { hits: number; failed: number } & Partial<OverviewRow>
type Summed = 'requests' | 'misses' | 'prompt_tokens' | 'completion_tokens' | 'tokens_saved' | 'cost_usd' | 'saved_usd'
type Share = (typeof SHARES)[number]
interface Groupings {
  /** `all`: one bucket. */
  width: 'hour' | 'day' | 'month' | 'all'
  zone: string
  shares: readonly Share[]
  /** The figure by which shares are ordered. */
  ordered_by: string
}
type Read = (actor: Actor, filter: UsageFilter, by: Groupings) => Promise<[buckets: Bucket[], ...shares: ShareRow[][]]>

const readAll: Read = async (actor, filter, { width, zone, shares, ordered_by }) => {
  const [rows, ...ofShares] = await Promise.all([
    callAsActor(actor, 'usage_overview', { ...filter, width, zone }, MAY_LAG),
    ...shares.map(share_by =>
      callAsActor(actor, 'usage_shares', { ...filter, share_by, ordered_by, max_rows: MAX_SHARES }, MAY_LAG),
    ),
  ])
  const buckets = rows.map(row => ({
    ...row,
    hits: row.exact_hits + row.semantic_hits,
    failed: row.client_errors + row.server_errors,
  }))
  return [buckets, ...ofShares]
}

/** Reads usage by tags. It has no separate counts of kinds of hits and failures, and no durations. */
const readTagged =
  (of_tags: Record<string, string>): Read =>
  async (actor, filter, { width, zone, shares, ordered_by }) => {
    const all = ['time', ...shares]
    // The sums of all projects together are not by key.
    const isDivided = filter.of_projects === null && shares.includes('api_key')
    const read = isDivided ? [all.filter(grouping => grouping !== 'api_key'), ['api_key']] : [all]
    const rows = await Promise.all(
      read.map(groupings =>
        callAsActor(actor, 'usage_by_tag', { ...filter, of_tags, groupings, width, zone, ordered_by }, MAY_LAG),
      ),
    )
    const byGrouping = Map.groupBy(rows.flat(), row => row.grouped_by)
    const toShares = (share: Share) =>
      (byGrouping.get(share) ?? []).map(
        ({ name, requests, hits, misses, failed, prompt_tokens, completion_tokens, cost_usd, saved_usd }) => ({
          name,
          requests,
          hits,
          misses,
          failed,
          tokens: prompt_tokens + completion_tokens,
          cost_usd,
          saved_usd,
        }),
      )
    const ofTime = (byGrouping.get('time') ?? []).map(({ grouped_by: _, name: __, ...bucket }) => bucket)
    return [ofTime, ...shares.map(toShares)]
  }

const withHitRates = (shares: readonly ShareRow[] = []) =>
  shares.map(share => ({ ...share, hit_rate: hitRateOf(share) }))

function totalsOf(buckets: readonly Bucket[]) {
  const sum = (field: Exclude<keyof Bucket, 'bucket_start'>) =>
    buckets.reduce((total, row) => total + (row[field] ?? 0), 0)
  const hasDetails = buckets.every(({ exact_hits }) => exact_hits !== undefined)
  const orNull = (field: Exclude<keyof Bucket, 'bucket_start'>) => (hasDetails ? sum(field) : null)
  const hits = sum('hits')
  const misses = sum('misses')
  // A hit saves the average duration of a miss, less its own.
  const missMs = misses === 0 ? 0 : sum('miss_duration_ms') / misses
  return {
    requests: sum('requests'),
    hits,
    failed: sum('failed'),
    exact_hits: orNull('exact_hits'),
    semantic_hits: orNull('semantic_hits'),
    misses,
    hit_rate: hitRateOf({ hits, misses }),
    client_errors: orNull('client_errors'),
    server_errors: orNull('server_errors'),
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    tokens_saved: sum('tokens_saved'),
    cost_usd: sum('cost_usd'),
    saved_usd: sum('saved_usd'),
    saved_seconds: hasDetails ? Math.max(0, hits * missMs - sum('hit_duration_ms')) / 1000 : null,
  }
}

/** Returns the time zone, or throws a 400. */
export function requireTimeZone(name: string): string {
  if (isTimeZone(name)) return name
  throw invalidRequestError("The query parameter 'time_zone' must be a name such as Europe/Vienna.", 'time_zone')
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}
