/** The figures of the overview. Each number of requests links to the requests that it counts. */
import { lazy, Suspense } from 'react'
import { StackedBars } from '../components/chart.tsx'
import { Card, EmptyState, Loading } from '../components/elements.tsx'
import { SegmentedControl } from '../components/fields.tsx'
import { Figure, Figures } from '../components/figures.tsx'
import { Table } from '../components/table.tsx'
import type { Filters } from '../filters.ts'
import { formatCount, formatDuration, formatMs, formatPercent, formatPlural, formatUsd } from '../format.ts'
import { useAllKeys } from '../session.ts'
import { formatBucket, formatTick, type TimeRange } from '../time-range.ts'
import type { UsageCounts, Overview as UsageOverview } from '../types.ts'
import { MoneyFigures } from './money-figures.tsx'
import {
  narrowSelection,
  RequestCountLink,
  type RequestSelection,
  requestsColumn,
  selectRequestsOfKey,
} from './request-count-link.tsx'
import { CACHE_RESULT_TITLES } from './result-badge.tsx'
import { MEASURES, type Measure, UsageShares } from './usage-shares.tsx'

/** Loaded apart, because the card has a query of its own. */
const PaidAgainCard = lazy(async () => ({ default: (await import('./paid-again.tsx')).PaidAgainCard }))

interface OverviewStatsProps {
  overview: UsageOverview
  span: TimeRange
  /** The requests that the figures count. */
  rows: RequestSelection
  withTests: boolean
  /** The figure that the chart shows and by which shares are ordered. */
  measure: Measure
  change(changes: Filters): void
}

export function OverviewStats({ overview, span, rows, withTests, measure, change }: OverviewStatsProps) {
  const { totals } = overview
  const { tag } = rows.filters
  const keys = useAllKeys(rows.projectId)
  if (totals.requests === 0) {
    return (
      <Card>
        <EmptyState
          title="No requests in this period"
          help={`Requests appear here within two seconds of their response.${withTests ? '' : ' Select “Include test keys” to show requests with test keys.'}`}
        />
      </Card>
    )
  }
  return (
    <div className="space-y-5">
      <MoneyFigures overview={overview} rows={rows} period={span.title} />
      <Figures columns={3}>
        <Figure
          title="Requests"
          value={<RequestCountLink rows={rows}>{formatCount(totals.requests)}</RequestCountLink>}
          note={
            <>
              <RequestCountLink rows={rows} only={{ outcome: 'failed' }}>
                {formatCount(totals.failed)} failed
              </RequestCountLink>
              {`; ${formatPlural(overview.previous_requests, 'request')} in the previous ${span.title}`}
            </>
          }
        />
        <Figure
          title="Cache hit rate"
          value={formatPercent(totals.hit_rate)}
          note={
            typeof totals.exact_hits === 'number' && typeof totals.semantic_hits === 'number' ? (
              <>
                <RequestCountLink rows={rows} only={{ result: 'HIT' }}>
                  {formatCount(totals.exact_hits)} exact
                </RequestCountLink>
                {', '}
                <RequestCountLink rows={rows} only={{ result: 'HIT-SEMANTIC' }}>
                  {formatCount(totals.semantic_hits)} semantic
                </RequestCountLink>
              </>
            ) : (
              formatPlural(totals.hits, 'hit')
            )
          }
        />
        <Figure
          title="Time saved"
          value={totals.saved_seconds === null ? undefined : formatDuration(totals.saved_seconds)}
          note={totals.saved_seconds === null ? 'not available for a tag' : `by ${formatPlural(totals.hits, 'hit')}`}
        />
      </Figures>
      <Suspense fallback={<Loading />}>
        <PaidAgainCard rows={rows} span={span} />
      </Suspense>
      <Chart overview={overview} span={span} measure={measure} onChange={value => change({ measure: value })} />
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <Card title="By model">
          <UsageShares
            rows={overview.by_model}
            measure={measure}
            what="Model"
            onPick={model => change({ model })}
            rowsOf={model => (model === '' ? null : narrowSelection(rows, { model_name: model }))}
          />
        </Card>
        <div className="min-w-0 space-y-5">
          <Card title="By API key">
            <UsageShares
              rows={overview.by_api_key}
              measure={measure}
              what="API key"
              rowsOf={name => selectRequestsOfKey(rows, keys, name)}
            />
          </Card>
          {overview.by_tag.length > 0 && (
            <Card title="By tag">
              <UsageShares
                rows={overview.by_tag}
                measure={measure}
                what="Tag"
                onPick={tag => change({ tag })}
                // The request list filters by one tag, and treats a comma as a separator.
                rowsOf={name =>
                  (tag === undefined || tag === name) && !name.includes(',')
                    ? narrowSelection(rows, { tag: name })
                    : null
                }
              />
            </Card>
          )}
        </div>
      </div>
      <Latency measured={overview.latency} rows={narrowSelection(rows, { type: '' })} />
    </div>
  )
}

interface Series {
  title: string
  color: string
  of(counts: UsageCounts): number
}

const SERIES: Record<Measure, Series[]> = {
  requests: [
    { title: 'Exact hit', color: '--exact', of: counts => counts.exact_hits ?? 0 },
    { title: 'Semantic hit', color: '--semantic', of: counts => counts.semantic_hits ?? 0 },
    { title: 'Miss', color: '--miss', of: counts => counts.misses },
  ],
  cost: [
    { title: 'Saved', color: '--exact', of: counts => counts.saved_usd },
    { title: 'Spent', color: '--miss', of: counts => counts.cost_usd },
  ],
  tokens: [
    { title: 'Saved', color: '--exact', of: counts => counts.tokens_saved },
    { title: 'Prompt', color: '--miss', of: counts => counts.prompt_tokens },
    { title: 'Completion', color: '--semantic', of: counts => counts.completion_tokens },
  ],
  failed: [
    { title: 'Client (4xx)', color: '--warn', of: counts => counts.client_errors ?? 0 },
    { title: 'Proxy or provider (5xx)', color: '--danger', of: counts => counts.server_errors ?? 0 },
  ],
}
/** The series when a tag is selected: totals by tag are less detailed. */
const TAG_SERIES: Record<Measure, Series[]> = {
  ...SERIES,
  requests: [
    { title: 'Hit', color: '--exact', of: counts => counts.hits },
    { title: 'Miss', color: '--miss', of: counts => counts.misses },
  ],
  failed: [{ title: 'Failed', color: '--danger', of: counts => counts.failed }],
}

interface ChartProps {
  overview: UsageOverview
  span: TimeRange
  measure: Measure
  onChange(measure: string): void
}

function Chart({ overview, span, measure, onChange }: ChartProps) {
  const times = span.bucketStarts
  const byStart = new Map(overview.buckets.map(bucket => [bucket.start_time, bucket]))
  const definitions = typeof overview.totals.exact_hits === 'number' ? SERIES : TAG_SERIES
  const series = definitions[measure].map(({ title, color, of }) => ({
    title,
    color,
    values: times.map(start => {
      const bucket = byStart.get(start)
      return bucket ? of(bucket) : 0
    }),
  }))
  return (
    <Card
      title={`${MEASURES[measure]} over time`}
      action={
        <SegmentedControl label="Measure" value={measure} choices={Object.entries(MEASURES)} onChange={onChange} />
      }
    >
      <StackedBars
        label={`${MEASURES[measure]} over time`}
        times={times}
        series={series}
        format={measure === 'cost' ? formatUsd : formatCount}
        formatTick={seconds => formatTick(span, seconds)}
        formatTime={seconds => formatBucket(span, seconds)}
      />
    </Card>
  )
}

function Latency({ measured, rows }: { measured: UsageOverview['latency']; rows: RequestSelection }) {
  return (
    <Card title="Time to first byte, including test keys">
      <Table<UsageOverview['latency'][number]>
        label="Latency percentiles"
        rows={measured}
        keyOf={row => row.cache_result}
        empty={{
          title: 'Not available with a filter',
          help: 'Latency is recorded for all keys, models and tags together.',
        }}
        columns={[
          { title: 'Result', look: 'line', cell: row => CACHE_RESULT_TITLES.get(row.cache_result) ?? row.cache_result },
          requestsColumn(
            'Requests',
            row => row.requests,
            row => narrowSelection(rows, { result: row.cache_result }),
          ),
          { title: 'Median', numeric: true, look: 'line', cell: row => formatMs(row.p50_ms) },
          { title: '95th percentile', numeric: true, look: 'line', cell: row => formatMs(row.p95_ms) },
          { title: '99th percentile', numeric: true, look: 'line', cell: row => formatMs(row.p99_ms) },
        ]}
      />
    </Card>
  )
}
