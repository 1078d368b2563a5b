/** Lists questions that were paid for although they had been answered before, each with the action that ends it. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { describeMismatch } from '../../../cache/reasons.ts'
import { fetchJson, sendRequest } from '../api.ts'
import { Badge, Card, RowButton, TextLink, UserText } from '../components/elements.tsx'
import { Table } from '../components/table.tsx'
import { formatCount, formatPlural, formatTime, formatUsd } from '../format.ts'
import { useInvalidateQueries } from '../queries.ts'
import { hasRole, useProject } from '../session.ts'
import type { TimeRange } from '../time-range.ts'
import type { PaidAgain, PaidQuestion } from '../types.ts'
import { formatUtc, type RequestSelection } from './request-count-link.tsx'

const PATH = '/v1/usage/paid_again'
const REFRESH_MS = 60_000

const REASONS: Record<PaidQuestion['reason'], string> = {
  no_cache: 'The request bypassed the cache.',
  cache_off: 'The project’s settings exclude the request from the cache.',
  old_version: 'The request named an old cache version.',
  rejected_by_hook: 'The hook rejected the cached response.',
  other_scope: 'It was answered in another sharing scope only.',
  expired: 'The cached response had expired.',
  tools: 'The request offers tools, and its response was not in the cache.',
  not_stored: 'The response was not in the cache: it was purged, evicted or not stored.',
  shadow: 'A similar question was cached, but shadow mode does not serve it.',
  difference: 'A similar question was cached, but differs:',
  too_far: 'A similar question was cached, but is not similar enough.',
}

export function PaidAgainCard({ rows: { projectId, filters }, span }: { rows: RequestSelection; span: TimeRange }) {
  const only = {
    project_id: projectId,
    api_key_id: filters.key,
    key_type: filters.type,
    model: filters.model_name,
    'tags[]': filters.tag ? [filters.tag] : undefined,
  }
  const found = useQuery({
    queryKey: [PATH, span.name, filters.from, span.name === 'own' && filters.until, only],
    queryFn: () => fetchJson<PaidAgain>(PATH, { ...only, start_time: span.from, end_time: span.until }),
    refetchInterval: REFRESH_MS,
    placeholderData: previous => previous,
  })
  const { requests = 0, cost_usd: cost = 0, since = null } = found.data ?? {}
  // Without a question, there is nothing to decide: the card is one line.
  if (found.data?.questions.length === 0 && !found.error)
    return (
      <Card className="px-4 py-3 text-muted">
        <b className="mr-2 font-semibold text-ink">Paid again</b> No question that had been answered before was paid for
        again in this period{since !== null && `, among the requests since ${formatTime(since)}`}.
      </Card>
    )
  return (
    <Card
      title="Paid again"
      action={
        requests > 0 && (
          <span className="text-muted tabular-nums">
            <b className="font-semibold text-ink">{formatUsd(cost)}</b> for {formatPlural(requests, 'request')}
          </span>
        )
      }
    >
      <Table
        label="Paid again"
        rows={found.data?.questions}
        error={found.error}
        keyOf={row => `${row.asked_id} ${row.reason} ${row.difference}`}
        columns={[
          {
            title: 'Question',
            cell: row => (
              <Link to={`/${projectId}/requests/${row.id}` as never} className="text-accent hover:underline">
                <UserText>{row.question ?? `A question to ${row.model}`}</UserText>
              </Link>
            ),
          },
          { title: 'Why it was not served from the cache', cell: describeReason },
          { title: 'Times', numeric: true, cell: row => formatCount(row.requests) },
          { title: 'Cost', numeric: true, cell: row => formatUsd(row.cost_usd) },
          { title: 'Requests', look: 'line', cell: row => <RequestsLink row={row} projectId={projectId} /> },
          { title: 'What to do', look: 'line', cell: row => <Action row={row} projectId={projectId} /> },
        ]}
      />
      {since !== null && (
        <p className="border-t border-line px-4 py-2.5 text-xs text-muted">
          Only the newest requests were compared: those since {formatTime(since)}.
        </p>
      )}
    </Card>
  )
}

function describeReason({ reason, difference }: PaidQuestion): string {
  return reason === 'difference' ? `${REASONS[reason]} ${describeMismatch(difference)}.` : REASONS[reason]
}

function RequestsLink({ row, projectId }: { row: PaidQuestion; projectId: string }) {
  const [from, until] = [formatUtc(row.first_at), formatUtc(row.last_at + 1)]
  const search = { asked: row.asked_id, result: 'MISS', span: 'own', from, until }
  return (
    <TextLink to={`/${projectId}/requests`} search={search}>
      View requests
    </TextLink>
  )
}

const LINKS: Record<Exclude<PaidQuestion['action'], null | 'confirm_same' | 'remove_no_cache'>, [string, string]> = {
  enable_cache: ['Change what is cached', 'settings/policy'],
  widen_scope: ['Share more widely', 'cache?view=sharing'],
  extend_ttl: ['Keep responses longer', 'settings/policy/sharing'],
  enable_semantic_cache: ['Turn off shadow mode', 'settings/policy'],
}

function Action({ row, projectId }: { row: PaidQuestion; projectId: string }) {
  if (row.verdict === 'same') return <Badge look="good">Marked same</Badge>
  if (row.action === null) return '–'
  if (row.action === 'remove_no_cache') return 'Send it without Cache-Control'
  if (row.action === 'confirm_same') return <ConfirmSame requestId={row.last_request_id} projectId={projectId} />
  const [title, path] = LINKS[row.action]
  const [page, view] = path.split('?view=')
  return (
    <TextLink to={`/${projectId}/${page}`} search={view ? { view } : {}}>
      {title}
    </TextLink>
  )
}

/** Records the verdict as the page of near misses does, which shows both questions. */
function ConfirmSame({ requestId, projectId }: { requestId: string; projectId: string }) {
  const project = useProject()
  const recording = useMutation({
    mutationFn: () =>
      sendRequest('POST', '/v1/cache/verdicts', { project_id: projectId, request_id: requestId, verdict: 'right' }),
    onSuccess: useInvalidateQueries([PATH, '/v1/cache']),
  })
  return (
    <span className="flex items-center gap-2">
      {hasRole(project, 'member') && (
        <RowButton look="plain" disabled={recording.isPending} onClick={() => recording.mutate()}>
          These ask the same
        </RowButton>
      )}
      <TextLink to={`/${projectId}/cache`} search={{ view: 'near-misses', request: requestId }}>
        Compare
      </TextLink>
      {recording.error && (
        <span role="alert" className="text-xs text-danger">
          {recording.error.message}
        </span>
      )}
    </span>
  )
}
