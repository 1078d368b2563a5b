/** A number of requests as a link to the list of these requests. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Filters } from '../filters.ts'
import type { TimeRange } from '../time-range.ts'

/** A selection of a project's requests, by the filters of the request list. */
export interface RequestSelection {
  projectId: string
  filters: Filters
}

/** Selects the requests that an overview counts. A time range without an end stays open, as in the overview. */
export function selectRequests(
  projectId: string,
  { key, model, tag, until }: Filters,
  span: TimeRange,
  keyType = '',
): RequestSelection {
  const ends = {
    span: 'own',
    from: formatUtc(span.from),
    until: span.name === 'own' && until ? formatUtc(span.until) : '',
  }
  return { projectId, filters: { ...ends, key, type: keyType, model_name: model, tag } }
}

/** Formats a time in UTC, which is unambiguous in every time zone and when clocks change. */
function formatUtc(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** `only` adds filters to those of `rows`. */
export function RequestCountLink({
  rows,
  only,
  children,
}: {
  rows: RequestSelection
  only?: Filters
  children: ReactNode
}) {
  const active = Object.entries({ ...rows.filters, ...only }).filter(([, value]) => value)
  return (
    <Link
      to={`/${rows.projectId}/requests` as never}
      search={Object.fromEntries(active) as never}
      className="underline decoration-muted decoration-1 underline-offset-3 hover:text-accent hover:decoration-current"
    >
      {children}
    </Link>
  )
}
