/** Usage and costs over time, in OpenAI's form. */
import { type Static, Type as t } from '@sinclair/typebox'
import { invalidRequestError } from '../../errors/errors.ts'
import { nowSeconds } from '../../event-loop/clock.ts'
import { type Actor, type ActorArguments, callAsActor } from '../../postgres/admin/call-as.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import { constrainedText, STRICT_OBJECT, tagFilterSchema, unixSecondsParameter } from '../field-types.ts'
import { parseIds } from '../ids.ts'
import { fromUnixSeconds, repeatableParameter, stringEnum, toUnixSeconds } from '../pagination.ts'
import { bucketListSchema, costsSchema } from '../responses/usage.ts'
import { formatCosts, USAGE_REPORTS, type UsageBucketRow } from '../usage-reports.ts'

type Width = '1m' | '1h' | '1d'

const WIDTHS: Record<Width, { seconds: number; buckets: number; maxBuckets: number }> = {
  '1m': { seconds: 60, buckets: 60, maxBuckets: 1440 },
  '1h': { seconds: 3600, buckets: 24, maxBuckets: 168 },
  '1d': { seconds: 86_400, buckets: 7, maxBuckets: 180 },
}
/** The maximum number of rows of a page. */
const MAX_ROWS = 5_000
/** The number of minutes of the first read. Minutes are summed from single records. */
const FIRST_MINUTES = 60
/** A page starts no further read after this time. The next page has the rest. */
const PAGE_TIME_LIMIT_MS = 500
/** While a page has taken less than this, each read covers twice as many buckets as the one before. */
const GROWTH_TIME_LIMIT_MS = 100
const MAY_LAG = { mayLag: true }

const names = repeatableParameter(t.String())
type Names = typeof names

/** The supported query parameters. OpenAI's other parameters are rejected by name. */
function queryOf(widths: Width[], groups: string[], filters: { models: Names } | { line_items: Names }) {
  return t.Object(
    {
      start_time: unixSecondsParameter,
      end_time: t.Optional(unixSecondsParameter),
      bucket_width: t.Optional(stringEnum<Width>(...widths)),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 1440 })),
      page: t.Optional(
        constrainedText({
          pattern: '^(page_[0-9]{1,12}(_[0-9]{1,9})?)?$',
          form: 'the next_page of a previous response',
        }),
      ),
      group_by: repeatableParameter(
        constrainedText({
          pattern: `^(${groups.join('|')}|${TAG}[A-Za-z][A-Za-z0-9_.-]{0,31})$`,
          form: `one of ${groups.join(', ')}, or a tag, such as tag:team`,
        }),
      ),
      tags: repeatableParameter(tagFilterSchema),
      project_ids: repeatableParameter(t.String()),
      api_key_ids: repeatableParameter(t.String()),
      ...filters,
    },
    STRICT_OBJECT,
  )
}

type Query = Static<ReturnType<typeof queryOf>> & { models?: string[]; line_items?: string[] }

/** The prefix of a group by the values of one tag. */
const TAG = 'tag:'
const USAGE_GROUPS = ['project_id', 'api_key_id', 'model']
const COSTS_GROUPS = ['project_id', 'api_key_id', 'line_item']
const USAGE_QUERY = queryOf(['1m', '1h', '1d'], USAGE_GROUPS, { models: names })
const COSTS_QUERY = queryOf(['1d'], COSTS_GROUPS, { line_items: names })

export const USAGE_OPERATIONS: readonly AdminOperation[] = [
  {
    ...defineOperation({
      ...{ method: 'GET', path: '/v1/organization/costs', tag: 'Usage', response: bucketListSchema(costsSchema) },
      summary: 'Report costs by day',
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
  const { tag, others } = readGroups(asked.group_by ?? [])
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
  /** The start of the first bucket, and the end of the last one. */
  from: number
  until: number
  width: Width
  /** The times between which records count. They lie within the first and the last bucket. */
  first: number
  last: number
  /** The number of rows of the first bucket that earlier pages had. */
  passedOver: number
}

/** Returns the time span of a page. It consists of whole buckets, but only records between the requested times count. */
function readSpan({ start_time, end_time, bucket_width: width = '1d', limit, page }: Query, now: number): TimeSpan {
  const { seconds, buckets, maxBuckets } = WIDTHS[width]
  const end = end_time ?? now + 1
  const [, cursor = start_time, passedOver = 0] = /^page_(\d+)(?:_(\d+))?$/.exec(page ?? '')?.map(Number) ?? []
  if (cursor < start_time - seconds || cursor > Math.max(start_time, end))
    throw invalidRequestError("The query parameter 'page' must be the next_page of a previous response.", 'page')
  const from = cursor - (cursor % seconds)
  // The next page has further buckets.
  const most = Math.min(limit ?? buckets, maxBuckets)
  const until = end <= start_time ? from : Math.min(Math.ceil(end / seconds) * seconds, from + most * seconds)
  return { from, until: Math.max(from, until), width, first: start_time, last: end, passedOver: passedOver || 0 }
}

/** Returns the number of buckets of the first read. It is small for sums by tags and of all keys, which have many rows. */
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
  return isByTag || (of_projects === null && isByKey) ? 2 : WIDTHS[width].maxBuckets
}

type Part = Pick<ActorArguments<'usage_buckets'>, 'from_time' | 'until_time' | 'skipped_rows' | 'max_rows'>

/** Reads in parts until the page is full. A page ends with a whole bucket, unless its first bucket has more rows than a page. */
async function readRows(read: (part: Part) => Promise<UsageBucketRow[]>, span: TimeSpan, buckets: number) {
  const { seconds } = WIDTHS[span.width]
  const startedAtMs = performance.now()
  const tookMs = () => performance.now() - startedAtMs
  const rows: UsageBucketRow[] = []
  let until = span.from
  let step = buckets * seconds
  while (until < span.until && rows.length <= MAX_ROWS && tookMs() < PAGE_TIME_LIMIT_MS) {
    const [from, to] = [until, Math.min(until + step, span.until)]
    const part = {
      from_time: fromUnixSeconds(Math.max(from, span.first)),
      until_time: fromUnixSeconds(Math.min(to, span.last)),
      skipped_rows: from === span.from ? span.passedOver : 0,
      max_rows: MAX_ROWS + 1 - rows.length,
    }
    rows.push(...(await read(part)))
    until = to
    if (tookMs() < GROWTH_TIME_LIMIT_MS) step *= 2
  }
  if (rows.length <= MAX_ROWS) return { rows, until, next: until < span.last ? `${until}` : null }
  const lastBucket = toUnixSeconds(rows[MAX_ROWS]?.bucket_start ?? '')
  const whole = rows.filter(row => toUnixSeconds(row.bucket_start) < lastBucket)
  if (whole.length > 0) return { rows: whole, until: lastBucket, next: `${lastBucket}` }
  return {
    rows: rows.slice(0, MAX_ROWS),
    until: lastBucket + seconds,
    next: `${lastBucket}_${span.passedOver + MAX_ROWS}`,
  }
}

function timesOf({ from, until, width }: TimeSpan): [start: number, end: number][] {
  const { seconds } = WIDTHS[width]
  return Array.from({ length: (until - from) / seconds }, (_, at) => [from + at * seconds, from + (at + 1) * seconds])
}

/** Separates the tag from the other groups. Usage can be grouped by one tag at a time. */
function readGroups(asked: readonly string[]) {
  const [named, others] = [asked.filter(group => group.startsWith(TAG)), asked.filter(group => !group.startsWith(TAG))]
  if (named.length > 1)
    throw invalidRequestError("The query parameter 'group_by' must have at most one tag, such as tag:team.", 'group_by')
  return { tag: named[0]?.slice(TAG.length) ?? null, others }
}

export function readTagFilter(tags: readonly string[] | undefined): Record<string, string> | null {
  if (tags === undefined) return null
  return Object.fromEntries(tags.map(tag => [tag.slice(0, tag.indexOf('=')), tag.slice(tag.indexOf('=') + 1)]))
}
