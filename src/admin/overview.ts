/** GET /v1/usage: the data of the dashboard's overview, for one project or all that the caller may see. */
import { t } from 'elysia'
import { invalidRequest } from '../errors.ts'
import type { OverviewRow } from '../postgres/admin/rows.ts'
import { latencyPercentiles, usageOverview, usageShares } from '../postgres/admin/usage.ts'
import { overview } from './answers/usage.ts'
import { type AdminOptions, createController } from './controller.ts'
import { requireId } from './ids.ts'
import { operation } from './operation.ts'
import { fromSeconds, oneOf, toSeconds } from './pages.ts'
import { strict, timeZone, unixSeconds } from './stated.ts'

export function createOverviewController(options: AdminOptions) {
  return createController(options, '/v1/usage', 'Usage').get(
    '',
    async ({ caller, query: asked }) => {
      const { start_time, end_time, width = 'hour', time_zone = 'UTC' } = asked
      if (!isTimeZone(time_zone)) throw invalidRequest('time_zone must be a name such as Europe/Vienna.', 'time_zone')
      const span = {
        of_projects: asked.project_id === undefined ? null : [requireId('proj', asked.project_id)],
        from_time: fromSeconds(start_time),
        until_time: fromSeconds(Math.max(start_time, end_time)),
      }
      const only = {
        of_model: asked.model,
        of_key: asked.api_key_id === undefined ? null : requireId('key', asked.api_key_id),
        of_key_type: asked.key_type,
      }
      const isNarrowed = asked.model !== undefined || only.of_key !== null
      const [buckets, models, keys, tags, latency] = await Promise.all([
        usageOverview(caller.actor, { ...span, ...only, width, zone: time_zone }),
        usageShares(caller.actor, { ...span, ...only, share_by: 'model' }),
        usageShares(caller.actor, { ...span, ...only, share_by: 'api_key' }),
        usageShares(caller.actor, { ...span, ...only, share_by: 'tag' }),
        // Latencies are not counted by model or key, and not apart for test keys.
        isNarrowed ? [] : latencyPercentiles(caller.actor, span),
      ])
      return {
        object: 'usage.overview' as const,
        totals: totalsOf(buckets),
        buckets: buckets.map(({ bucket_start, ...rest }) => ({ start_time: toSeconds(bucket_start), ...rest })),
        by_model: models,
        by_api_key: keys,
        by_tag: tags,
        latency,
      }
    },
    operation('Sum up requests for an overview', overview, {
      query: t.Object(
        {
          start_time: unixSeconds,
          end_time: unixSeconds,
          width: t.Optional(oneOf('hour', 'day', 'month')),
          time_zone: t.Optional(timeZone),
          project_id: t.Optional(t.String()),
          api_key_id: t.Optional(t.String()),
          // Test keys are the sandbox's.
          key_type: t.Optional(oneOf('project', 'test')),
          model: t.Optional(t.String()),
        },
        strict,
      ),
    }),
  )
}

function totalsOf(buckets: readonly OverviewRow[]) {
  const sum = (field: Exclude<keyof OverviewRow, 'bucket_start'>) =>
    buckets.reduce((total, row) => total + row[field], 0)
  const hits = sum('exact_hits') + sum('semantic_hits')
  const misses = sum('misses')
  // A hit saves the average duration of a miss, less its own.
  const missMs = misses === 0 ? 0 : sum('miss_duration_ms') / misses
  return {
    requests: sum('requests'),
    exact_hits: sum('exact_hits'),
    semantic_hits: sum('semantic_hits'),
    misses,
    hit_rate: hits + misses === 0 ? null : hits / (hits + misses),
    client_errors: sum('client_errors'),
    server_errors: sum('server_errors'),
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    tokens_saved: sum('tokens_saved'),
    cost_usd: sum('cost_usd'),
    saved_usd: sum('saved_usd'),
    saved_seconds: Math.max(0, hits * missMs - sum('hit_duration_ms')) / 1000,
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}
