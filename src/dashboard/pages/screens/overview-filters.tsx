/** The filters of the overview: a custom time range, API key, model, tag, and whether requests with test keys count. */
import { useState } from 'react'
import { FilterChip, FilterMenu } from '../components/filter-menu.tsx'
import type { Filters } from '../filters.ts'
import type { TimeRange } from '../time-range.ts'
import { REQUEST_FILTER_KINDS, useFilterKinds } from './request-filter-kinds.ts'
import { TestKeysFilter } from './test-keys-filter.tsx'
import { TimeRangeFields } from './time-range-fields.tsx'

interface OverviewFiltersProps {
  filters: Filters
  change(changes: Filters): void
  projectId: string | undefined
  span: TimeRange
  /** Null if project keys have been used. Otherwise, whether the time range has requests with test keys. */
  testKeysOnly: 'shown' | 'elsewhere' | null
}

/** The filters of requests that the overview has, too. Here `model` is a whole name. */
const KINDS = ['key', 'model_name', 'tag'].flatMap(name =>
  REQUEST_FILTER_KINDS.filter(kind => kind.name === name).map(kind =>
    name === 'model_name' ? { ...kind, name: 'model' } : kind,
  ),
)

export function OverviewFilters({ filters, change, projectId, span, testKeysOnly }: OverviewFiltersProps) {
  const [openAt, setOpenAt] = useState<string | null>(null)
  // An open range ends now: its end would change with each refresh.
  const ends = { start_time: span.from, end_time: span.name === 'own' && filters.until ? span.until : undefined }
  const { kinds, describe, ...loading } = useFilterKinds(KINDS, { project_id: projectId, ...ends }, openAt !== null)
  const active = KINDS.filter(({ name }) => filters[name])
  return (
    <search className="mb-4 flex flex-wrap items-center gap-2">
      <FilterMenu
        kinds={kinds}
        {...loading}
        openAt={openAt}
        onOpenChange={setOpenAt}
        onChoose={(name, value) => change({ [name]: value })}
      />
      <TimeRangeFields filters={filters} change={change} />
      {active.length > 0 && (
        <ul aria-label="Active filters" className="contents">
          {active.map(({ name }) => {
            const [title, value] = describe(name, filters[name] ?? '')
            return (
              <FilterChip
                key={name}
                title={title}
                value={value}
                onChange={() => setOpenAt(name)}
                onRemove={() => change({ [name]: '' })}
              />
            )
          })}
        </ul>
      )}
      {testKeysOnly === 'shown' && (
        <p className="text-muted">Requests with test keys are included because no project key has been used yet.</p>
      )}
      {!filters.key && !testKeysOnly && <TestKeysFilter filters={filters} change={change} />}
    </search>
  )
}
