/** The end users page: those that requests name, with their usage; owners can view, export and delete the data of one. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useActions } from '../components/actions.tsx'
import { Card, PageHeader, RowButton } from '../components/elements.tsx'
import { TextFilter } from '../components/fields.tsx'
import { type Column, Table } from '../components/table.tsx'
import { useFilters } from '../filters.ts'
import { formatCount, formatPercent, formatUsd, isolateDirection } from '../format.ts'
import { usePagedList, useStableRange } from '../paged-list.ts'
import { hasRole, useProject, useProjectPath } from '../session.ts'
import { readTimeRange } from '../time-range.ts'
import type { EndUserUsage } from '../types.ts'
import { createDeleteAction, EndUserDataCard } from './end-user-data.tsx'
import { narrowSelection, type RequestSelection, requestsColumn, selectRequests } from './request-count-link.tsx'
import { PeriodControl, readKeyType, TestKeysFilter, Toolbar } from './toolbar.tsx'

export default function EndUsersPage() {
  const project = useProject()
  const base = useProjectPath('end_users')
  const [filters, change] = useFilters()
  // Names are not put in the URL of this page, because browsers keep URLs in their history.
  const [search, setSearch] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const range = useStableRange(filters)
  const keyType = readKeyType(filters)
  const query = { ...range, key_type: keyType, name_contains: search, limit: 50 }
  const list = usePagedList<EndUserUsage>(base ?? '', query, { enabled: base !== null })
  const isOwner = hasRole(project, 'owner')
  const { act, dialog } = useActions<null>(() => `${base}`, [`${base}`])
  const rows = selectRequests(project?.id ?? '', filters, readTimeRange(filters), keyType)
  return (
    <>
      <PageHeader title="End users">
        The people whom your requests name in safety_identifier, user or metadata.user_id, most expensive first.
      </PageHeader>
      <Toolbar>
        <PeriodControl filters={filters} change={change} />
        <TextFilter label="Name contains" value={search} onChange={setSearch} />
        <TestKeysFilter filters={filters} change={change} />
      </Toolbar>
      <div className="space-y-5">
        {chosen !== null && base && (
          <EndUserDataCard key={chosen} base={base} user={chosen} onClose={() => setChosen(null)} />
        )}
        <Card>
          <Table
            label="End users"
            {...list}
            keyOf={({ id }) => id}
            empty={
              search === ''
                ? {
                    title: 'No end users in this period',
                    help: 'Choose a longer period, or name the end user in each request: set “user” or “safety_identifier”.',
                  }
                : {
                    title: 'No end user with this name in this period',
                    help: 'Data may be stored under exactly this name nevertheless: of an earlier time, or named by a tag.',
                    action: isOwner && (
                      <RowButton look="plain" onClick={() => setChosen(search)}>
                        Show stored data
                      </RowButton>
                    ),
                  }
            }
            columns={buildColumns(
              rows,
              isOwner ? { show: setChosen, remove: user => act(createDeleteAction(`${base}`, user), null) } : null,
            )}
          />
          {dialog}
        </Card>
        {project && !isOwner && (
          <p className="text-muted">Only owners of the project can view and delete the stored data of an end user.</p>
        )}
      </div>
    </>
  )
}

interface DataActions {
  show(user: string): void
  remove(user: string): void
}

/** `data` is null if the stored data may not be shown. */
function buildColumns(rows: RequestSelection, data: DataActions | null): Column<EndUserUsage>[] {
  const columns: Column<EndUserUsage>[] = [
    { title: 'End user', look: 'strong', cell: ({ id }) => id },
    requestsColumn(
      'Requests',
      user => user.requests,
      ({ id }) => narrowSelection(rows, { user: id }),
    ),
    requestsColumn(
      'Failed',
      user => user.failed,
      ({ id }) => narrowSelection(rows, { user: id, outcome: 'failed' }),
    ),
    { title: 'Tokens', numeric: true, cell: ({ tokens }) => formatCount(tokens) },
    { title: 'Cost', numeric: true, cell: ({ cost_usd }) => formatUsd(cost_usd) },
    { title: 'Saved', numeric: true, cell: ({ saved_usd }) => formatUsd(saved_usd) },
    { title: 'Hit rate', numeric: true, cell: ({ hit_rate }) => formatPercent(hit_rate) },
    {
      title: '',
      cell: ({ id }) => (
        <span className="flex justify-end gap-2">
          <Link
            to={`/${rows.projectId}/sessions` as never}
            search={{ span: 'own', from: rows.filters.from, until: rows.filters.until, user: id } as never}
            className="rounded-lg px-2 py-1 text-accent hover:underline"
            aria-label={`Sessions of ${id}`}
          >
            Sessions
          </Link>
          {data && (
            <>
              <RowButton
                look="plain"
                aria-label={`Stored data of ${isolateDirection(id)}`}
                onClick={() => data.show(id)}
              >
                Stored data
              </RowButton>
              <RowButton aria-label={`Delete the data of ${isolateDirection(id)}`} onClick={() => data.remove(id)}>
                Delete
              </RowButton>
            </>
          )}
        </span>
      ),
    },
  ]
  return columns
}
