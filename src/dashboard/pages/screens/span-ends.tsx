/** The two ends of a span that the user gives, as filters of the page's address. */
import { FILTER } from '../components/text-filter.tsx'
import type { Filters } from '../filters.ts'
import { toLocal } from '../span.ts'

export function SpanEnds({ filters, change }: { filters: Filters; change(changes: Filters): void }) {
  if (filters.span !== 'own') return null
  return (['from', 'until'] as const).map(name => (
    <input
      key={name}
      type="datetime-local"
      aria-label={name === 'from' ? 'From' : 'To'}
      className={FILTER}
      value={toLocal(filters[name])}
      onChange={event => change({ [name]: event.target.value })}
    />
  ))
}
