/** A number of requests as a link to the list of these requests. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Column } from '../components/table.tsx'
import type { Filters } from '../filters.ts'
import { formatCount } from '../format.ts'
import { MAX_LISTED_KEYS } from '../session.ts'
import type { TimeRange } from '../time-range.ts'
import type { ApiKey } from '../types.ts'

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
export function formatUtc(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** Adds filters to a selection. */
export function narrowSelection({ projectId, filters }: RequestSelection, more: Filters): RequestSelection {
  return { projectId, filters: { ...filters, ...more } }
}

/** Selects the requests of the key with a name. Returns null when no listed key has the name, or several do: the name of a deactivated key can be reused. */
export function selectRequestsOfKey(
  rows: RequestSelection,
  keys: readonly ApiKey[] | undefined,
  name: string,
): RequestSelection | null {
  const matching = keys?.filter(key => key.name === name) ?? []
  const isComplete = keys !== undefined && keys.length < MAX_LISTED_KEYS
  return isComplete && matching.length === 1 ? narrowSelection(rows, { key: matching[0]?.id, type: '' }) : null
}

interface RequestCountLinkProps {
  /** Null for requests that no filter can select. Their number is no link. */
  rows: RequestSelection | null
  /** Further filters, in addition to those of `rows`. */
  only?: Filters
  children: ReactNode
}

export function RequestCountLink({ rows, only, children }: RequestCountLinkProps) {
  if (rows === null) return children
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

/** A column with a number of requests, which links to them. */
export function requestsColumn<Row>(
  title: string,
  countOf: (row: Row) => number,
  rowsOf: (row: Row) => RequestSelection | null,
): Column<Row> {
  const cell = (row: Row) => (
    <RequestCountLink rows={countOf(row) === 0 ? null : rowsOf(row)}>{formatCount(countOf(row))}</RequestCountLink>
  )
  return { title, numeric: true, cell }
}
