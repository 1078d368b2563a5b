/** The start and end of a custom time range, stored as filters in the URL. */
import { FILTER_CLASS } from '../components/text-filter.tsx'
import type { Filters } from '../filters.ts'
import { formatLocalTime } from '../time-range.ts'

export function TimeRangeFields({ filters, change }: { filters: Filters; change(changes: Filters): void }) {
  if (filters.span !== 'own') return null
  return (['from', 'until'] as const).map(name => (
    <input
      key={name}
      type="datetime-local"
      aria-label={name === 'from' ? 'From' : 'To'}
      className={FILTER_CLASS}
      value={formatLocalTime(filters[name])}
      onChange={event => change({ [name]: event.target.value })}
    />
  ))
}
