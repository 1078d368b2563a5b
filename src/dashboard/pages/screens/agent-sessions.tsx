/** The sessions page: the tasks of agents and conversations, with their cost and what the provider's prompt cache saved. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { fetchJson } from '../api.ts'
import { Badge, Card, PageHeader, RowButton, UserText } from '../components/elements.tsx'
import { Figure, Figures } from '../components/figures.tsx'
import { ActiveFilters } from '../components/filter-menu.tsx'
import { type Column, Table } from '../components/table.tsx'
import { useFilters } from '../filters.ts'
import { formatCount, formatDuration, formatPlural, formatShortTime, formatTime, formatUsd } from '../format.ts'
import { useProject } from '../session.ts'
import { readTimeRange } from '../time-range.ts'
import type { AgentSession, AgentSessions } from '../types.ts'
import {
  formatUtc,
  narrowSelection,
  RequestCountLink,
  type RequestSelection,
  requestsColumn,
} from './request-count-link.tsx'
import { PeriodControl, readKeyType, TestKeysFilter, Toolbar } from './toolbar.tsx'

const PATH = '/v1/usage/sessions'
const REFRESH_MS = 30_000
export default function AgentSessionsPage() {
  const project = useProject()
  const [filters, change] = useFilters()
  const span = readTimeRange(filters)
  const keyType = readKeyType(filters)
  const only = {
    project_id: project?.id,
    key_type: keyType,
    end_user: filters.user,
    unread: filters.unread,
    sort: filters.sort,
    limit: 50,
  }
  const list = useInfiniteQuery({
    queryKey: [PATH, span.name, filters.from, filters.until, only],
    queryFn: ({ pageParam }) =>
      fetchJson<AgentSessions>(PATH, { ...only, start_time: span.from, end_time: span.until, after: pageParam }),
    enabled: project !== null,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => (page.has_more ? (page.last_id ?? undefined) : undefined),
    refetchInterval: REFRESH_MS,
    placeholderData: previous => previous,
  })
  const first = list.data?.pages[0]
  const rows: RequestSelection = {
    projectId: project?.id ?? '',
    filters: {
      ...{
        span: 'own',
        from: formatUtc(first?.since ?? span.from),
        until: span.name === 'own' ? formatUtc(span.until) : '',
      },
      ...{ type: keyType, user: filters.user },
    },
  }
  return (
    <>
      <PageHeader title="Sessions">
        Tasks of agents and conversations: requests with the same session ID, prompt_cache_key or beginning.
      </PageHeader>
      <Toolbar>
        <PeriodControl filters={filters} change={change} />
        <TestKeysFilter filters={filters} change={change} />
        <ActiveFilters
          names={['user', 'unread'].filter(name => filters[name])}
          describe={name =>
            name === 'user' ? ['End user', filters.user ?? ''] : ['Prompt cache', 'Written, never read']
          }
          onRemove={name => change({ [name]: '' })}
        />
      </Toolbar>
      <div className="space-y-5">
        {first && <Totals sessions={first} />}
        {first && first.unread_sessions > 0 && !filters.unread && (
          <div role="note" className="flex flex-wrap items-center gap-3 rounded-lg bg-warn-soft px-4 py-3 text-warn">
            <p className="min-w-0 flex-1">
              <b className="font-semibold">Written, never read:</b> {formatPlural(first.unread_sessions, 'session')}{' '}
              paid {formatUsd(first.unread_usd)} more for writing the prompt cache, and never read it. Usually the
              beginning of each prompt changes: move what changes to its end.
            </p>
            <RowButton look="plain" onClick={() => change({ unread: 'true' })}>
              Show them
            </RowButton>
          </div>
        )}
        <Card>
          <Table
            label="Sessions"
            rows={list.data?.pages.flatMap(page => page.data)}
            error={list.error}
            keyOf={({ id }) => id}
            more={list.hasNextPage ? { pending: list.isFetchingNextPage, load: () => void list.fetchNextPage() } : null}
            empty={{
              title: 'No sessions in this period',
              help: 'Agents’ requests appear here: those with a session ID, a prompt_cache_key, tools, or an earlier turn.',
            }}
            columns={buildColumns(rows)}
            order={{ sort: filters.sort ?? '', onSort: sort => change({ sort }) }}
          />
        </Card>
        {first?.since && (
          <p className="text-muted">
            Only the newest 50,000 requests with a session are shown, from {formatTime(first.since)} on.
          </p>
        )}
      </div>
    </>
  )
}

function Totals({ sessions }: { sessions: AgentSessions }) {
  return (
    <Figures columns={3}>
      <Figure title="Sessions" value={formatCount(sessions.sessions)} note="with requests in this period" />
      <Figure title="Cost" value={formatUsd(sessions.cost_usd)} note="of all their requests" />
      <Figure
        title="Saved by prompt caches"
        value={formatUsd(sessions.prompt_cache_saved_usd)}
        note="after the extra cost of writing them"
      />
    </Figures>
  )
}

function buildColumns(rows: RequestSelection): Column<AgentSession>[] {
  return [
    {
      title: 'Session',
      cell: session => (
        <span className="flex min-w-36 flex-wrap items-center gap-1.5">
          <RequestCountLink rows={rows} only={{ session: session.id }}>
            <UserText className="font-mono text-xs">{session.id}</UserText>
          </RequestCountLink>
          {session.is_unread && <Badge look="warn">Written, never read</Badge>}
          {session.end_user && <UserText className="basis-full text-xs text-muted">{session.end_user}</UserText>}
        </span>
      ),
    },
    { title: 'Started', sort: '', look: 'line', cell: session => formatShortTime(session.started_at) },
    { title: 'Duration', numeric: true, cell: session => formatDuration(session.ended_at - session.started_at) },
    requestsColumn(
      'Requests',
      session => session.requests,
      ({ id }) => narrowSelection(rows, { session: id }),
    ),
    requestsColumn(
      'Failed',
      session => session.failed,
      ({ id }) => narrowSelection(rows, { session: id, outcome: 'failed' }),
    ),
    { title: 'Models', cell: session => session.models.join(', ') },
    {
      title: 'Tokens',
      numeric: true,
      cell: session => formatCount(session.prompt_tokens + session.completion_tokens),
    },
    { title: 'Cost', sort: 'dearest', numeric: true, cell: session => formatUsd(session.cost_usd) },
    {
      title: 'Prompt cache',
      cell: session => (
        <span className="block text-xs whitespace-nowrap text-muted tabular-nums">
          {formatCount(session.cached_prompt_tokens)} read
          <br />
          {formatCount(session.cache_write_tokens)} written
        </span>
      ),
    },
    { title: 'Saved by it', numeric: true, cell: session => formatUsd(session.prompt_cache_saved_usd) },
    {
      title: 'Cache hits',
      numeric: true,
      cell: session => (session.hits === 0 ? '0' : `${formatCount(session.hits)} · ${formatUsd(session.saved_usd)}`),
    },
  ]
}
