/** What the cache did, what it saved, and which errors occurred. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { get } from '../api.ts'
import { Card, Empty, Loading, PageHeader, Problem, Tile } from '../components/basics.tsx'
import { StackedBars } from '../components/chart.tsx'
import { Segments } from '../components/segments.tsx'
import { Table } from '../components/table.tsx'
import { type Filters, useFilters } from '../filters.ts'
import { formatCount, formatDuration, formatMs, formatPercent, formatPlural, formatUsd, timeZone } from '../format.ts'
import { useProject } from '../session.ts'
import { formatBucket, formatTick, readSpan, type ShownSpan, SPANS } from '../span.ts'
import type { Overview as Answer, Counts } from '../types.ts'
import { FirstSteps } from './first-steps.tsx'
import { OverviewFilters } from './overview-filters.tsx'
import { Shares } from './shares.tsx'

/** A request appears within two seconds of its record. */
const REFRESH_MS = 2_000
const MEASURES = { requests: 'Requests', money: 'Money', tokens: 'Tokens', errors: 'Errors' }
type Measure = keyof typeof MEASURES

export default function Overview() {
  const project = useProject()
  const [filters, change] = useFilters()
  const span = readSpan(filters)
  const withTests = filters.tests === 'true'
  const only = {
    project_id: project?.id,
    api_key_id: filters.key,
    model: filters.model,
    'tags[]': filters.tag ? [filters.tag] : undefined,
    // Test keys are the sandbox's. One that is chosen is asked for.
    key_type: withTests || filters.key ? undefined : 'project',
  }
  const asked = [span.name, filters.from, filters.until, only]
  const readUsage = (start_time: number, end_time: number) =>
    get<Answer>('/v1/usage', { ...only, start_time, end_time, width: span.width, time_zone: timeZone })
  const overview = useQuery({
    queryKey: ['usage', ...asked],
    queryFn: () => {
      const { from, until } = readSpan(filters)
      return readUsage(from, until)
    },
    enabled: project !== null,
    refetchInterval: span.name === 'day' ? REFRESH_MS : 15_000,
    placeholderData: previous => previous,
  })
  const before = useQuery({
    queryKey: ['usage before', ...asked],
    queryFn: () => readUsage(2 * span.from - span.until, span.from),
    enabled: project !== null,
    staleTime: 60_000,
  })

  return (
    <>
      <PageHeader
        title="Overview"
        action={
          <Segments
            label="Period"
            value={span.name}
            choices={[
              ...Object.entries(SPANS).map(([value, { title }]) => [value, title] as const),
              ['own', 'From … to …'],
            ]}
            onChange={value => change({ span: value === 'day' ? '' : value, from: '', until: '' })}
          />
        }
      >
        What {project?.name ?? 'the project'} was asked, what its cache answered, and what that saved.
      </PageHeader>
      <OverviewFilters filters={filters} change={change} projectId={project?.id} />
      <Problem error={overview.error} />
      {project && overview.data && (
        <FirstSteps key={project.id} projectId={project.id} hasRequests={overview.data.totals.requests > 0} />
      )}
      {overview.data ? (
        <Figures
          answer={overview.data}
          before={before.data?.totals.requests}
          span={span}
          projectId={project?.id ?? ''}
          filters={filters}
          change={change}
        />
      ) : (
        !overview.error && <Loading />
      )}
    </>
  )
}

/** The spans of the list of requests that correspond. */
const REQUEST_SPANS: Record<ShownSpan['name'], string> = {
  day: 'day',
  week: '',
  month: 'month',
  year: 'all',
  own: 'own',
}

interface FiguresProps {
  answer: Answer
  /** Requests in the span before; undefined while they are not known. */
  before: number | undefined
  span: ShownSpan
  projectId: string
  filters: Filters
  change(changes: Filters): void
}

function Figures({ answer, before, span, projectId, filters, change }: FiguresProps) {
  const { totals } = answer
  if (totals.requests === 0) {
    return (
      <Card>
        <Empty title="No requests in this time">
          Requests appear here within two seconds of their answer; those with test keys if you ask for them.
        </Empty>
      </Card>
    )
  }
  return (
    <div className="space-y-5">
      <dl className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Tile
          title="Requests"
          value={formatCount(totals.requests)}
          note={
            <>
              <Link
                to={`/${projectId}/requests` as never}
                search={{ ...pick(filters), outcome: 'failed', span: REQUEST_SPANS[span.name] || undefined } as never}
                className="text-accent underline"
              >
                {formatCount(totals.failed)} failed
              </Link>
              {before !== undefined && `; ${formatPlural(before, 'request')} in the ${span.title} before`}
            </>
          }
        />
        <Tile
          title="Answered from the cache"
          value={formatPercent(totals.hit_rate)}
          note={
            typeof totals.exact_hits === 'number' && typeof totals.semantic_hits === 'number'
              ? `${formatCount(totals.exact_hits)} exact, ${formatCount(totals.semantic_hits)} semantic`
              : formatPlural(totals.hits, 'hit')
          }
        />
        <Tile title="Saved" value={formatUsd(totals.saved_usd)} note={`${formatUsd(totals.cost_usd)} spent`} />
        <Tile
          title="Time saved"
          value={totals.saved_seconds === null ? undefined : formatDuration(totals.saved_seconds)}
          note={totals.saved_seconds === null ? 'not counted by tag' : `over ${formatPlural(totals.hits, 'hit')}`}
        />
      </dl>
      <Chart answer={answer} span={span} />
      <div className="grid gap-5 lg:grid-cols-2">
        <Card title="By model">
          <Shares rows={answer.by_model} what="Model" onPick={model => change({ model })} />
        </Card>
        <Card title="By API key">
          <Shares rows={answer.by_api_key} what="API key" />
        </Card>
        {answer.by_tag.length > 0 && (
          <Card title="By tag">
            <Shares rows={answer.by_tag} what="Tag" onPick={tag => change({ tag })} />
          </Card>
        )}
      </div>
      <Latency rows={answer.latency} />
    </div>
  )
}

/** The filters that both pages have. */
function pick({ key, model, tag, from, until }: Filters): Filters {
  return { key, model, tag, from, until }
}

interface Kind {
  title: string
  color: string
  of(counts: Counts): number
}

const KINDS: Record<Measure, Kind[]> = {
  requests: [
    { title: 'Exact hit', color: '--exact', of: counts => counts.exact_hits ?? 0 },
    { title: 'Semantic hit', color: '--semantic', of: counts => counts.semantic_hits ?? 0 },
    { title: 'Miss', color: '--miss', of: counts => counts.misses ?? 0 },
  ],
  money: [
    { title: 'Saved', color: '--exact', of: counts => counts.saved_usd },
    { title: 'Spent', color: '--miss', of: counts => counts.cost_usd },
  ],
  tokens: [
    { title: 'Saved', color: '--exact', of: counts => counts.tokens_saved },
    { title: 'Prompt', color: '--miss', of: counts => counts.prompt_tokens },
    { title: 'Completion', color: '--semantic', of: counts => counts.completion_tokens },
  ],
  errors: [
    { title: 'Client (4xx)', color: '--warn', of: counts => counts.client_errors ?? 0 },
    { title: 'Server or upstream (5xx)', color: '--danger', of: counts => counts.server_errors ?? 0 },
  ],
}
/** Where a tag is chosen: its sums do not tell more. */
const KINDS_OF_TAG: Record<Measure, Kind[]> = {
  ...KINDS,
  requests: [
    { title: 'Hit', color: '--exact', of: counts => counts.hits },
    { title: 'Not from the cache', color: '--miss', of: counts => counts.requests - counts.hits },
  ],
  errors: [{ title: 'Failed', color: '--danger', of: counts => counts.failed }],
}

function Chart({ answer, span }: { answer: Answer; span: ShownSpan }) {
  const [measure, setMeasure] = useState<Measure>('requests')
  const times = span.starts
  const byStart = new Map(answer.buckets.map(bucket => [bucket.start_time, bucket]))
  const kinds = typeof answer.totals.misses === 'number' ? KINDS : KINDS_OF_TAG
  const series = kinds[measure].map(({ title, color, of }) => ({
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
        <Segments
          label="Measure"
          value={measure}
          choices={Object.entries(MEASURES)}
          onChange={value => setMeasure(value as Measure)}
        />
      }
    >
      <StackedBars
        label={`${MEASURES[measure]} over time`}
        times={times}
        series={series}
        format={measure === 'money' ? formatUsd : formatCount}
        formatTick={seconds => formatTick(span, seconds)}
        formatTime={seconds => formatBucket(span, seconds)}
      />
    </Card>
  )
}

const RESULTS: Record<string, string> = { HIT: 'Exact hit', 'HIT-SEMANTIC': 'Semantic hit', MISS: 'Miss' }

function Latency({ rows }: { rows: Answer['latency'] }) {
  return (
    <Card title="Time to first byte, test keys included">
      <Table
        label="Latency percentiles"
        rows={rows}
        keyOf={row => row.cache_result}
        empty={<Empty title="Not counted here">Times are counted for all keys, models and tags together.</Empty>}
        columns={[
          { title: 'Answered by', look: 'line', cell: row => RESULTS[row.cache_result] ?? row.cache_result },
          { title: 'Requests', numeric: true, cell: row => formatCount(row.requests) },
          { title: 'Median', numeric: true, look: 'line', cell: row => formatMs(row.p50_ms) },
          { title: '95th percentile', numeric: true, look: 'line', cell: row => formatMs(row.p95_ms) },
          { title: '99th percentile', numeric: true, look: 'line', cell: row => formatMs(row.p99_ms) },
        ]}
      />
    </Card>
  )
}
