/** The request list, with filters, sorting and export. */
import { Link } from '@tanstack/react-router'
import { Badge, PageHeader, UserText } from '../components/elements.tsx'
import { ExportButtons } from '../components/export-buttons.tsx'
import { Resource } from '../components/resource.tsx'
import type { Column } from '../components/table.tsx'
import { useFilters } from '../filters.ts'
import { formatCount, formatMs, formatShortTime, formatTime, formatUsd } from '../format.ts'
import { useAllKeys, useProject } from '../session.ts'
import type { RequestLogEntry } from '../types.ts'
import { isFiltered, RequestFilters, useRequestQuery } from './request-filters.tsx'
import { ResultBadge } from './result-badge.tsx'

const REFRESH_MS = 2_000
const ORDER_NOTES: Record<string, string> = {
  slowest: ' Only requests of one second or longer are listed.',
  dearest: ' Only requests with a cost are listed.',
}

const NO_REQUESTS = {
  title: 'No requests yet',
  help: 'Send a request with an API key of this project. It appears here within two seconds.',
}
const NO_MATCHES = { title: 'No matching requests', help: 'Remove a filter to see more.' }

export default function Requests() {
  const project = useProject()
  const [filters, change] = useFilters()
  const keys = useAllKeys(project?.id) ?? []
  const query = useRequestQuery(filters, project?.id)
  // A list is refreshed only if new requests can appear at its top: sorted by time, without an end.
  const isLive = !filters.sort && query.end_time === undefined
  return (
    <>
      <PageHeader title="Requests" action={<ExportButtons path="/v1/requests/export" query={query} name="requests" />}>
        All requests, including most rejected ones: each process records the first 30 per key and minute. Their text is
        shown only if the project stores it. An export contains at most 100,000 requests.
        {ORDER_NOTES[filters.sort ?? '']}
      </PageHeader>
      <RequestFilters filters={filters} change={change} keys={keys} />
      <Resource<RequestLogEntry>
        path={project && '/v1/requests'}
        query={{ ...query, limit: 50 }}
        refreshMs={isLive ? REFRESH_MS : undefined}
        label="Requests"
        empty={isFiltered(filters) ? NO_MATCHES : NO_REQUESTS}
        columns={buildRequestColumns(project?.id ?? '')}
      />
    </>
  )
}

function buildRequestColumns(projectId: string): Column<RequestLogEntry>[] {
  return [
    {
      title: 'Time',
      cell: request => (
        <Link
          to={`/${projectId}/requests/${request.id}` as never}
          search={(filters: object) => filters as never}
          className="whitespace-nowrap text-accent hover:underline"
          title={formatTime(request.recorded_at)}
        >
          {formatShortTime(request.recorded_at)}
        </Link>
      ),
    },
    {
      title: 'Result',
      cell: request => (
        <span className="flex gap-1.5">
          <ResultBadge result={request.cache_result} />
          {request.status >= 400 && <Badge look="bad">{request.status}</Badge>}
        </span>
      ),
    },
    {
      title: 'Model',
      cell: request => <UserText className="!min-w-44 font-mono text-xs">{request.model || '–'}</UserText>,
    },
    { title: 'Provider', look: 'line', cell: request => request.provider ?? '–' },
    {
      title: 'API key',
      cell: request => <UserText className="!min-w-24">{request.key_name ?? request.api_key_id}</UserText>,
    },
    {
      title: 'Tokens',
      numeric: true,
      cell: request => formatCount(request.prompt_tokens + request.completion_tokens),
    },
    {
      title: 'Cost',
      numeric: true,
      cell: request => `${request.cost_estimated ? '≈ ' : ''}${formatUsd(request.cost_usd)}`,
    },
    { title: 'Time to first byte', numeric: true, look: 'line', cell: request => formatMs(request.latency_ms) },
    { title: 'Total', numeric: true, look: 'line', cell: request => formatMs(request.duration_ms) },
  ]
}
