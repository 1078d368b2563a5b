/** The filters of the overview: a custom time range, API key, model, tag, and whether requests with test keys count. */
import { Select } from '../components/select.tsx'
import { FILTER_CLASS } from '../components/text-filter.tsx'
import type { Filters } from '../filters.ts'
import { useAllKeys } from '../session.ts'
import { RemoveFilterButton } from './remove-filter-button.tsx'
import { TestKeysFilter } from './test-keys-filter.tsx'
import { TimeRangeFields } from './time-range-fields.tsx'

interface OverviewFiltersProps {
  filters: Filters
  change(changes: Filters): void
  projectId: string | undefined
  /** Null if project keys have been used. Otherwise, whether the time range has requests with test keys. */
  testKeysOnly: 'shown' | 'elsewhere' | null
}

export function OverviewFilters({ filters, change, projectId, testKeysOnly }: OverviewFiltersProps) {
  const keys = useAllKeys(projectId) ?? []
  return (
    <search className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-2">
      <TimeRangeFields filters={filters} change={change} />
      <Select
        aria-label="API key"
        className={FILTER_CLASS}
        choices={[['', 'All keys'], ...keys.map(key => [key.id, key.name] as const)]}
        value={filters.key ?? ''}
        onChange={key => change({ key })}
      />
      {testKeysOnly === 'shown' && (
        <p className="text-muted">Requests with test keys are included because no project key has been used yet.</p>
      )}
      {!filters.key && !testKeysOnly && <TestKeysFilter filters={filters} change={change} />}
      {(['model', 'tag'] as const).map(
        name =>
          filters[name] && <RemoveFilterButton key={name} name={name} what={name} filters={filters} change={change} />,
      )}
    </search>
  )
}
