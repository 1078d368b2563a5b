/** What the cache holds, how it decides, and making it forget. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, get } from '../api.ts'
import { Badge, Button, Card, Empty, PageHeader, Problem, RowButton } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { type Column, Table } from '../components/table.tsx'
import { formatAgo, formatBytes, formatCount } from '../format.ts'
import { usePaged } from '../paged.ts'
import { may, useProject } from '../session.ts'
import type { CacheEntry, CacheStats } from '../types.ts'
import { CachePolicy } from './cache-policy.tsx'
import { PurgeCache } from './purge-cache.tsx'

const FOUND_BY = { exact: 'Exact request', normalized: 'Same wording', similar: 'Similar wording' }

export function Cache() {
  const project = useProject()
  const queries = useQueryClient()
  const [isPurging, setPurging] = useState(false)
  const stats = useQuery({
    queryKey: ['/v1/cache/stats', project?.id],
    queryFn: () => get<CacheStats>('/v1/cache/stats', { project_id: project?.id }),
    enabled: project !== null,
    refetchInterval: 10_000,
  })
  const mayChange = may(project, 'member')
  const refresh = () =>
    queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('/v1/cache') })

  return (
    <>
      <PageHeader
        title="Cache"
        action={
          mayChange && (
            <Button look="danger" onClick={() => setPurging(true)}>
              Purge…
            </Button>
          )
        }
      >
        Whole answers, shared with no other project. Similar is not same: a differently worded question is answered only
        where nothing that matters differs.
      </PageHeader>
      <Problem error={stats.error} />
      <div className="space-y-5">
        <Tiles stats={stats.data} />
        {project && <CachePolicy projectId={project.id} mayChange={mayChange} />}
        {project && <StoredAnswers projectId={project.id} mayChange={mayChange} onChange={refresh} />}
      </div>
      {isPurging && project && (
        <PurgeCache
          projectId={project.id}
          onDone={() => {
            setPurging(false)
            void refresh()
          }}
          onClose={() => setPurging(false)}
        />
      )}
    </>
  )
}

interface StoredAnswersProps {
  projectId: string
  mayChange: boolean
  onChange(): void
}

function StoredAnswers({ projectId, mayChange, onChange }: StoredAnswersProps) {
  const [going, setGoing] = useState<CacheEntry | null>(null)
  const entries = usePaged<CacheEntry>('/v1/cache/entries', { project_id: projectId, limit: 50 })
  return (
    <>
      <Card title="Stored answers">
        <Table
          label="Stored answers"
          rows={entries.rows}
          error={entries.error}
          more={entries.more}
          keyOf={entry => entry.id}
          empty={
            <Empty title="Nothing is stored yet">
              The first whole answer of this project will be, unless the request forbids it.
            </Empty>
          }
          columns={columnsOf(mayChange ? setGoing : null)}
        />
      </Card>
      {going && (
        <Confirm
          title="Forget this answer?"
          action="Forget answer"
          run={() => call('DELETE', `/v1/cache/entries/${going.id}?project_id=${projectId}`)}
          onDone={onChange}
          onClose={() => setGoing(null)}
        >
          The next request for it goes to the provider, and its answer is stored anew.
        </Confirm>
      )}
    </>
  )
}

/** `forget`: null where the user may not. */
function columnsOf(forget: ((entry: CacheEntry) => void) | null): Column<CacheEntry>[] {
  return [
    {
      title: 'Model',
      cell: entry => <span className="font-mono text-xs whitespace-nowrap">{entry.model}</span>,
    },
    { title: 'Provider', cell: entry => entry.provider },
    { title: 'Namespace', cell: entry => entry.namespace || <span className="text-muted">default</span> },
    {
      title: 'Found by',
      cell: entry => <Badge look={entry.found_by === 'similar' ? 'good' : 'neutral'}>{FOUND_BY[entry.found_by]}</Badge>,
    },
    {
      title: 'Size',
      numeric: true,
      cell: entry => <span className="whitespace-nowrap">{formatBytes(entry.bytes)}</span>,
    },
    {
      title: 'A hit saves',
      numeric: true,
      cell: entry => <span className="whitespace-nowrap">{formatCount(entry.prompt_tokens)} tokens</span>,
    },
    {
      title: 'Stored',
      cell: entry => <span className="whitespace-nowrap">{formatAgo(entry.created_at)}</span>,
    },
    {
      title: 'Expires',
      cell: entry => <span className="whitespace-nowrap">{formatAgo(entry.expires_at)}</span>,
    },
    {
      title: '',
      numeric: true,
      cell: entry =>
        forget && (
          <RowButton aria-label={`Forget ${entry.id}`} onClick={() => forget(entry)}>
            Forget
          </RowButton>
        ),
    },
  ]
}

function Tiles({ stats }: { stats: CacheStats | undefined }) {
  return (
    <dl className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Tile
        title="Answers"
        value={stats && formatCount(stats.entries)}
        note={stats && `${formatCount(stats.expired)} expired, soon gone`}
      />
      <Tile title="Stored size" value={stats && formatBytes(stats.bytes)} note="as PostgreSQL keeps it" />
      <Tile
        title="Found by wording"
        value={stats && formatCount(stats.prompts)}
        note={stats && `${formatCount(stats.with_vector)} by similar wording too`}
      />
      <Tile title="Embedding vectors" value={stats && formatCount(stats.vectors)} note="each paid for once" />
    </dl>
  )
}

function Tile({ title, value, note }: { title: string; value: string | undefined; note: string | undefined }) {
  return (
    <div className="rounded-xl border border-line bg-surface px-4 py-3.5">
      <dt className="text-xs font-medium text-muted">{title}</dt>
      <dd className="mt-1 text-2xl font-semibold tracking-tight tabular-nums">{value ?? '–'}</dd>
      <dd className="mt-0.5 text-xs text-muted">{note ?? ' '}</dd>
    </div>
  )
}
