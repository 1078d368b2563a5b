/** The overview page: requests, cache hits, savings and errors of a project. */
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { fetchJson } from '../api.ts'
import { Button, ErrorMessage, FilterIcon, Loading, PageHeader } from '../components/elements.tsx'
import { type Filters, useFilters } from '../filters.ts'
import { localTimeZone } from '../format.ts'
import { useModelRoutes } from '../routes.ts'
import { useAllKeys, useProject } from '../session.ts'
import { readTimeRange } from '../time-range.ts'
import type { ApiPage, Project, RequestLogEntry, Overview as UsageOverview } from '../types.ts'
import type { StepsDone } from './first-steps.tsx'
import type { OverviewFilterMenuProps } from './overview-filter-menu.tsx'
import { OverviewStats } from './overview-stats.tsx'
import { selectRequests } from './request-count-link.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { PeriodControl, TestKeysFilter, Toolbar } from './toolbar.tsx'
import { readMeasure } from './usage-shares.tsx'

/** Needed until the project's first request. */
const FirstSteps = lazy(() => import('./first-steps.tsx'))

const REFRESH_MS = 2_000

export default function Overview() {
  const project = useProject()
  const [filters, change] = useFilters()
  const span = readTimeRange(filters)
  const testKeysOnly = useTestKeysOnly(project?.id)
  const withTests = filters.tests === 'true' || testKeysOnly === true
  // Requests with test keys are excluded, unless a key is selected: they go to the sandbox.
  const keyType = withTests || filters.key ? undefined : 'project'
  const overview = useUsage(testKeysOnly === undefined ? null : project, filters, keyType)
  const hasRequests = (overview.data?.totals.requests ?? 0) > 0
  const steps = useFirstSteps(project?.id, hasRequests)

  return (
    <>
      <PageHeader title="Overview">Requests, cache hits and savings of {project?.name ?? 'the project'}.</PageHeader>
      <OverviewFilters
        filters={filters}
        change={change}
        projectId={project?.id}
        span={span}
        testKeysOnly={testKeysOnly ? (hasRequests ? 'shown' : 'elsewhere') : null}
      />
      <ErrorMessage error={overview.error} />
      {project && overview.data && steps && (
        <Suspense>
          <FirstSteps key={project.id} projectId={project.id} {...steps} />
        </Suspense>
      )}
      {overview.data ? (
        <OverviewStats
          overview={overview.data}
          span={span}
          rows={selectRequests(project?.id ?? '', filters, span, keyType)}
          withTests={withTests}
          measure={readMeasure(filters)}
          change={change}
        />
      ) : (
        !overview.error && <Loading />
      )}
      <Shortcuts />
    </>
  )
}

/** Finds which steps to the first request are done. Null when all are, undefined while loading. */
function useFirstSteps(projectId: string | undefined, hasRequests: boolean): StepsDone | null | undefined {
  const routes = useModelRoutes(projectId ?? '', {}, projectId !== undefined)
  const keys = useAllKeys(projectId)
  if (routes.data === undefined || keys === undefined) return undefined
  const hasModels = routes.data.some(({ provider }) => provider !== null)
  const hasKey = keys.some(({ state }) => state === 'active')
  const isUsed = hasRequests || keys.some(({ last_used_at }) => last_used_at !== null)
  return hasModels && hasKey && isUsed ? null : { hasModels, hasKey, isUsed }
}

/** Queries the usage of the selected time range. */
function useUsage(project: Project | null, filters: Filters, keyType: string | undefined) {
  const span = readTimeRange(filters)
  const only = {
    project_id: project?.id,
    api_key_id: filters.key,
    model: filters.model,
    'tags[]': filters.tag ? [filters.tag] : undefined,
    key_type: keyType,
    shares_by: readMeasure(filters),
  }
  return useQuery({
    queryKey: ['usage', span.name, filters.from, filters.until, only],
    queryFn: () => {
      const { from, until } = readTimeRange(filters)
      return fetchJson<UsageOverview>('/v1/usage', {
        ...only,
        start_time: from,
        end_time: until,
        width: span.bucketWidth,
        time_zone: localTimeZone,
      })
    },
    enabled: project !== null,
    refetchInterval: span.name === 'day' ? REFRESH_MS : 15_000,
    placeholderData: previous => previous,
  })
}

/** Reports whether only test keys have sent requests, so that excluding them would show nothing. Undefined while loading. */
function useTestKeysOnly(projectId: string | undefined): boolean | undefined {
  const others = useQuery<ApiPage<RequestLogEntry>>({
    queryKey: ['/v1/requests', { project_id: projectId, key_type: 'project', start_time: 0, limit: 1 }],
    enabled: projectId !== undefined,
    // Once a project key has been used, the result does not change.
    staleTime: ({ state }) => (state.data?.data.length ? Number.POSITIVE_INFINITY : 0),
    refetchInterval: ({ state }) => (state.data?.data.length === 0 ? REFRESH_MS : false),
  })
  return others.isError ? false : others.data && others.data.data.length === 0
}

const OverviewFilterMenu = lazy(() => import('./overview-filter-menu.tsx'))

interface OverviewFiltersProps extends Omit<OverviewFilterMenuProps, 'isOpened'> {
  /** Null if project keys have been used. Otherwise, whether the time range has requests with test keys. */
  testKeysOnly: 'shown' | 'elsewhere' | null
}

/** A custom time range, API key, model, tag, and whether requests with test keys count. */
function OverviewFilters({ filters, change, projectId, span, testKeysOnly }: OverviewFiltersProps) {
  const [isWanted, setWanted] = useState(false)
  const isActive = Boolean(filters.key || filters.model || filters.tag)
  // Most visits need no filters: the first page loads faster without the menu.
  const button = (
    <Button onClick={() => setWanted(true)}>
      <FilterIcon /> Filter
    </Button>
  )
  return (
    <Toolbar>
      <PeriodControl filters={filters} change={change} />
      {isWanted || isActive ? (
        <Suspense fallback={button}>
          <OverviewFilterMenu filters={filters} change={change} projectId={projectId} span={span} isOpened={isWanted} />
        </Suspense>
      ) : (
        button
      )}
      {testKeysOnly === 'shown' && (
        <p className="text-muted">Requests with test keys are included because no project key has been used yet.</p>
      )}
      {!filters.key && !testKeysOnly && <TestKeysFilter filters={filters} change={change} />}
    </Toolbar>
  )
}
