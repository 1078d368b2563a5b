/** The costs of a month or a time range by group, as a table and as a file, and the monthly report. */
import { Type as t } from '@sinclair/typebox'
import { invalidRequestError } from '../../errors/errors.ts'
import { nowSeconds } from '../../event-loop/clock.ts'
import { callAsActor, type JsonRowOf } from '../../postgres/admin/call-as.ts'
import { type AdminOperation, defineOperation, type FieldValues } from '../admin-operation.ts'
import type { Caller } from '../caller.ts'
import { exportItems } from '../export-items.ts'
import { constrainedText, unixSecondsParameter } from '../field-types.ts'
import { requireId } from '../ids.ts'
import { fromUnixSeconds, stringEnum } from '../pagination.ts'
import { type MonthlyReport, renderReport } from '../render-report.ts'
import { hitRateOf } from '../responses/shared.ts'
import { type CostRow, costRowSchema, costTableSchema } from '../responses/usage.ts'

const MAY_LAG = { mayLag: true }
/** The maximum number of groups of a table. The others have one row together. */
const MAX_GROUPS = 1_000

const MONTH = /^(2[0-9]{3})-(0[1-9]|1[0-2])$/
const monthParameter = t.Optional(constrainedText({ pattern: MONTH.source, form: 'a month, such as 2026-10' }))
const costQuery = {
  month: monthParameter,
  start_time: t.Optional(unixSecondsParameter),
  end_time: t.Optional(unixSecondsParameter),
  grouping: t.Optional(stringEnum('team', 'api_key', 'model', 'end_user', 'provider_key')),
  project_id: t.Optional(t.String()),
  // Test keys use the sandbox.
  key_type: t.Optional(stringEnum('project', 'test')),
}
type CostQuery = FieldValues<typeof costQuery>

export const COST_OPERATIONS: readonly AdminOperation[] = [
  defineOperation({
    ...{ method: 'GET', path: '/v1/usage/costs', tag: 'Usage', response: costTableSchema },
    summary: 'Compare the costs of teams, keys, models, end users or provider keys',
    query: costQuery,
    serve: ({ caller, query }) => readCosts(caller, query),
  }),
  defineOperation({
    ...{ method: 'GET', path: '/v1/usage/costs/export', tag: 'Usage', response: t.Array(costRowSchema) },
    summary: 'Export costs to a file',
    otherResponses: { 'text/csv': {} },
    query: { ...costQuery, format: t.Optional(stringEnum('csv', 'json')) },
    async serve({ caller, query: { format = 'csv', ...asked } }) {
      const { data } = await readCosts(caller, asked)
      return exportItems({ format, name: 'costs', columns: Object.keys(costRowSchema.properties) }, onePage(data))
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: '/v1/usage/report', tag: 'Usage', response: t.String() },
    summary: 'Read the monthly report as an HTML page',
    otherResponses: { 'text/html': {} },
    query: { project_id: t.String(), month: monthParameter },
    async serve({ caller, ids, query: { month = '' } }) {
      const report = await callAsActor(caller.actor, 'monthly_report', { project: ids.project_id, month }, MAY_LAG)
      return new Response(renderReport(report as unknown as MonthlyReport), {
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-disposition': 'inline; filename="report.html"',
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        },
      })
    },
  }),
]

async function readCosts(caller: Caller, asked: CostQuery) {
  const range = readRange(asked, nowSeconds())
  const rows = await callAsActor(
    caller.actor,
    'cost_shares',
    {
      of_projects: asked.project_id === undefined ? null : [requireId('proj', asked.project_id)],
      previous_time: fromUnixSeconds(range.previous_start_time),
      previous_until: fromUnixSeconds(range.previous_end_time),
      from_time: fromUnixSeconds(range.start_time),
      until_time: fromUnixSeconds(range.end_time),
      share_by: asked.grouping ?? 'team',
      of_key_type: asked.key_type ?? null,
      max_rows: MAX_GROUPS,
    },
    MAY_LAG,
  )
  const totalUsd = rows.find(({ level }) => level === 'total')?.cost_usd ?? 0
  const [data, [total]] = [false, true].map(isTotal =>
    rows.filter(({ level }) => (level === 'total') === isTotal).map(row => toCostRow(row, totalUsd)),
  ) as [CostRow[], [CostRow]]
  return { object: 'usage.costs' as const, ...range, total, data }
}

function toCostRow(row: JsonRowOf<'cost_shares'>, totalUsd: number): CostRow {
  const { level, requests, hits, misses, cost_usd, estimated_usd, saved_usd, previous_usd } = row
  return {
    kind: level === 'group' && row.name === '' ? 'without' : (level as CostRow['kind']),
    name: row.name === '' ? null : row.name,
    requests,
    hits,
    misses,
    hit_rate: hitRateOf(row),
    cost_usd,
    estimated_usd,
    cost_share: totalUsd === 0 ? null : cost_usd / totalUsd,
    saved_usd,
    previous_cost_usd: previous_usd,
    change: previous_usd === 0 ? null : cost_usd / previous_usd - 1,
  }
}

/**
 * Returns the time range and the one before, with which it is compared: of equal length, or the month before. The current month is compared
 * with the same part of the month before.
 */
function readRange({ month, start_time, end_time }: CostQuery, now: number) {
  if (start_time === undefined) {
    if (end_time !== undefined) throw invalidRequestError('end_time requires start_time.', 'end_time')
    return rangeOfMonth(month, now)
  }
  if (month !== undefined) throw invalidRequestError('Send month or start_time, not both.', 'month')
  const end = Math.max(start_time, end_time ?? now + 1)
  return {
    start_time,
    end_time: end,
    previous_start_time: Math.max(0, 2 * start_time - end),
    previous_end_time: start_time,
  }
}

function rangeOfMonth(month: string | undefined, now: number) {
  const date = new Date(now * 1000)
  const [year, at] = month ? readMonth(month) : [date.getUTCFullYear(), date.getUTCMonth()]
  const [before, start, end] = [at - 1, at, at + 1].map(each => Date.UTC(year, each) / 1000) as [number, number, number]
  const isCurrent = now >= start && now < end
  return {
    start_time: start,
    end_time: end,
    previous_start_time: before,
    previous_end_time: isCurrent ? Math.min(start, before + now + 1 - start) : start,
  }
}

function readMonth(month: string): [year: number, month: number] {
  const [, year, number] = MONTH.exec(month) ?? []
  if (number === undefined) throw invalidRequestError('month must be a month such as 2026-10.', 'month')
  return [Number(year), Number(number) - 1]
}

async function* onePage<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[], void> {
  yield items
}
