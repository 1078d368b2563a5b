/** The request list: saved views, filters, a table or cards, and a preview of the selected request. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Card, type EmptyStateProps, PageHeader, TextLink } from '../components/elements.tsx'
import { ExportButtons } from '../components/export-buttons.tsx'
import { List } from '../components/table.tsx'
import { type Filters, useFilters } from '../filters.ts'
import { formatTime } from '../format.ts'
import { PHONE, useMediaQuery, WIDE_SCREEN } from '../media-query.ts'
import { usePagedList } from '../paged-list.ts'
import { useProject } from '../session.ts'
import type { RequestLogEntry } from '../types.ts'
import { ColumnChooser, useRequestColumns } from './request-columns.tsx'
import { isFiltered, RequestFilters, useRequestQuery } from './request-filters.tsx'
import { RequestSummary } from './request-summary.tsx'
import { RequestCards, RequestTable } from './request-table.tsx'
import { SavedViews } from './saved-views.tsx'

const REFRESH_MS = 2_000
/** Processes record requests in batches, so that one may appear after others that ended later. Seconds. */
const OVERLAP_SECONDS = 15
const newerThan = ({ created_at }: RequestLogEntry) => ({ start_time: Math.max(0, created_at - OVERLAP_SECONDS) })

const ORDER_NOTES: Record<string, string> = {
  slowest: ' Only requests of one second or longer are listed.',
  dearest: ' Only requests with a cost are listed.',
}

export default function Requests() {
  const project = useProject()
  const projectId = project?.id ?? ''
  const [filters, change] = useFilters()
  const query = useRequestQuery(filters, project?.id)
  const [columns, chooseColumns] = useRequestColumns()
  const isPhone = useMediaQuery(PHONE)
  return (
    <>
      <PageHeader title="Requests" action={<ExportButtons path="/v1/requests/export" query={query} name="requests" />}>
        Every request of this project. Of rejected ones, the first 30 per key and minute are listed.
        {ORDER_NOTES[filters.sort ?? '']}
      </PageHeader>
      {project && <SavedViews key={projectId} projectId={projectId} filters={filters} />}
      <div className="mb-4 flex items-start justify-between gap-2">
        <RequestFilters filters={filters} change={change} query={query} />
        {!isPhone && <ColumnChooser chosen={columns} onChange={chooseColumns} />}
      </div>
      {project && (
        <RequestList
          key={JSON.stringify(query)}
          projectId={projectId}
          query={query}
          filters={filters}
          columns={columns}
          onSort={sort => change({ sort })}
        />
      )}
    </>
  )
}

interface RequestListProps {
  projectId: string
  query: ReturnType<typeof useRequestQuery>
  filters: Filters
  columns: readonly string[]
  onSort(sort: string): void
}

function RequestList({ projectId, query, filters, columns, onSort }: RequestListProps) {
  // A list is refreshed only if new requests can appear at its top: sorted by time, without an end.
  const isLive = !filters.sort && query.end_time === undefined
  const { rows, error, more } = usePagedList<RequestLogEntry>(
    '/v1/requests',
    { ...query, limit: 50 },
    { refetchMs: isLive ? REFRESH_MS : undefined, newerThan },
  )
  const [selectedId, select] = useState<string | null>(null)
  const navigate = useNavigate()
  const isPhone = useMediaQuery(PHONE)
  const isWide = useMediaQuery(WIDE_SCREEN)
  const selected = isWide ? rows?.find(({ id }) => id === selectedId) : undefined
  // Without space at the side, a request opens as a page.
  function onSelect(id: string | null): void {
    if (isWide || id === null) select(id)
    else void navigate({ to: `/${projectId}/requests/${id}`, search: (filters: object) => filters } as never)
  }
  return (
    <div className={selected ? 'grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,26rem)]' : ''}>
      <Card>
        <List rows={rows} error={error} more={more} empty={describeEmptyList(filters)}>
          {shown =>
            isPhone ? (
              <RequestCards rows={shown} projectId={projectId} />
            ) : (
              <RequestTable
                rows={shown}
                projectId={projectId}
                columns={columns}
                sort={filters.sort ?? ''}
                onSort={onSort}
                selected={selected?.id ?? null}
                onSelect={onSelect}
              />
            )
          }
        </List>
      </Card>
      {selected && <RequestPreview request={selected} projectId={projectId} onClose={() => select(null)} />}
    </div>
  )
}

function describeEmptyList(filters: Filters): EmptyStateProps {
  if (filters.request)
    return {
      title: 'No request has this ID',
      help: 'All requests of this project that are still stored were searched. The ID is the X-Request-Id header of the response. It appears here within two seconds.',
    }
  if (isFiltered(filters)) return { title: 'No matching requests', help: 'Remove a filter to see more.' }
  return {
    title: 'No requests yet',
    help: 'Send a request with an API key of this project. It appears here within two seconds.',
  }
}

interface RequestPreviewProps {
  request: RequestLogEntry
  projectId: string
  onClose(): void
}

/** The selected request, at the side of the list. */
function RequestPreview({ request, projectId, onClose }: RequestPreviewProps) {
  return (
    <section
      aria-label="Preview"
      className="sticky top-4 max-h-[calc(100dvh-2rem)] min-w-0 overflow-y-auto rounded-xl border border-line bg-canvas"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <header className="sticky top-0 z-10 flex items-center justify-between gap-3 border-b border-line bg-surface px-4 py-2">
        <h2 className="font-semibold">{formatTime(request.recorded_at)}</h2>
        <span className="flex items-center gap-3">
          <TextLink to={`/${projectId}/requests/${request.id}`} search={true} className="font-medium">
            Open
          </TextLink>
          <button
            type="button"
            onClick={onClose}
            aria-label="Close preview"
            className="size-7 rounded-md text-lg leading-none text-muted hover:bg-sunken hover:text-ink"
          >
            ×
          </button>
        </span>
      </header>
      <div className="p-3">
        <RequestSummary key={request.id} request={request} projectId={projectId} />
      </div>
      <p className="px-4 pb-3 text-xs text-muted">
        <kbd>↑</kbd> <kbd>↓</kbd> move · <kbd>Enter</kbd> opens · <kbd>Esc</kbd> closes
      </p>
    </section>
  )
}
