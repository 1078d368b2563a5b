/** The costs page: what teams, keys, models, end users and provider keys cost in a month or time range, and the budgets. */
import { useQuery } from '@tanstack/react-query'
import { fetchJson, formatQueryString, type QueryParameters } from '../api.ts'
import { Card, ErrorMessage, Loading, PageHeader } from '../components/elements.tsx'
import { ExportButtons } from '../components/export-buttons.tsx'
import { SegmentedControl, type SelectOption } from '../components/fields.tsx'
import { Figure, Figures } from '../components/figures.tsx'
import { type Filters, useFilters } from '../filters.ts'
import { formatChange, formatPercent, formatUsd, LOCALE } from '../format.ts'
import { useProject } from '../session.ts'
import { readTimeRange } from '../time-range.ts'
import type { CostTable as Costs } from '../types.ts'
import { BudgetMeters } from './budget-meters.tsx'
import { CostTable, GROUPINGS, readGrouping } from './cost-table.tsx'
import { PeriodControl, readKeyType, TestKeysFilter, Toolbar } from './toolbar.tsx'

/** Usage is summed for 13 months. */
const LISTED_MONTHS = 13
const monthTitle = new Intl.DateTimeFormat(LOCALE, { month: 'long', year: 'numeric', timeZone: 'UTC' })

export default function CostsPage() {
  const project = useProject()
  const [filters, change] = useFilters()
  const grouping = readGrouping(filters)
  const query = {
    grouping,
    project_id: project?.id,
    key_type: readKeyType(filters),
  }
  const costs = useQuery({
    queryKey: ['/v1/usage/costs', filters.span, filters.from, filters.until, query],
    queryFn: () => fetchJson<Costs>('/v1/usage/costs', { ...query, ...readPeriod(filters) }),
    enabled: project !== null,
    refetchInterval: 30_000,
    placeholderData: previous => previous,
  })

  return (
    <>
      <PageHeader
        title="Costs"
        action={project && <Downloads projectId={project.id} query={query} filters={filters} />}
      >
        Costs and savings of {project?.name ?? 'the project'}. Months are in UTC.
      </PageHeader>
      <Toolbar>
        <PeriodControl filters={filters} change={change} ranges={listMonths(new Date())} />
        <TestKeysFilter filters={filters} change={change} />
      </Toolbar>
      <ErrorMessage error={costs.error} />
      <div className="space-y-5">
        {costs.data && <Totals costs={costs.data} />}
        <Card
          title="Breakdown"
          action={
            <SegmentedControl
              label="Group by"
              value={grouping}
              choices={Object.entries(GROUPINGS).map(([value, { title }]) => [value, title])}
              onChange={value => change({ group: value })}
            />
          }
        >
          {costs.data ? (
            <CostTable costs={costs.data} filters={filters} projectId={project?.id ?? ''} keyType={query.key_type} />
          ) : (
            !costs.error && <Loading />
          )}
        </Card>
        <BudgetMeters />
      </div>
    </>
  )
}

function Totals({ costs: { total } }: { costs: Costs }) {
  return (
    <Figures columns={4}>
      <Figure
        isLarge
        title="Cost"
        value={formatUsd(total.cost_usd)}
        note={
          total.change === null
            ? 'nothing in the period before'
            : `${formatChange(total.change)} from ${formatUsd(total.previous_cost_usd)} in the period before`
        }
      />
      <Figure
        isLarge
        title="Estimated"
        value={formatUsd(total.estimated_usd)}
        note={`of the cost; ${formatUsd(total.cost_usd - total.estimated_usd)} as reported`}
      />
      <Figure
        isLarge
        title="Saved"
        value={<span className="text-accent">{formatUsd(total.saved_usd)}</span>}
        note="by the cache"
      />
      <Figure
        isLarge
        title="Cache hit rate"
        value={formatPercent(total.hit_rate)}
        note="of requests that reached the cache"
      />
    </Figures>
  )
}

function Downloads({ projectId, query, filters }: { projectId: string; query: QueryParameters; filters: Filters }) {
  const month = filters.span ?? ''
  return (
    <div className="flex flex-wrap items-center gap-3">
      {month !== 'own' && (
        <a
          className="underline hover:text-accent"
          href={`/v1/usage/report${formatQueryString({ project_id: projectId, month })}`}
          target="_blank"
          rel="noreferrer"
        >
          Monthly report
        </a>
      )}
      <ExportButtons
        path="/v1/usage/costs/export"
        query={{ ...query, ...readPeriod(filters) }}
        name={`costs-${query.grouping}`}
      />
    </div>
  )
}

/** Reads the filters `span` (a month, or `own`), `from` and `until`. Defaults to the current month. */
function readPeriod(filters: Filters): QueryParameters {
  if (filters.span !== 'own') return { month: filters.span }
  const { from, until } = readTimeRange(filters)
  return { start_time: from, end_time: until }
}

/** Lists the months (UTC) with sums, newest first. */
function listMonths(now: Date): SelectOption[] {
  return Array.from({ length: LISTED_MONTHS }, (_, back) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back))
    return [back === 0 ? '' : month.toISOString().slice(0, 7), monthTitle.format(month)]
  })
}
