/** Usage and costs over time, in OpenAI's form. */
import { t } from 'elysia'
import { invalidRequest } from '../errors.ts'
import type { UsageRow } from '../postgres/admin/rows.ts'
import { usageBuckets } from '../postgres/admin/usage.ts'
import { type AdminOptions, createController } from './controller.ts'
import { formatId, type IdKind, parseId } from './ids.ts'
import { fromSeconds, oneOf, several, toSeconds } from './pages.ts'
import { textOf } from './stated.ts'

type Width = '1m' | '1h' | '1d'

const WIDTHS: Record<Width, { seconds: number; buckets: number; mostBuckets: number }> = {
  '1m': { seconds: 60, buckets: 60, mostBuckets: 1440 },
  '1h': { seconds: 3600, buckets: 24, mostBuckets: 168 },
  '1d': { seconds: 86_400, buckets: 7, mostBuckets: 180 },
}

const time = t.Integer({ minimum: 0, maximum: 100_000_000_000 })
const GROUPS = {
  completions: ['project_id', 'api_key_id', 'user_id', 'model', 'batch', 'service_tier', 'api_source'],
  embeddings: ['project_id', 'api_key_id', 'user_id', 'model'],
  costs: ['project_id', 'api_key_id', 'user_id', 'line_item', 'api_source'],
} as const

function queryOf(report: keyof typeof GROUPS) {
  return t.Object(
    {
      start_time: time,
      end_time: t.Optional(time),
      bucket_width: t.Optional(report === 'costs' ? oneOf<Width>('1d') : oneOf<Width>('1m', '1h', '1d')),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 1440 })),
      page: t.Optional(textOf({ pattern: '^(page_[0-9]{1,12})?$' })),
      group_by: several(textOf({ enum: GROUPS[report] })),
      project_ids: several(t.String()),
      api_key_ids: several(t.String()),
      user_ids: several(t.String()),
      models: several(t.String()),
      line_items: several(t.String()),
      batch: t.Optional(t.Boolean()),
    },
    { additionalProperties: false },
  )
}
type Query = ReturnType<typeof queryOf>['static']

/** How a bucket's rows are reported. */
interface Report {
  endpoints: string[] | null
  groups: readonly string[]
  describe(row: UsageRow): Record<string, unknown>
}

export function createUsageController(options: AdminOptions) {
  const { database } = options
  type Caller = Parameters<typeof usageBuckets>[1]

  async function report(actor: Caller, asked: Query, { endpoints, groups, describe }: Report) {
    const span = readSpan(asked)
    const unknown = asked.group_by?.find(group => !groups.includes(group))
    if (unknown !== undefined) throw invalidRequest(`group_by takes ${groups.join(', ')}.`, 'group_by')
    const rows = await usageBuckets(database, actor, {
      from_time: fromSeconds(span.from),
      until_time: fromSeconds(span.until),
      width: span.width,
      groups: (asked.group_by ?? []).map(group => (group === 'line_item' ? 'model' : group)),
      of_projects: idsOf('proj', asked.project_ids),
      of_keys: idsOf('key', asked.api_key_ids),
      of_models: asked.line_items ?? asked.models ?? null,
      of_endpoints: endpoints,
    })
    const byBucket = Map.groupBy(rows, row => toSeconds(row.bucket_start))
    return {
      object: 'page' as const,
      data: bucketsOf(span).map(([start, end]) => ({
        object: 'bucket' as const,
        start_time: start,
        end_time: end,
        results: (byBucket.get(start) ?? []).map(describe),
      })),
      has_more: span.next !== null,
      next_page: span.next === null ? null : `page_${span.next}`,
    }
  }

  return createController(options, '/v1/organization')
    .get(
      '/usage/completions',
      ({ caller, query: asked }) =>
        report(caller.actor, asked, {
          endpoints: ['chat', 'completions'],
          groups: GROUPS.completions,
          describe: describeCompletions,
        }),
      { query: queryOf('completions') },
    )
    .get(
      '/usage/embeddings',
      ({ caller, query: asked }) =>
        report(caller.actor, asked, {
          endpoints: ['embeddings'],
          groups: GROUPS.embeddings,
          describe: describeEmbeddings,
        }),
      { query: queryOf('embeddings') },
    )
    .get(
      '/costs',
      ({ caller, query: asked }) =>
        report(caller.actor, asked, { endpoints: null, groups: GROUPS.costs, describe: describeCosts }),
      { query: queryOf('costs') },
    )
}

interface TimeSpan {
  from: number
  until: number
  width: Width
  /** Start of the next page; null on the last one. */
  next: number | null
}

/** Whole buckets, at most as many as a page holds. */
function readSpan({ start_time, end_time, bucket_width: width = '1d', limit, page }: Query): TimeSpan {
  const { seconds, buckets, mostBuckets } = WIDTHS[width]
  const cursor = page === undefined || page === '' ? null : /^page_(\d{1,12})$/.exec(page)?.[1]
  if (cursor === undefined) throw invalidRequest('page must be the next_page of an earlier answer.', 'page')
  const begin = cursor === null ? start_time : Number(cursor)
  const from = begin - (begin % seconds)
  const end = end_time ?? Math.floor(Date.now() / 1000) + 1
  // Further buckets are on the next page.
  const most = Math.min(limit ?? buckets, mostBuckets)
  const until = end <= start_time ? from : Math.min(Math.ceil(end / seconds) * seconds, from + most * seconds)
  return { from, until: Math.max(from, until), width, next: until < end && end > start_time ? until : null }
}

function bucketsOf({ from, until, width }: TimeSpan): [start: number, end: number][] {
  const { seconds } = WIDTHS[width]
  return Array.from({ length: (until - from) / seconds }, (_, at) => [from + at * seconds, from + (at + 1) * seconds])
}

function idsOf(kind: IdKind, ids: readonly string[] | undefined): number[] | null {
  return ids === undefined ? null : ids.map(id => parseId(kind, id) ?? -1)
}

function describeGroup(row: UsageRow) {
  return {
    project_id: row.project_id === null ? null : formatId('proj', row.project_id),
    api_key_id: row.key_id === null ? null : formatId('key', row.key_id),
    user_id: null,
  }
}

function describeCompletions(row: UsageRow) {
  return {
    object: 'organization.usage.completions.result',
    input_tokens: row.prompt_tokens,
    output_tokens: row.completion_tokens,
    input_cached_tokens: row.cached_prompt_tokens,
    num_model_requests: row.requests,
    ...describeGroup(row),
    model: row.model,
    batch: null,
    service_tier: null,
    // The proxy's own additions: what the cache saved.
    tokens_saved: row.tokens_saved,
    saved_usd: row.saved_usd,
  }
}

function describeEmbeddings(row: UsageRow) {
  return {
    object: 'organization.usage.embeddings.result',
    input_tokens: row.prompt_tokens,
    num_model_requests: row.requests,
    ...describeGroup(row),
    model: row.model,
    tokens_saved: row.tokens_saved,
    saved_usd: row.saved_usd,
  }
}

function describeCosts(row: UsageRow) {
  return {
    object: 'organization.costs.result',
    amount: { value: row.cost_usd, currency: 'usd' },
    line_item: row.model,
    ...describeGroup(row),
    saved: { value: row.saved_usd, currency: 'usd' },
  }
}
