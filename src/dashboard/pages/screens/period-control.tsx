/** Selects the time range of a page, stored as filters in the URL: one of a list, or a custom range with its ends. */
import { Select, type SelectOption } from '../components/select.tsx'
import { FILTER_CLASS } from '../components/text-filter.tsx'
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
