/** The two ends of a span that the user gives, as filters of the page's address. */
import type { Filters } from '../filters.ts'

/** The look of a filter. */
export const FILTER = 'min-h-9 min-w-0 max-w-[min(14rem,100%)] rounded-lg border border-line bg-surface px-2.5'

export function SpanEnds({ filters, change }: { filters: Filters; change(changes: Filters): void }) {
  if (filters.span !== 'own') return null
  return (['from', 'until'] as const).map(name => (
    <input
      key={name}
      type="datetime-local"
      aria-label={name === 'from' ? 'From' : 'To'}
      className={FILTER}
      value={filters[name] ?? ''}
      onChange={event => change({ [name]: event.target.value })}
    />
  ))
}
