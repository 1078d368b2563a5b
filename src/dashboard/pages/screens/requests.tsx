/** Lists requests, filtered and newest first, and shows one in full. */

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { get } from '../api.ts'
import { Badge, Button, Card, Empty, PageHeader } from '../components/basics.tsx'
import { type Choice, Select } from '../components/select.tsx'
import { type Column, Table } from '../components/table.tsx'
import { type Filters, useFilters } from '../filters.ts'
import { formatCount, formatMs, formatShortTime, formatUsd } from '../format.ts'
import { usePaged } from '../paged.ts'
import { useProject } from '../session.ts'
import type { ApiKey, Page, ProxyRequest } from '../types.ts'
import { RequestStory } from './request-story.tsx'
import { ResultBadge } from './result-badge.tsx'

const REFRESH_MS = 2_000

const FILTER = 'min-h-9 rounded-lg border border-line bg-surface px-2.5'
const RESULTS: Choice[] = [
  ['', 'Any result'],
  ['HIT', 'Exact hit'],
  ['HIT-SEMANTIC', 'Semantic hit'],
  ['MISS', 'Miss'],
]
const OUTCOMES: Choice[] = [
  ['', 'Any outcome'],
  ['ok', 'Answered'],
  ['failed', 'Failed'],
]

export function Requests() {
  const project = useProject()
  const [filters, change] = useFilters()
  const [shown, setShown] = useState<ProxyRequest | null>(null)
  const keysPath = `/v1/organization/projects/${project?.id}/api_keys`
  const keys = useQuery({
    queryKey: [keysPath, 'all'],
    queryFn: () => get<Page<ApiKey>>(keysPath, { include_inactive: true, limit: 100 }),
    enabled: project !== null,
  })
  const requests = usePaged<ProxyRequest>(
    '/v1/requests',
    {
      project_id: project?.id,
      limit: 50,
      cache_result: filters.result,
      outcome: filters.outcome,
      api_key_id: filters.key,
      model: filters.model,
      request_id: filters.request,
    },
    { refetchMs: REFRESH_MS, enabled: project !== null },
  )
  const isFiltered = Object.values(filters).some(Boolean)
  return (
    <>
      <PageHeader title="Requests">The last seven days, newest first. Prompts and answers are not recorded.</PageHeader>
      <RequestFilters filters={filters} change={change} keys={keys.data?.data ?? []} />
      <Card>
        <Table
          label="Requests"
          rows={requests.rows}
          error={requests.error}
          more={requests.more}
          keyOf={request => request.id}
          empty={
            isFiltered ? (
              <Empty title="No matching requests">Remove a filter to see more.</Empty>
            ) : (
              <Empty title="No requests yet">
                Send one with a key of this project; it appears here within two seconds.
              </Empty>
            )
          }
          columns={columnsOf(setShown)}
        />
      </Card>
      {shown && <RequestStory request={shown} onClose={() => setShown(null)} />}
    </>
  )
}

function columnsOf(show: (request: ProxyRequest) => void): Column<ProxyRequest>[] {
  return [
    {
      title: 'When',
      cell: request => (
        <button
          type="button"
          className="text-left whitespace-nowrap text-accent hover:underline"
          onClick={() => show(request)}
        >
          {formatShortTime(request.recorded_at)}
        </button>
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
      cell: request => <span className="font-mono text-xs whitespace-nowrap">{request.model}</span>,
    },
    { title: 'Provider', cell: request => request.provider ?? '–' },
    {
      title: 'Key',
      cell: request => <span className="whitespace-nowrap">{request.key_name ?? request.api_key_id}</span>,
    },
    {
      title: 'Tokens',
      numeric: true,
      cell: request => formatCount(request.prompt_tokens + request.completion_tokens),
    },
    { title: 'Cost', numeric: true, cell: request => formatUsd(request.cost_usd) },
    {
      title: 'First byte',
      numeric: true,
      cell: request => <span className="whitespace-nowrap">{formatMs(request.latency_ms)}</span>,
    },
  ]
}

interface RequestFiltersProps {
  filters: Filters
  change(changes: Filters): void
  keys: readonly ApiKey[]
}

function RequestFilters({ filters, change, keys }: RequestFiltersProps) {
  const isFiltered = Object.values(filters).some(Boolean)
  return (
    <search className="mb-4 flex flex-wrap items-center gap-2">
      <Select
        aria-label="Answered by"
        className={FILTER}
        choices={RESULTS}
        value={filters.result ?? ''}
        onChange={result => change({ result })}
      />
      <Select
        aria-label="Outcome"
        className={FILTER}
        choices={OUTCOMES}
        value={filters.outcome ?? ''}
        onChange={outcome => change({ outcome })}
      />
      <Select
        aria-label="API key"
        className={FILTER}
        choices={[['', 'Any key'], ...keys.map(key => [key.id, key.name] as const)]}
        value={filters.key ?? ''}
        onChange={key => change({ key })}
      />
      <TextFilter label="Model" value={filters.model} onChange={model => change({ model })} />
      <TextFilter label="Request ID" value={filters.request} onChange={request => change({ request })} />
      {isFiltered && (
        <Button look="quiet" onClick={() => change({ result: '', outcome: '', key: '', model: '', request: '' })}>
          Clear
        </Button>
      )}
    </search>
  )
}

/** Queries on blur or Enter, not on every keystroke. */
function TextFilter({
  label,
  value,
  onChange,
}: {
  label: string
  value: string | undefined
  onChange(value: string): void
}) {
  return (
    <input
      key={value ?? ''}
      aria-label={label}
      placeholder={label}
      defaultValue={value ?? ''}
      className={`${FILTER} w-40`}
      onBlur={event => event.target.value !== (value ?? '') && onChange(event.target.value.trim())}
      onKeyDown={event => event.key === 'Enter' && event.currentTarget.blur()}
    />
  )
}
