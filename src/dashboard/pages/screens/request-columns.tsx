/** The columns of the request list. The browser remembers the chosen ones for each user. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Badge, Button, UserText } from '../components/elements.tsx'
import { Checkbox } from '../components/fields.tsx'
import { Popover } from '../components/popover.tsx'
import { formatCount, formatMs, formatShortTime, formatTime, formatUsd } from '../format.ts'
import { useSession } from '../session.ts'
import { useStoredState } from '../stored-state.ts'
import type { RequestLogEntry } from '../types.ts'
import { summarizeReason } from './request-reason.ts'
import { ResultBadge } from './result-badge.tsx'

export interface RequestColumn {
  name: string
  title: string
  cell(request: RequestLogEntry, projectId: string): React.ReactNode
  numeric?: boolean
  /** The value of the filter `sort` that sorts by this column, for which the server has an index. */
  sort?: '' | 'slowest' | 'dearest'
  /** Columns that are shown by default. */
  isDefault?: true
  /** Columns that remain beside the preview. */
  isEssential?: true
}

export const REQUEST_COLUMNS: readonly RequestColumn[] = [
  {
    ...{ name: 'time', title: 'Time', sort: '', isDefault: true, isEssential: true },
    cell: (request, projectId) => (
      <RequestLink request={request} projectId={projectId} className="whitespace-nowrap text-accent hover:underline" />
    ),
  },
  {
    ...{ name: 'result', title: 'Result', isDefault: true, isEssential: true },
    cell: request => <RequestBadges request={request} />,
  },
  {
    ...{ name: 'reason', title: 'Reason', isDefault: true, isEssential: true },
    cell: request => {
      const reason = summarizeReason(request)
      return (
        <span title={reason} className="min-w-40">
          <UserText className={`line-clamp-2 !max-w-80 ${request.status >= 400 ? 'text-danger' : 'text-muted'}`}>
            {reason}
          </UserText>
        </span>
      )
    },
  },
  {
    ...{ name: 'model', title: 'Model', isDefault: true },
    cell: request => <UserText className="!max-w-52 font-mono text-xs">{request.model || '–'}</UserText>,
  },
  {
    ...{ name: 'key', title: 'API key', isDefault: true },
    cell: request => <UserText className="!min-w-20 !max-w-40">{request.key_name ?? request.api_key_id}</UserText>,
  },
  { name: 'provider', title: 'Provider', cell: request => request.provider ?? '–' },
  { name: 'endpoint', title: 'Endpoint', cell: request => request.endpoint },
  {
    ...{ name: 'user', title: 'End user' },
    cell: request => <UserText className="!max-w-40">{request.end_user ?? '–'}</UserText>,
  },
  {
    ...{ name: 'tags', title: 'Tags' },
    cell: request => <UserText className="!max-w-52">{formatTags(request)}</UserText>,
  },
  {
    ...{ name: 'tokens', title: 'Tokens', numeric: true },
    cell: request => formatCount(request.prompt_tokens + request.completion_tokens),
  },
  {
    ...{ name: 'cost', title: 'Cost', numeric: true, sort: 'dearest', isDefault: true },
    cell: formatCost,
  },
  { name: 'saved', title: 'Saved', numeric: true, cell: request => formatUsd(request.saved_usd) },
  {
    ...{ name: 'first_byte', title: 'Time to first byte', numeric: true },
    cell: request => formatMs(request.latency_ms),
  },
  {
    ...{ name: 'duration', title: 'Duration', numeric: true, sort: 'slowest', isDefault: true },
    cell: request => formatMs(request.duration_ms),
  },
  {
    ...{ name: 'id', title: 'Request ID' },
    cell: request => <UserText className="!max-w-52 font-mono text-xs">{request.request_id}</UserText>,
  },
]

function RequestLink({
  request,
  projectId,
  className,
}: {
  request: RequestLogEntry
  projectId: string
  className: string
}) {
  return (
    <Link
      to={`/${projectId}/requests/${request.id}` as never}
      search={(filters: object) => filters as never}
      className={className}
      title={formatTime(request.recorded_at)}
    >
      {formatShortTime(request.recorded_at)}
    </Link>
  )
}

export function RequestBadges({ request }: { request: RequestLogEntry }) {
  const hasFailed = request.status >= 400
  return (
    <span className="flex gap-1.5 whitespace-nowrap">
      {hasFailed && <Badge look={request.status === 499 ? 'warn' : 'bad'}>{String(request.status)}</Badge>}
      {(!hasFailed || request.cache_result !== null) && <ResultBadge result={request.cache_result} />}
    </span>
  )
}

export function formatCost(request: RequestLogEntry): string {
  return `${request.cost_estimated ? '≈ ' : ''}${formatUsd(request.cost_usd)}`
}

function formatTags({ tags }: RequestLogEntry): string {
  return (
    Object.entries(tags ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join(', ') || '–'
  )
}

const DEFAULT_COLUMNS = REQUEST_COLUMNS.filter(({ isDefault }) => isDefault).map(({ name }) => name)
const isNames = (stored: unknown): stored is string[] =>
  Array.isArray(stored) && stored.some(name => REQUEST_COLUMNS.some(column => column.name === name))

/** Returns the names of the chosen columns. */
export function useRequestColumns(): [readonly string[], (names: string[]) => void] {
  const { data: session } = useSession()
  return useStoredState<string[]>(`model-proxy-request-columns-${session?.user.id ?? ''}`, DEFAULT_COLUMNS, isNames)
}

export function ColumnChooser({ chosen, onChange }: { chosen: readonly string[]; onChange(names: string[]): void }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover label="Columns" title="Columns" isOpen={isOpen} onOpenChange={setOpen} align="right">
      <fieldset className="max-h-96 overflow-y-auto p-2">
        <legend className="sr-only">Columns of the list</legend>
        {/* The time links to the request, so it always stays. */}
        {REQUEST_COLUMNS.slice(1).map(({ name, title }) => (
          <Checkbox
            key={name}
            label={title}
            className="min-h-8 !gap-2.5 rounded-lg px-2 hover:bg-sunken"
            isChecked={chosen.includes(name)}
            onChange={isChecked => onChange(isChecked ? [...chosen, name] : chosen.filter(each => each !== name))}
          />
        ))}
      </fieldset>
      <div className="border-t border-line p-2">
        <Button look="quiet" onClick={() => onChange(DEFAULT_COLUMNS)}>
          Reset columns
        </Button>
      </div>
    </Popover>
  )
}
