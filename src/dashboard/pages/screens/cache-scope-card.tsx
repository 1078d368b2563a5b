/** Compares the sharing scopes: how many of last week's requests would have been exact hits in each scope. */
import { useQuery } from '@tanstack/react-query'
import { Badge, Card, TextLink } from '../components/elements.tsx'
import { Table } from '../components/table.tsx'
import { formatCount, formatPercent, formatPlural, formatTime } from '../format.ts'
import { useSettings } from '../settings.ts'
import type { CacheScopes, Project } from '../types.ts'

const TITLES: Record<string, string> = {
  project: 'Whole project',
  key: 'Same API key',
  user: 'Same end user',
}

type Row = CacheScopes['scopes'][number]

export function CacheScopeCard({ project }: { project: Project }) {
  const settings = useSettings(project.id)
  const compared = useQuery<CacheScopes>({ queryKey: ['/v1/cache/scopes', { project_id: project.id }] })
  const current = settings.data?.settings.cache_scope
  return (
    <Card title="Sharing scope" action={<TextLink to={`/${project.id}/settings/policy/sharing`}>Change</TextLink>}>
      <Table
        label="Sharing scope"
        rows={compared.data?.scopes}
        error={compared.error}
        keyOf={row => row.scope}
        columns={[
          { title: 'Scope', look: 'strong', cell: row => TITLES[row.scope] ?? row.scope },
          { title: 'Status', cell: row => row.scope === current && <Badge look="good">Current</Badge> },
          { title: 'Would be exact hits', numeric: true, cell: row => formatCount(row.answered) },
          { title: 'Share of requests', numeric: true, cell: row => formatPercent(row.answered / row.requests) },
        ]}
        empty={{
          title: 'No requests in the last week',
          help: 'With requests, this compares how many would have been answered from the cache in each sharing scope.',
        }}
      />
      <SampleSize row={compared.data?.scopes[0]} />
    </Card>
  )
}

/** Describes the requests that the comparison is based on. */
function SampleSize({ row }: { row: Row | undefined }) {
  if (!row) return null
  const { requests, named, users, since } = row
  const naming =
    named === 0
      ? 'No request names an end user, so the scopes “Same end user” and “Same API key” have the same result.'
      : `${formatPlural(named, 'request')} with an end user (${formatPlural(users, 'different user')}).`
  return (
    <p className="px-4 pt-3 pb-4 text-xs text-muted">
      {formatPlural(requests, 'request')}
      {since !== null && ` since ${formatTime(since)}`}. {naming}
    </p>
  )
}
