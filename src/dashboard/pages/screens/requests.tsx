/** Lists requests: any span, filtered, the newest, slowest or dearest first. */

import { Link } from '@tanstack/react-router'
import { Badge, Card, Empty, Name, PageHeader } from '../components/basics.tsx'
import { type Column, Table } from '../components/table.tsx'
import { useFilters } from '../filters.ts'
import { formatCount, formatMs, formatShortTime, formatTime, formatUsd } from '../format.ts'
import { usePaged } from '../paged.ts'
import { useAllKeys, useProject } from '../session.ts'
import type { ProxyRequest } from '../types.ts'
import { ExportRequests } from './export-requests.tsx'
import { isFiltered, RequestFilters, useRequestQuery } from './request-filters.tsx'
import { ResultBadge } from './result-badge.tsx'

const REFRESH_MS = 2_000
const ORDER_NOTES: Record<string, string> = {
  slowest: ' Those that took a second or longer.',
  dearest: ' Those that cost anything.',
}

export function Requests() {
  const project = useProject()
  const [filters, change] = useFilters()
  const keys = useAllKeys(project?.id) ?? []
  const query = useRequestQuery(filters, project?.id)
  // What is over does not change, and neither does an order in which the newest is not the first.
  const isLive = !filters.sort && query.end_time === undefined
  const requests = usePaged<ProxyRequest>(
    '/v1/requests',
    { ...query, limit: 50 },
    { refetchMs: isLive ? REFRESH_MS : undefined, enabled: project !== null },
  )
  return (
    <>
      <PageHeader title="Requests" action={<ExportRequests query={query} />}>
        Each with its story, refused ones too. What they said is shown only if the project keeps it. An export holds at
        most 100,000.
        {ORDER_NOTES[filters.sort ?? '']}
      </PageHeader>
      <RequestFilters filters={filters} change={change} keys={keys} />
      <Card>
        <Table
          label="Requests"
          rows={requests.rows}
          error={requests.error}
          more={requests.more}
          keyOf={request => request.id}
          empty={
            isFiltered(filters) ? (
              <Empty title="No matching requests">Remove a filter to see more.</Empty>
            ) : (
              <Empty title="No requests yet">
                Send one with a key of this project; it appears here within two seconds.
              </Empty>
            )
          }
          columns={columnsOf(project?.id ?? '')}
        />
      </Card>
    </>
  )
}

function columnsOf(projectId: string): Column<ProxyRequest>[] {
  return [
    {
      title: 'When',
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
      cell: request => <Name className="!min-w-44 font-mono text-xs">{request.model || '–'}</Name>,
    },
    { title: 'Provider', look: 'line', cell: request => request.provider ?? '–' },
    {
      title: 'Key',
      cell: request => <Name className="!min-w-24">{request.key_name ?? request.api_key_id}</Name>,
    },
    {
      title: 'Tokens',
      numeric: true,
      cell: request => formatCount(request.prompt_tokens + request.completion_tokens),
    },
    { title: 'Cost', numeric: true, cell: request => `${request.presumed ? '≤ ' : ''}${formatUsd(request.cost_usd)}` },
    {
      title: 'First byte',
      numeric: true,
      cell: request => <span className="whitespace-nowrap">{formatMs(request.latency_ms)}</span>,
    },
    {
      title: 'In all',
      numeric: true,
      cell: request => <span className="whitespace-nowrap">{formatMs(request.duration_ms)}</span>,
    },
  ]
}
