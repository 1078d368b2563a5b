/** The request list as a table, and as cards on phones. */
import { Link, useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useRef } from 'react'
import { UserText } from '../components/elements.tsx'
import { ColumnHeader } from '../components/table.tsx'
import { escapeControlCharacters, formatMs, formatShortTime } from '../format.ts'
import type { RequestLogEntry } from '../types.ts'
import { formatCost, REQUEST_COLUMNS, RequestBadges } from './request-columns.tsx'
import { summarizeReason } from './request-reason.ts'

interface RequestTableProps {
  rows: readonly RequestLogEntry[]
  projectId: string
  columns: readonly string[]
  sort: string
  onSort(sort: string): void
  selected: string | null
  onSelect(id: string | null): void
}

/** A row can be selected with a click or the arrow keys, to preview it; Enter opens it. */
export function RequestTable({ rows, projectId, columns, sort, onSort, selected, onSelect }: RequestTableProps) {
  const navigate = useNavigate()
  const body = useRef<HTMLTableSectionElement>(null)
  const at = rows.findIndex(({ id }) => id === selected)
  const shown = REQUEST_COLUMNS.filter(
    ({ name, isEssential }) => name === 'time' || (columns.includes(name) && (selected === null || isEssential)),
  )

  function move(to: number): void {
    const row = rows[to]
    if (!row) return
    onSelect(row.id)
    const element = body.current?.rows[to]
    element?.focus({ preventScroll: true })
    element?.scrollIntoView({ block: 'nearest' })
  }
  function onKeyDown(event: KeyboardEvent): void {
    const { key, target } = event
    if (event.altKey || event.ctrlKey || event.metaKey) return
    if (key === 'ArrowDown') move(Math.min(at + 1, rows.length - 1))
    else if (key === 'ArrowUp') move(Math.max(at - 1, 0))
    else if (key === 'Escape' && selected !== null) onSelect(null)
    else if (key === 'Enter' && selected !== null && !(target instanceof Element && target.closest('a, button')))
      void navigate({ to: `/${projectId}/requests/${selected}`, search: (filters: object) => filters } as never)
    else return
    event.preventDefault()
  }
  return (
    <section
      className="relative overflow-x-auto"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      aria-label="Requests"
      onKeyDown={onKeyDown}
    >
      <table className="w-full text-left">
        <thead className="text-xs text-muted">
          <tr className="border-b border-line">
            {shown.map(({ name, title, numeric, sort: own }) => (
              <ColumnHeader key={name} title={title} numeric={numeric} sort={own} order={{ sort, onSort }} />
            ))}
          </tr>
        </thead>
        <tbody ref={body} className="divide-y divide-line">
          {rows.map(row => (
            <tr
              key={row.id}
              tabIndex={-1}
              aria-current={row.id === selected ? 'true' : undefined}
              onClick={({ target }) => {
                const isText = window.getSelection()?.isCollapsed === false
                if (!isText && !(target as Element).closest('a, button')) onSelect(row.id === selected ? null : row.id)
              }}
              className={`cursor-pointer -outline-offset-2 ${row.id === selected ? 'bg-accent-soft' : 'hover:bg-sunken/60'}`}
            >
              {shown.map(({ name, cell, numeric }) => (
                <td
                  key={name}
                  className={`px-3 py-2 first:pl-4 last:pr-4 align-middle ${numeric ? 'text-right whitespace-nowrap tabular-nums' : ''}`}
                >
                  <Cell content={cell(row, projectId)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Cell({ content }: { content: React.ReactNode }) {
  return typeof content === 'string' ? <bdi>{escapeControlCharacters(content)}</bdi> : content
}

/** One card for each request, which opens its page. */
export function RequestCards({ rows, projectId }: { rows: readonly RequestLogEntry[]; projectId: string }) {
  return (
    <ul aria-label="Requests" className="divide-y divide-line">
      {rows.map(request => (
        <li key={request.id}>
          <Link
            to={`/${projectId}/requests/${request.id}` as never}
            search={(filters: object) => filters as never}
            className="block space-y-1.5 px-4 py-3 active:bg-sunken"
          >
            <span className="flex flex-wrap items-center justify-between gap-2">
              <RequestBadges request={request} />
              <span className="text-xs text-muted">{formatShortTime(request.recorded_at)}</span>
            </span>
            <UserText className={`line-clamp-3 !max-w-full ${request.status >= 400 ? 'text-danger' : ''}`}>
              {summarizeReason(request)}
            </UserText>
            <span className="flex items-end justify-between gap-3 text-xs text-muted">
              <UserText className="!min-w-0 font-mono">{request.model || '–'}</UserText>
              <span className="shrink-0 tabular-nums">
                {formatCost(request)} · {formatMs(request.duration_ms)}
                <span aria-hidden="true" className="ml-2 text-accent">
                  Open ›
                </span>
              </span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
