/** The filters of the overview: a custom time range, API key, model, tag, and whether requests with test keys count. */
import { lazy, Suspense, useState } from 'react'
import { Button } from '../components/elements.tsx'
import { FilterIcon } from '../components/filter-icon.tsx'
import { Toolbar } from '../components/toolbar.tsx'
import type { Filters } from '../filters.ts'
import type { TimeRange } from '../time-range.ts'
import { PeriodControl } from './period-control.tsx'
import { TestKeysFilter } from './test-keys-filter.tsx'

const OverviewFilterMenu = lazy(() => import('./overview-filter-menu.tsx'))

interface OverviewFiltersProps {
  filters: Filters
  change(changes: Filters): void
  projectId: string | undefined
  span: TimeRange
  /** Null if project keys have been used. Otherwise, whether the time range has requests with test keys. */
  testKeysOnly: 'shown' | 'elsewhere' | null
}

export function OverviewFilters({ filters, change, projectId, span, testKeysOnly }: OverviewFiltersProps) {
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
