/** The toolbar of pages about usage: the period and whether requests with test keys count, stored as filters in the URL. */
import type { ReactNode } from 'react'
import { Checkbox, FILTER_CLASS, Select, type SelectOption } from '../components/fields.tsx'
import type { Filters } from '../filters.ts'
import { formatLocalTime, TIME_RANGES } from '../time-range.ts'

interface PeriodControlProps {
  filters: Filters
  change(changes: Filters): void
  /** The ranges, by the value of the filter `span`. An empty value is the default. */
  ranges?: readonly SelectOption[]
}

/** The last day is the default, without a value. */
const RANGES: readonly SelectOption[] = Object.entries(TIME_RANGES).map(([name, { title }]) => [
  name === 'day' ? '' : name,
  `Last ${title}`,
])

/** Selects the time range of a page: one of a list, or a custom range with its ends. */
export function PeriodControl({ filters, change, ranges = RANGES }: PeriodControlProps) {
  const { span = '' } = filters
  return (
    <>
      <Select
        aria-label="Period"
        className={FILTER_CLASS}
        choices={[...ranges, ['own', 'Custom range']]}
        value={ranges === RANGES && span === 'day' ? '' : span}
        onChange={chosen => change({ span: chosen, from: '', until: '' })}
      />
      {span === 'own' &&
        (['from', 'until'] as const).map(name => (
          <input
            key={name}
            type="datetime-local"
            aria-label={name === 'from' ? 'From' : 'To'}
            className={FILTER_CLASS}
            value={formatLocalTime(filters[name])}
            onChange={event => change({ [name]: event.target.value })}
          />
        ))}
    </>
  )
}

/** Includes requests with test keys, which use the sandbox. They are excluded by default. */
export function TestKeysFilter({ filters, change }: { filters: Filters; change(changes: Filters): void }) {
  return (
    <Checkbox
      label="Include test keys"
      className="min-h-9 text-muted"
      isChecked={filters.tests === 'true'}
      onChange={isChecked => change({ tests: isChecked ? 'true' : '' })}
    />
  )
}

/** Returns the type of keys that the API selects; undefined for all. */
export function readKeyType(filters: Filters): 'project' | undefined {
  return filters.tests === 'true' ? undefined : 'project'
}

/** The row of controls between a page's heading and its content. All pages have the same order: period, filters, options. */
export function Toolbar({ children }: { children: ReactNode }) {
  return <search className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-2">{children}</search>
}
