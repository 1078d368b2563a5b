/** The request list on phones: one card for each request, which opens its page. */
import { Link } from '@tanstack/react-router'
import { UserText } from '../components/elements.tsx'
import { formatMs, formatShortTime } from '../format.ts'
import type { RequestLogEntry } from '../types.ts'
import { formatCost, RequestBadges } from './request-columns.tsx'
import { summarizeReason } from './request-reason.ts'

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
