/** Who shares answers, and what the cache would have answered last week, had others shared them. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Badge, Card, EmptyState } from '../components/elements.tsx'
import { Table } from '../components/table.tsx'
import { formatCount, formatPercent, formatPlural, formatTime } from '../format.ts'
import { useSettings } from '../settings.ts'
import type { CacheScopes, Project } from '../types.ts'

const TITLES: Record<string, string> = {
  project: 'All in the project',
  key: 'Those with the same key',
  user: 'The same end user',
}

type Row = CacheScopes['scopes'][number]

export function CacheScopeCard({ project }: { project: Project }) {
  const settings = useSettings(project.id)
  const compared = useQuery<CacheScopes>({ queryKey: ['/v1/cache/scopes', { project_id: project.id }] })
  const current = settings.data?.settings.cache_scope
  return (
    <Card
      title="Who shares answers"
      action={
        <Link to={`/${project.id}/settings/policy` as never} className="text-accent underline">
          Change it
        </Link>
      }
    >
      <Table
        label="Who shares answers"
        rows={compared.data?.scopes}
        error={compared.error}
        keyOf={row => row.scope}
        columns={[
          { title: 'Answers are shared by', look: 'strong', cell: row => TITLES[row.scope] ?? row.scope },
          { title: '', cell: row => row.scope === current && <Badge look="good">now</Badge> },
          { title: 'Asked before, word for word', numeric: true, cell: row => formatCount(row.answered) },
          { title: 'Of all requests', numeric: true, cell: row => formatPercent(row.answered / row.requests) },
        ]}
        empty={
          <EmptyState title="No requests in the last week">
            Once there are some, this compares what the cache would have answered, had answers been shared with more or
            fewer.
          </EmptyState>
        }
      />
      <Basis row={compared.data?.scopes[0]} />
    </Card>
  )
}

/** What the comparison rests on. */
function Basis({ row }: { row: Row | undefined }) {
  if (!row) return null
  const { requests, named, users, since } = row
  const naming =
    named === 0
      ? 'None of them names a user, so that the same end user cannot be told from the same key.'
      : `${formatCount(named)} of them name ${formatPlural(users, 'user')}.`
  return (
    <p className="px-4 pt-3 pb-4 text-xs text-muted">
      {formatPlural(requests, 'request')} since {since === null ? 'then' : formatTime(since)}. {naming}
    </p>
  )
}
