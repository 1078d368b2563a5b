/** All limits of a project in one list, of which the largest share is used first. */
import { useQuery } from '@tanstack/react-query'
import { Card, TextLink } from '../components/elements.tsx'
import { Table } from '../components/table.tsx'
import { escapeControlCharacters, formatCount, formatPercent, formatTime, formatUsd } from '../format.ts'
import { isAdministrator, useSession } from '../session.ts'
import type { NearestLimit, Project } from '../types.ts'
import { UsageBar } from './budget-meters.tsx'
import { describeScope, PERIOD_TITLES } from './budgets.tsx'
import { formatUtc, RequestCountLink } from './request-count-link.tsx'

const MAX_ROWS = 50

export function LimitList({ project }: { project: Project }) {
  const session = useSession()
  const limits = useQuery<{ data: NearestLimit[]; has_more: boolean }>({
    queryKey: [`/v1/organization/projects/${project.id}/limits/nearest`, { limit: MAX_ROWS }],
    refetchInterval: 5_000,
  })
  return (
    <Card title="All limits, nearest first">
      <Table
        label="All limits"
        rows={limits.data?.data}
        error={limits.error}
        keyOf={limit => `${limit.kind} ${limit.key_type} ${limit.api_key_id} ${limit.budget_id}`}
        empty={{ title: 'No limits', help: 'Nothing limits the requests of this project.' }}
        columns={[
          {
            title: 'Limit',
            cell: limit => (
              <div className="min-w-40">
                <p className="font-medium">{titleOf(limit)}</p>
                <p className="text-xs text-muted [overflow-wrap:anywhere]">
                  <bdi>{scopeOf(limit)}</bdi>
                </p>
              </div>
            ),
          },
          { title: 'Used', cell: limit => <Usage limit={limit} projectId={project.id} /> },
          { title: 'Resets', look: 'line', cell: resetOf },
          {
            title: 'Set by',
            look: 'line',
            cell: limit => (
              <Origin limit={limit} projectId={project.id} isAdministrator={isAdministrator(session.data)} />
            ),
          },
        ]}
      />
      {limits.data?.has_more && (
        <p className="border-t border-line px-4 py-2.5 text-xs text-muted">
          The {MAX_ROWS} limits that are nearest to being reached.
        </p>
      )}
    </Card>
  )
}

function Usage({ limit, projectId }: { limit: NearestLimit; projectId: string }) {
  const { used, amount, share, unit } = limit
  const format = unit === 'usd' ? formatUsd : formatCount
  const filters = requestsOf(limit)
  return (
    <div className="min-w-44">
      <p className="mb-1.5 flex items-baseline justify-between gap-3 whitespace-nowrap tabular-nums">
        <span>
          <RequestCountLink rows={filters && { projectId, filters }}>{format(used)}</RequestCountLink>{' '}
          <span className="text-muted">
            of {format(amount)}
            {unit === 'tokens' && ' tokens'}
          </span>
        </span>
        <span className="text-xs text-muted">{formatPercent(share)}</span>
      </p>
      <UsageBar title={`${titleOf(limit)}: ${scopeOf(limit)}`} share={share} />
    </div>
  )
}

function titleOf({ kind, per }: NearestLimit): string {
  if (kind === 'monthly_requests') return 'Requests per month'
  if (kind === 'requests_per_minute') return 'Requests per minute'
  if (kind === 'tokens_per_minute') return 'Tokens per minute'
  return per === 'total' ? 'Total budget' : `${(PERIOD_TITLES.get(per ?? '') ?? '').replace(/,.*/, '')} budget`
}

function scopeOf(limit: NearestLimit): string {
  if (limit.key_type !== null) return limit.key_type === 'test' ? 'All test keys' : 'All project keys'
  return limit.is_of_organization ? 'All projects together' : escapeControlCharacters(describeScope(limit))
}

function resetOf({ kind, resets_at }: NearestLimit): string {
  if (resets_at !== null) return formatTime(resets_at)
  return kind === 'budget' ? 'Never' : 'Every 60 seconds'
}

/** Selects the requests that count against a limit; null where the request list has no filter for them. */
function requestsOf({ kind, api_key_id, key_type, used }: NearestLimit): Record<string, string> | null {
  if (used === 0) return null
  const now = new Date()
  if (kind === 'monthly_requests') {
    const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) / 1000
    return { span: 'own', from: formatUtc(month), type: key_type ?? '' }
  }
  if (kind === 'budget') return null
  return { span: 'own', from: formatUtc(now.getTime() / 1000 - 60), key: api_key_id ?? '' }
}

interface OriginProps {
  limit: NearestLimit
  projectId: string
  isAdministrator: boolean
}

/** Names who sets a limit, as a link to the page that changes it if the user can. */
function Origin({ limit, projectId, isAdministrator }: OriginProps) {
  if (limit.is_of_organization) return 'The organization'
  if (limit.is_of_plan) return isAdministrator ? <TextLink to="/projects">The plan</TextLink> : 'The plan'
  if (limit.kind === 'budget')
    return (
      <a href="#budgets" className="text-accent underline">
        This project
      </a>
    )
  return <TextLink to={`/${projectId}/settings/keys`}>The key</TextLink>
}
