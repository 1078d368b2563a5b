/** The limits page: monthly quotas, the plan's rate limits, budgets, and current usage by key. */
import { useQuery } from '@tanstack/react-query'
import { Badge, Card, EmptyState, ErrorMessage, Loading, PageHeader } from '../components/elements.tsx'
import { Meter } from '../components/meter.tsx'
import { Table } from '../components/table.tsx'
import { formatCount } from '../format.ts'
import { PROJECTS_PATH, useProject } from '../session.ts'
import type { ViewRow } from '../types.ts'
import { Budgets } from './budgets.tsx'
import { usePlans } from './project-actions.tsx'
import { RejectedRequests } from './rejected-requests.tsx'

type Limits = ViewRow<'project_limits'>

export default function LimitsPage() {
  const project = useProject()
  const plans = usePlans()
  const limits = useQuery<Limits>({
    queryKey: [`${PROJECTS_PATH}/${project?.id}/limits`],
    enabled: project !== null,
    refetchInterval: 5_000,
  })
  const plan = plans.data?.find(each => each.name === limits.data?.plan)
  return (
    <>
      <PageHeader title="Limits and budgets">
        The plan and each key set rate limits, which apply to every interval of 60 seconds. Budgets limit spending.
        Requests over a limit are rejected with 429 and are not counted.
      </PageHeader>
      <ErrorMessage error={limits.error} />
      {limits.isPending && <Loading />}
      {limits.data && (
        <div className="space-y-5">
          <div className="grid gap-4 sm:grid-cols-2">
            {limits.data.quotas.map(quota => (
              <Meter
                key={quota.keys}
                title={`Requests with ${quota.keys} keys, this month`}
                used={quota.used}
                limit={quota.quota}
                format={formatCount}
              />
            ))}
          </div>
          <Card title="Plan" action={<Badge look="good">{limits.data.plan}</Badge>}>
            <dl className="grid gap-4 p-4 sm:grid-cols-3">
              <Figure title="Requests per minute, per project key" value={plan?.requests_per_minute_per_key} />
              <Figure title="Requests per minute, per client address" value={plan?.requests_per_minute_per_address} />
              <Figure title="Requests per minute, per test key" value={plan?.test_requests_per_minute} />
            </dl>
          </Card>
          <Budgets />
          <Card title="Requests in the last minute, by key">
            <Table
              label="Requests in the last minute by key"
              rows={limits.data.keys}
              keyOf={key => key.id}
              empty={<EmptyState title="No active keys">Create one under API keys.</EmptyState>}
              columns={[
                { title: 'Name', look: 'strong', cell: key => key.name },
                { title: 'Key', look: 'code', cell: key => key.redacted_value },
                { title: 'Type', cell: key => <Badge>{key.type === 'test' ? 'Test' : 'Project'}</Badge> },
                { title: 'Last minute', numeric: true, cell: key => formatCount(key.requests_last_minute) },
                { title: 'Limit', numeric: true, cell: key => formatCount(key.requests_per_minute) },
              ]}
            />
          </Card>
          <RejectedRequests />
        </div>
      )}
    </>
  )
}

function Figure({ title, value }: { title: string; value: number | undefined }) {
  return (
    <div>
      <dt className="text-xs text-muted">{title}</dt>
      <dd className="mt-0.5 text-lg font-semibold tabular-nums">{value === undefined ? '–' : formatCount(value)}</dd>
    </div>
  )
}
