/** The organization page of administrators: all projects with their usage, and plans. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Badge, Card, PageHeader, UserText } from '../components/elements.tsx'
import { Resource, type ResourceColumn } from '../components/resource.tsx'
import { Table } from '../components/table.tsx'
import { type Filters, useFilters } from '../filters.ts'
import {
  capitalize,
  formatChange,
  formatCount,
  formatPercent,
  formatPlural,
  formatUsd,
  localTimeZone,
} from '../format.ts'
import { useStableRange } from '../paged-list.ts'
import { PROJECTS_PATH } from '../session.ts'
import { readTimeRange, type TimeRange } from '../time-range.ts'
import type { Plan, ProjectUsage } from '../types.ts'
import { ARCHIVE_PROJECT_ACTION, CreateProjectButton, usePlans } from './project-actions.tsx'
import { RequestCountLink, selectRequests } from './request-count-link.tsx'
import { PeriodControl, readKeyType, TestKeysFilter, Toolbar } from './toolbar.tsx'

const PATH = '/v1/usage/projects'
export default function Projects() {
  const plans = usePlans()
  const [filters, change] = useFilters()
  const span = readTimeRange(filters)
  const query = {
    ...useStableRange(filters),
    width: span.bucketWidth,
    time_zone: localTimeZone,
    key_type: readKeyType(filters),
    projects_by: filters.sort,
    include_archived: true,
    limit: 50,
  }
  return (
    <>
      <PageHeader title="Organization" action={<CreateProjectButton />}>
        All projects with their spend, compared with the period before.
      </PageHeader>
      <Toolbar>
        <PeriodControl filters={filters} change={change} />
        <TestKeysFilter filters={filters} change={change} />
      </Toolbar>
      <div className="space-y-5">
        <Resource<ProjectUsage>
          path={PATH}
          query={query}
          urlOf={project => `${PROJECTS_PATH}/${project.id}`}
          refreshes={[PATH, PROJECTS_PATH]}
          title="Projects"
          empty={{ title: 'No projects yet', help: 'Create one for each application.' }}
          nameOf={project => project.name}
          columns={buildColumns(filters, span, plans.data)}
          actions={[ARCHIVE_PROJECT_ACTION]}
          order={{ sort: filters.sort ?? '', onSort: sort => change({ sort }) }}
        />
        <Plans plans={plans.data} error={plans.error} />
      </div>
    </>
  )
}

function buildColumns(filters: Filters, span: TimeRange, plans: Plan[] | undefined): ResourceColumn<ProjectUsage>[] {
  const { span: name, from, until, tests } = filters
  const search = Object.fromEntries(Object.entries({ span: name, from, until, tests }).filter(([, value]) => value))
  const link = (project: ProjectUsage, content: ReactNode, more = {}) => (
    <Link
      to={`/${project.id}/overview` as never}
      search={{ ...search, ...more } as never}
      className="underline decoration-muted decoration-1 underline-offset-3 hover:text-accent hover:decoration-current"
    >
      {content}
    </Link>
  )
  const figure = (title: string, sort: string, format: (project: ProjectUsage) => string, more = {}) => ({
    ...{ title, sort, numeric: true },
    cell: (project: ProjectUsage) => link(project, format(project), more),
  })
  const requestsOf = (project: ProjectUsage) =>
    selectRequests(project.id, { until }, span, tests === 'true' ? undefined : 'project')
  return [
    {
      title: 'Project',
      cell: project => (
        <span className="flex items-center gap-1.5">
          {link(project, <UserText className="font-medium">{project.name}</UserText>)}
          {project.status === 'archived' && <Badge>{capitalize(project.status)}</Badge>}
        </span>
      ),
    },
    figure('Spend', '', project => formatUsd(project.cost_usd), { measure: 'cost' }),
    { title: 'Change', sort: 'change', numeric: true, cell: ({ change }) => formatChange(change) },
    {
      title: 'Trend',
      numeric: true,
      cell: project => <Sparkline label={`Spend of ${project.name} over time`} values={fillBuckets(project, span)} />,
    },
    figure('Saved', 'saved', project => formatUsd(project.saved_usd)),
    figure('Hit rate', 'hit_rate', project => formatPercent(project.hit_rate)),
    {
      title: 'Requests',
      sort: 'requests',
      numeric: true,
      cell: project => <RequestCountLink rows={requestsOf(project)}>{formatCount(project.requests)}</RequestCountLink>,
    },
    {
      title: 'Errors',
      sort: 'failed',
      numeric: true,
      cell: project => (
        <RequestCountLink rows={requestsOf(project)} only={{ outcome: 'failed' }}>
          {formatPercent(project.failed_share)}
        </RequestCountLink>
      ),
    },
    {
      title: 'Plan',
      cell: project => project.plan,
      ...(plans && { change: { field: 'plan', choices: plans.map(({ name: plan }) => plan) } }),
    },
  ]
}

/** Returns the cost of each bucket of the time range. */
function fillBuckets({ buckets }: ProjectUsage, { bucketStarts }: TimeRange): number[] {
  const costs = new Map(buckets.map(({ start_time, cost_usd }) => [start_time, cost_usd]))
  return bucketStarts.map(start => costs.get(start) ?? 0)
}

function Plans({ plans, error }: { plans: Plan[] | undefined; error: Error | null }) {
  return (
    <Card title="Plans">
      <Table
        label="Plans"
        rows={plans}
        error={error}
        keyOf={plan => plan.name}
        empty={{ title: 'No plans', help: 'Plans are rows of the database table plans.' }}
        columns={[
          { title: 'Plan', look: 'strong', cell: plan => plan.name },
          {
            title: 'Per key and minute',
            look: 'line',
            cell: ({ requests_per_minute_per_key: requests, tokens_per_minute_per_key: tokens }) =>
              `${formatPlural(requests, 'request')}, ${tokens === null ? 'unlimited tokens' : formatPlural(tokens, 'token')}`,
          },
          {
            title: 'Per address and minute',
            look: 'line',
            cell: plan => formatPlural(plan.requests_per_minute_per_address, 'request'),
          },
          { title: 'Per month', look: 'line', cell: plan => formatPlural(plan.requests_per_month, 'request') },
          {
            title: 'Test keys',
            look: 'line',
            cell: plan =>
              `${formatCount(plan.test_requests_per_minute)} a minute, ${formatCount(plan.test_requests_per_month)} a month`,
          },
        ]}
      />
    </Card>
  )
}

/** A small line that shows the trend of a figure in a row of a table. */
const WIDTH = 96
const HEIGHT = 24
/** Half of the line's width, so that it is not cut at the edges. */
const INSET = 1

/** `label` describes the trend to screen readers. */
function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const highest = Math.max(...values, 0)
  const step = (WIDTH - 2 * INSET) / Math.max(1, values.length - 1)
  const points = values.map((value, at) => {
    const height = highest === 0 ? 0 : (value / highest) * (HEIGHT - 2 * INSET)
    return `${(INSET + at * step).toFixed(1)},${(HEIGHT - INSET - height).toFixed(1)}`
  })
  return (
    <svg
      role="img"
      aria-label={label}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      className="ml-auto block text-accent"
    >
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="currentColor"
        strokeWidth={1.5}
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  )
}
