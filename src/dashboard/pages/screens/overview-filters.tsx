/** The filters of the overview: a custom time range, API key, model, tag, and whether requests with test keys count. */
import { lazy, Suspense, useState } from 'react'
import { Button } from '../components/elements.tsx'
import type { Filters } from '../filters.ts'
import type { TimeRange } from '../time-range.ts'
import { TestKeysFilter } from './test-keys-filter.tsx'
import { TimeRangeFields } from './time-range-fields.tsx'

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
  const button = <Button onClick={() => setWanted(true)}>Filter</Button>
  return (
    <search className="mb-4 flex flex-wrap items-center gap-2">
      {isWanted || isActive ? (
        <Suspense fallback={button}>
          <OverviewFilterMenu filters={filters} change={change} projectId={projectId} span={span} isOpened={isWanted} />
        </Suspense>
      ) : (
        button
      )}
      <TimeRangeFields filters={filters} change={change} />
      {testKeysOnly === 'shown' && (
        <p className="text-muted">Requests with test keys are included because no project key has been used yet.</p>
      )}
      {!filters.key && !testKeysOnly && <TestKeysFilter filters={filters} change={change} />}
    </search>
  )
}
