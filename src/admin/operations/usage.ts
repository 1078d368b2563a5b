/** Usage and costs over time, in OpenAI's form. */
import { t } from 'elysia'
import { invalidRequestError } from '../../errors/errors.ts'
import { nowSeconds } from '../../event-loop/clock.ts'
import { type Actor, type ActorArguments, callAsActor } from '../../postgres/admin/call-as.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import { constrainedText, STRICT_OBJECT } from '../field-types.ts'
import { parseIds } from '../ids.ts'
import { fromUnixSeconds, repeatableParameter, stringEnum, toUnixSeconds } from '../pagination.ts'
import { bucketListSchema, costsSchema } from '../responses/usage.ts'
import { formatCosts, USAGE_REPORTS, type UsageBucketRow } from '../usage-reports.ts'

type Width = '1m' | '1h' | '1d'

const WIDTHS: Record<Width, { seconds: number; buckets: number; mostBuckets: number }> = {
  '1m': { seconds: 60, buckets: 60, mostBuckets: 1440 },
  '1h': { seconds: 3600, buckets: 24, mostBuckets: 168 },
  '1d': { seconds: 86_400, buckets: 7, mostBuckets: 180 },
}
/** An answer has no more rows than this; the rest is on the next page. */
const MOST_ROWS = 5_000
/** Minutes are summed from single records: so many at first. */
const FIRST_MINUTES = 60
/** A page begins no further read after this time; the rest is on the next page. */
const ENOUGH_MS = 500
/** While a page has taken less than this, the next read covers twice as many buckets as the one before. */
const QUICK_MS = 100
const MAY_LAG = { mayLag: true }

const time = t.Integer({ minimum: 0, maximum: 100_000_000_000 })

const names = repeatableParameter(t.String())
type Names = typeof names

/** Only what changes the answer: OpenAI's other parameters are refused by name. */
function queryOf(widths: Width[], groups: string[], filters: { models: Names } | { line_items: Names }) {
  return t.Object(
    {
      start_time: time,
      end_time: t.Optional(time),
      bucket_width: t.Optional(stringEnum<Width>(...widths)),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 1440 })),
      page: t.Optional(constrainedText({ pattern: '^(page_[0-9]{1,12}(_[0-9]{1,9})?)?$' })),
      group_by: repeatableParameter(constrainedText({ pattern: `^(${groups.join('|')}|tag:.+)$` })),
      tags: repeatableParameter(constrainedText({ pattern: '^[^=]+=.+$' })),
      project_ids: repeatableParameter(t.String()),
      api_key_ids: repeatableParameter(t.String()),
      ...filters,
    },
    STRICT_OBJECT,
  )
}

interface Query {
  start_time: number
  end_time?: number
  bucket_width?: Width
  limit?: number
  page?: string
  group_by?: string[]
  tags?: string[]
  project_ids?: string[]
  api_key_ids?: string[]
  models?: string[]
  line_items?: string[]
}

/** A group by the values of one tag. */
const TAG = /^tag:[A-Za-z][\w.-]{0,31}$/
const USAGE_GROUPS = ['project_id', 'api_key_id', 'model']
const COSTS_GROUPS = ['project_id', 'api_key_id', 'line_item']
const USAGE_QUERY = queryOf(['1m', '1h', '1d'], USAGE_GROUPS, { models: names })
const COSTS_QUERY = queryOf(['1d'], COSTS_GROUPS, { line_items: names })

export const USAGE_OPERATIONS: readonly AdminOperation[] = [
  {
    ...defineOperation({
      ...{ method: 'GET', path: '/v1/organization/costs', tag: 'Usage', response: bucketListSchema(costsSchema) },
      summary: 'Report costs by the day',
      serve: ({ caller, query }) => report(caller.actor, query as Query, null, formatCosts),
    }),
    query: COSTS_QUERY,
  },
  ...USAGE_REPORTS.map(({ name, title, endpoints, row, describe }) => ({
    ...defineOperation({
      ...{ method: 'GET', path: `/v1/organization/usage/${name}`, tag: 'Usage', response: bucketListSchema(row) },
      summary: `Report usage of ${title}`,
      serve: ({ caller, query }) => report(caller.actor, query as Query, endpoints, describe),
    }),
    query: USAGE_QUERY,
  })),
]

async function report(
  actor: Actor,
  asked: Query,
  endpoints: string[] | null,
  describe: (row: UsageBucketRow) => Record<string, unknown>,
) {
  const groups = endpoints === null ? COSTS_GROUPS : USAGE_GROUPS
  const { tag, others } = readGroups(asked.group_by ?? [], groups)
  const span = readSpan(asked, nowSeconds())
  const filter = {
    width: span.width,
    groups: others.map(group => (group === 'line_item' ? 'model' : group)),
    by_tag: tag,
    of_tags: readTagFilter(asked.tags),
    of_projects: parseIds('proj', asked.project_ids),
    of_keys: parseIds('key', asked.api_key_ids),
    of_models: asked.line_items ?? asked.models ?? null,
    of_endpoints: endpoints,
  }
  const read = await readRows(
    part => callAsActor(actor, 'usage_buckets', { ...filter, ...part }, MAY_LAG),
    span,
    firstBuckets(span.width, filter),
  )
  const byBucket = Map.groupBy(read.rows, row => toUnixSeconds(row.bucket_start))
  return {
    object: 'page' as const,
    data: timesOf({ ...span, until: read.until }).map(([start, end]) => ({
      object: 'bucket' as const,
      start_time: start,
      end_time: end,
      results: (byBucket.get(start) ?? []).map(row => ({
        ...describe(row),
        ...(tag !== null && { tags: { [tag]: row.tag_value } }),
      })),
    })),
    has_more: read.next !== null,
    next_page: read.next === null ? null : `page_${read.next}`,
  }
}

interface TimeSpan {
  /** Beginning of the first bucket, end of the last one. */
  from: number
  until: number
  width: Width
  /** Where records begin and end to count: within the first and the last bucket. */
  first: number
  last: number
  /** Rows of the first bucket that earlier pages had. */
  passedOver: number
}

/** Whole buckets, at most as many as a page holds, though only what lies between the times is counted. */
function readSpan({ start_time, end_time, bucket_width: width = '1d', limit, page }: Query, now: number): TimeSpan {
  const { seconds, buckets, mostBuckets } = WIDTHS[width]
  const end = end_time ?? now + 1
  const [, cursor = start_time, passedOver = 0] = /^page_(\d+)(?:_(\d+))?$/.exec(page ?? '')?.map(Number) ?? []
  if (cursor < start_time - seconds || cursor > Math.max(start_time, end))
    throw invalidRequestError('page must be the next_page of an earlier answer.', 'page')
  const from = cursor - (cursor % seconds)
  // Further buckets are on the next page.
  const most = Math.min(limit ?? buckets, mostBuckets)
  const until = end <= start_time ? from : Math.min(Math.ceil(end / seconds) * seconds, from + most * seconds)
  return { from, until: Math.max(from, until), width, first: start_time, last: end, passedOver: passedOver || 0 }
}

/** How many buckets are read at first. Sums by tags, and those of all keys, are too many to be read at once. */
function firstBuckets(
  width: Width,
  {
    groups,
    by_tag,
    of_tags,
    of_projects,
    of_keys,
  }: Pick<ActorArguments<'usage_buckets'>, 'groups' | 'by_tag' | 'of_tags' | 'of_projects' | 'of_keys'>,
): number {
  if (width === '1m') return FIRST_MINUTES
  const isByTag = by_tag !== null || of_tags !== null
  const isByKey = of_keys !== null || groups.includes('project_id') || groups.includes('api_key_id')
  return isByTag || (of_projects === null && isByKey) ? 2 : WIDTHS[width].mostBuckets
}

type Part = Pick<ActorArguments<'usage_buckets'>, 'from_time' | 'until_time' | 'passed_over' | 'most_rows'>

/** Reads piece by piece until the page is full; ends with a whole bucket, unless the first one alone has more rows than a page. */
async function readRows(read: (part: Part) => Promise<UsageBucketRow[]>, span: TimeSpan, buckets: number) {
  const { seconds } = WIDTHS[span.width]
  const startedAtMs = performance.now()
  const tookMs = () => performance.now() - startedAtMs
  const rows: UsageBucketRow[] = []
  let until = span.from
  let step = buckets * seconds
  while (until < span.until && rows.length <= MOST_ROWS && tookMs() < ENOUGH_MS) {
    const [from, to] = [until, Math.min(until + step, span.until)]
    const part = {
      from_time: fromUnixSeconds(Math.max(from, span.first)),
      until_time: fromUnixSeconds(Math.min(to, span.last)),
      passed_over: from === span.from ? span.passedOver : 0,
      most_rows: MOST_ROWS + 1 - rows.length,
    }
    rows.push(...(await read(part)))
    until = to
    if (tookMs() < QUICK_MS) step *= 2
  }
  if (rows.length <= MOST_ROWS) return { rows, until, next: until < span.last ? `${until}` : null }
  const cut = toUnixSeconds(rows[MOST_ROWS]?.bucket_start ?? '')
  const whole = rows.filter(row => toUnixSeconds(row.bucket_start) < cut)
  if (whole.length > 0) return { rows: whole, until: cut, next: `${cut}` }
  return { rows: rows.slice(0, MOST_ROWS), until: cut + seconds, next: `${cut}_${span.passedOver + MOST_ROWS}` }
}

function timesOf({ from, until, width }: TimeSpan): [start: number, end: number][] {
  const { seconds } = WIDTHS[width]
  return Array.from({ length: (until - from) / seconds }, (_, at) => [from + at * seconds, from + (at + 1) * seconds])
}

/** Usage is summed by sets of tags: by the values of one at a time. */
function readGroups(asked: readonly string[], groups: readonly string[]) {
  const [named, others] = [asked.filter(group => TAG.test(group)), asked.filter(group => !TAG.test(group))]
  if (named.length > 1 || others.some(group => !groups.includes(group)))
    throw invalidRequestError(
      `group_by takes ${groups.join(', ')}, and the name of one tag, as in tag:team.`,
      'group_by',
    )
  return { tag: named[0]?.slice('tag:'.length) ?? null, others }
}

export function readTagFilter(tags: readonly string[] | undefined): Record<string, string> | null {
  if (tags === undefined) return null
  const pairs = tags.map(tag => /^([^=]+)=(.+)$/s.exec(tag)?.slice(1) ?? [])
  if (pairs.some(pair => pair.length < 2))
    throw invalidRequestError('tags takes names and values, as in team=search.', 'tags')
  return Object.fromEntries(pairs)
}
