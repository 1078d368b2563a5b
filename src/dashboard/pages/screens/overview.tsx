/** What the cache did, what it saved, and which errors occurred. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { get } from '../api.ts'
import { Button, Card, Empty, Loading, Name, PageHeader, Problem, Tile } from '../components/basics.tsx'
import { StackedBars } from '../components/chart.tsx'
import { Segments } from '../components/segments.tsx'
import { Select } from '../components/select.tsx'
import { Table } from '../components/table.tsx'
import { type Filters, useFilters } from '../filters.ts'
import {
  formatCount,
  formatDuration,
  formatMs,
  formatPercent,
  formatPlural,
  formatUsd,
  isolated,
  timeZone,
} from '../format.ts'
import { useAllKeys, useProject } from '../session.ts'
import { bucketStarts, formatBucket, formatTick, SPANS, type SpanName } from '../span.ts'
import type { Overview as Answer, Counts } from '../types.ts'
import { FirstSteps } from './first-steps.tsx'
import { Shares } from './shares.tsx'

/** A request appears within two seconds of its record. */
const REFRESH_MS = 2_000
const MEASURES = { requests: 'Requests', money: 'Money', tokens: 'Tokens', errors: 'Errors' }
type Measure = keyof typeof MEASURES

export function Overview() {
  const project = useProject()
  const [filters, change] = useFilters()
  const name = (filters.span ?? 'day') in SPANS ? ((filters.span ?? 'day') as SpanName) : 'day'
  const span = SPANS[name]
  const only = { project_id: project?.id, api_key_id: filters.key, model: filters.model }
  const ask = () => {
    const [start = 0] = bucketStarts(span, new Date())
    const end = Math.floor(Date.now() / 1000) + 60
    return { ...only, start_time: start, end_time: end, width: span.width, time_zone: timeZone }
  }
  const overview = useQuery({
    queryKey: ['usage', name, only],
    queryFn: () => get<Answer>('/v1/usage', ask()),
    enabled: project !== null,
    refetchInterval: name === 'day' ? REFRESH_MS : 15_000,
    placeholderData: previous => previous,
  })
  const before = useQuery({
    queryKey: ['usage before', name, only],
    queryFn: () => {
      const { start_time, end_time, ...rest } = ask()
      return get<Answer>('/v1/usage', { ...rest, start_time: 2 * start_time - end_time, end_time: start_time })
    },
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
            value={name}
            choices={Object.entries(SPANS).map(([value, { title }]) => [value, title])}
            onChange={value => change({ span: value === 'day' ? '' : value })}
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
          span={name}
          projectId={project?.id ?? ''}
          filters={filters}
          onModel={model => change({ model })}
        />
      ) : (
        !overview.error && <Loading />
      )}
    </>
  )
}

interface OverviewFiltersProps {
  filters: Filters
  change(changes: Filters): void
  projectId: string | undefined
}

function OverviewFilters({ filters, change, projectId }: OverviewFiltersProps) {
  const keys = useAllKeys(projectId) ?? []
  return (
    <search className="mb-4 flex flex-wrap items-center gap-2">
      <Select
        aria-label="API key"
        className="min-h-9 min-w-0 max-w-[min(14rem,100%)] rounded-lg border border-line bg-surface px-2.5"
        choices={[['', 'All keys'], ...keys.map(key => [key.id, key.name] as const)]}
        value={filters.key ?? ''}
        onChange={key => change({ key })}
      />
      {filters.model && (
        <Button
          onClick={() => change({ model: '' })}
          aria-label={`Show all models, not ${isolated(filters.model)} alone`}
        >
          <Name className="font-mono text-xs">{filters.model}</Name> ×
        </Button>
      )}
    </search>
  )
}

/** The spans of the list of requests that correspond. */
const REQUEST_SPANS: Record<SpanName, string> = { day: 'day', week: '', month: 'month', year: 'all' }

interface FiguresProps {
  answer: Answer
  /** Requests in the span before; undefined while they are not known. */
  before: number | undefined
  span: SpanName
  projectId: string
  filters: Filters
  onModel(model: string): void
}

function Figures({ answer, before, span: name, projectId, filters, onModel }: FiguresProps) {
  const { totals } = answer
  const failed = totals.client_errors + totals.server_errors
  const hits = totals.exact_hits + totals.semantic_hits
  if (totals.requests === 0) {
    return (
      <Card>
        <Empty title="No requests in this time">Requests appear here within two seconds of their answer.</Empty>
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
                search={{ ...pick(filters), outcome: 'failed', span: REQUEST_SPANS[name] || undefined } as never}
                className="text-accent underline"
              >
                {formatCount(failed)} failed
              </Link>
              {before !== undefined && `; ${formatPlural(before, 'request')} in the ${SPANS[name].title} before`}
            </>
          }
        />
        <Tile
          title="Answered from the cache"
          value={formatPercent(totals.hit_rate)}
          note={`${formatCount(totals.exact_hits)} exact, ${formatCount(totals.semantic_hits)} semantic`}
        />
        <Tile title="Saved" value={formatUsd(totals.saved_usd)} note={`${formatUsd(totals.cost_usd)} spent`} />
        <Tile
          title="Time saved"
          value={formatDuration(totals.saved_seconds)}
          note={`over ${formatPlural(hits, 'hit')}`}
        />
      </dl>
      <Chart answer={answer} span={name} />
      <div className="grid gap-5 lg:grid-cols-2">
        <Card title="By model">
          <Shares rows={answer.by_model} what="Model" onPick={onModel} />
        </Card>
        <Card title="By API key">
          <Shares rows={answer.by_api_key} what="API key" />
        </Card>
        {answer.by_tag.length > 0 && (
          <Card title="By tag">
            <Shares rows={answer.by_tag} what="Tag" />
          </Card>
        )}
      </div>
      <Latency rows={answer.latency} />
    </div>
  )
}

/** The filters that both pages have. */
function pick({ key, model }: Filters): Filters {
  return { key, model }
}

const KINDS: Record<Measure, { title: string; color: string; of(counts: Counts): number }[]> = {
  requests: [
    { title: 'Exact hit', color: '--exact', of: counts => counts.exact_hits },
    { title: 'Semantic hit', color: '--semantic', of: counts => counts.semantic_hits },
    { title: 'Miss', color: '--miss', of: counts => counts.misses },
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
    { title: 'Client (4xx)', color: '--warn', of: counts => counts.client_errors },
    { title: 'Server or upstream (5xx)', color: '--danger', of: counts => counts.server_errors },
  ],
}

function Chart({ answer, span: name }: { answer: Answer; span: SpanName }) {
  const [measure, setMeasure] = useState<Measure>('requests')
  const span = SPANS[name]
  const times = bucketStarts(span, new Date())
  const byStart = new Map(answer.buckets.map(bucket => [bucket.start_time, bucket]))
  const series = KINDS[measure].map(({ title, color, of }) => ({
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
        formatTick={seconds => formatTick(name, seconds)}
        formatTime={seconds => formatBucket(span, seconds)}
      />
    </Card>
  )
}

const RESULTS: Record<string, string> = { HIT: 'Exact hit', 'HIT-SEMANTIC': 'Semantic hit', MISS: 'Miss' }

function Latency({ rows }: { rows: Answer['latency'] }) {
  return (
    <Card title="Time to first byte">
      <Table
        label="Latency percentiles"
        rows={rows}
        keyOf={row => row.cache_result}
        empty={<Empty title="Not counted here">Times are counted for all keys and models together.</Empty>}
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
