/** Numbers that are links to the very requests that they count. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Filters } from '../filters.ts'
import type { TimeRange } from '../time-range.ts'

/** Requests of a project, by the filters of their list. */
export interface RequestSelection {
  projectId: string
  filters: Filters
}

/** Those that an overview counts. A list without an end goes on, as the overview does. */
export function selectRequests(
  projectId: string,
  { key, model, tag, until }: Filters,
  span: TimeRange,
  keyType = '',
): RequestSelection {
  const ends = { span: 'own', from: toText(span.from), until: span.name === 'own' && until ? toText(span.until) : '' }
  return { projectId, filters: { ...ends, key, type: keyType, model_name: model, tag } }
}

/** Of any time zone, and of hours that the clock has twice. */
function toText(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** `only`: what narrows them further. */
export function RequestCountLink({
  rows,
  only,
  children,
}: {
  rows: RequestSelection
  only?: Filters
  children: ReactNode
}) {
  const given = Object.entries({ ...rows.filters, ...only }).filter(([, value]) => value)
  return (
    <Link
      to={`/${rows.projectId}/requests` as never}
      search={Object.fromEntries(given) as never}
      className="underline decoration-muted decoration-1 underline-offset-3 hover:text-accent hover:decoration-current"
    >
      {children}
    </Link>
  )
}
